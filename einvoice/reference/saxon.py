"""Saxon at work, in the worker process: stylesheets compiled once, shut off from network and files.

Each stylesheet has a processor of its own, since what a processor may read can be narrowed, and never widened again.
While it is compiled a stylesheet may read files, those that it includes; while it runs, only if `reads` says so.
Checks made when it was added (`einvoice.reference.inspect`) see to it that these are files of its own.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, Final

from einvoice.reference import svrl
from einvoice.reference.child import Failed

_FEATURE: Final = "http://saxon.sf.net/feature/"


def match(text: str, scenarios: list[tuple[str, dict[str, str]]]) -> dict[str, Any]:
    """Say which scenario is the first to take the document: its index, None for none.

    Args:
        text: the document.
        scenarios: XPath and its namespaces, each.
    """
    import saxonche

    processor = _sealed()
    document = _parsed(processor, text)
    for number, (expression, namespaces) in enumerate(scenarios):
        xpath = _xpath(processor, namespaces)
        xpath.set_context(xdm_item=document)
        try:
            if xpath.effective_boolean_value(expression):
                return {"first": number}
        except saxonche.PySaxonApiError as error:
            raise Failed("stopped", str(error)) from None
    return {"first": None}


def run(text: str, path: str, sha256: str, reads: bool) -> dict[str, Any]:
    """Run a stylesheet on the document, and return its reports."""
    import saxonche

    processor, stylesheet = _compiled(path, sha256, reads)
    document = _parsed(processor, text)
    try:
        answer = stylesheet.transform_to_string(xdm_node=document)
    except saxonche.PySaxonApiError as error:
        raise Failed("stopped", str(error)) from None
    return {"reports": svrl.reports(answer or "")}


def check_stylesheet(_text: str, path: str) -> dict[str, Any]:
    """Say whether a stylesheet compiles."""
    _compiled(path, "", False)
    return {}


def check_match(text: str, expression: str, namespaces: dict[str, str]) -> dict[str, Any]:
    """Say whether an XPath is one, on any document."""
    return match(text, [(expression, namespaces)])


@lru_cache(maxsize=32)
def _compiled(path: str, _sha256: str, reads: bool) -> tuple[Any, Any]:
    """A stylesheet, and the processor that it belongs to; compiled again when its file is another one."""
    import saxonche

    processor = _processor("file")
    try:
        stylesheet = processor.new_xslt30_processor().compile_stylesheet(stylesheet_file=path)
    except saxonche.PySaxonApiError as error:
        raise Failed("artefact", str(error)) from None
    if not reads:
        _allow(processor, "none")
    return processor, stylesheet


@cache
def _sealed() -> Any:
    return _processor("none")


def _processor(protocols: str) -> Any:
    import saxonche

    processor = saxonche.PySaxonProcessor(license=False)
    processor.set_configuration_property(f"{_FEATURE}allow-external-functions", "false")
    _allow(processor, protocols)
    return processor


def _allow(processor: Any, protocols: str) -> None:
    processor.set_configuration_property(f"{_FEATURE}allowedProtocols", protocols)


def _xpath(processor: Any, namespaces: dict[str, str]) -> Any:
    xpath = processor.new_xpath_processor()
    for prefix, uri in namespaces.items():
        xpath.declare_namespace(prefix, uri)
    return xpath


def _parsed(processor: Any, text: str) -> Any:
    import saxonche

    try:
        return processor.parse_xml(xml_text=text)
    except saxonche.PySaxonApiError as error:
        raise Failed("stopped", str(error)) from None
