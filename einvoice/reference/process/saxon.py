"""Saxon, in the worker process: compiles stylesheets once, and blocks network and file access.

A self-contained stylesheet is compiled from its text and may read nothing. A stylesheet that needs further files may
read files, but not the network; `einvoice.reference.bundles.stylesheet_policy` ensures that they are in its folder. No
XML that Saxon parses may have a DOCTYPE, since its entities could refer to any location.
"""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import quoteattr

from einvoice.reference.process import svrl
from einvoice.reference.process.errors import ExecutionFailed
from einvoice.reference.process.text import without_declaration

_FEATURE: Final = "http://saxon.sf.net/feature/"
_XSL: Final = "http://www.w3.org/1999/XSL/Transform"
_NO_DOCTYPE: Final = "http%3A//apache.org/xml/features/disallow-doctype-decl"
_PREFIXES: Final = {"xs": "http://www.w3.org/2001/XMLSchema", "fn": "http://www.w3.org/2005/xpath-functions"}
"""Prefixes that are predeclared in every XPath."""


def match(text: str, scenarios: list[tuple[str, dict[str, str]]]) -> dict[str, Any]:
    """Return the index of the first scenario that matches the document, or None.

    Args:
        text: the document.
        scenarios: XPath and namespaces of each; an XPath that raises an error does not match.
    """
    import saxonche

    processor = _processor("none")
    document = _parse(processor, text)
    for index, (expression, namespaces) in enumerate(scenarios):
        xpath = processor.new_xpath_processor()
        for prefix, uri in namespaces.items():
            xpath.declare_namespace(prefix, uri)
        xpath.set_context(xdm_item=document)
        try:
            if xpath.effective_boolean_value(expression):
                return {"first": index}
        except saxonche.PySaxonApiError:
            continue
    return {"first": None}


def run(text: str, path: str, edition: str, reads_files: bool) -> dict[str, Any]:
    """Run a stylesheet on the document and return its findings."""
    import saxonche

    processor, stylesheet = _compiled(path, edition, reads_files)
    document = _parse(processor, text)
    try:
        answer = stylesheet.transform_to_string(xdm_node=document)
    except saxonche.PySaxonApiError as error:
        raise ExecutionFailed("stopped", str(error)) from None
    return {"reports": svrl.reports(answer or "")}


def check_stylesheet(_text: str, path: str, reads_files: bool) -> dict[str, Any]:
    """Compile a stylesheet completely."""
    processor = _processor("file" if reads_files else "none").new_xslt30_processor()
    processor.set_jit_compilation(False)
    _compile(processor, path, reads_files)
    return {}


def check_match(_text: str, expression: str, namespaces: dict[str, str]) -> dict[str, Any]:
    """Compile an XPath, without evaluating it."""
    import saxonche

    prefixes = {**_PREFIXES, **namespaces}
    declared = "".join(f" xmlns{':' * bool(prefix)}{prefix}={quoteattr(uri)}" for prefix, uri in prefixes.items())
    stylesheet = (
        f'<t:stylesheet version="3.0" xmlns:t="{_XSL}"><t:template match="/">'
        f"<t:if{declared} test={quoteattr(expression)}/></t:template></t:stylesheet>"
    )
    processor = _processor("none").new_xslt30_processor()
    processor.set_jit_compilation(False)
    try:
        processor.compile_stylesheet(stylesheet_text=stylesheet)
    except saxonche.PySaxonApiError as error:
        location, _, message = str(error).partition("\n")  # the location is within the wrapper stylesheet above
        raise ExecutionFailed("artefact", message or location) from None
    return {}


@lru_cache(maxsize=32)
def _compiled(path: str, _edition: str, reads_files: bool) -> tuple[Any, Any]:
    """Return the processor and the compiled stylesheet; a new edition is compiled again."""
    processor = _processor("file" if reads_files else "none")
    return processor, _compile(processor.new_xslt30_processor(), path, reads_files)


def _compile(processor: Any, path: str, reads_files: bool) -> Any:
    import saxonche

    try:
        if reads_files:
            return processor.compile_stylesheet(stylesheet_file=path)
        return processor.compile_stylesheet(stylesheet_text=without_declaration(Path(path).read_bytes()))
    except (saxonche.PySaxonApiError, OSError) as error:
        raise ExecutionFailed("artefact", str(error)) from None


@cache
def _processor(protocols: str) -> Any:
    """Return a Saxon processor that may read URIs with these protocols: "none" or "file"."""
    import saxonche

    processor = saxonche.PySaxonProcessor(license=False)
    processor.set_configuration_property(f"{_FEATURE}allow-external-functions", "false")
    processor.set_configuration_property(f"{_FEATURE}allowedProtocols", protocols)
    processor.set_configuration_property(f"{_FEATURE}parserFeature?uri={_NO_DOCTYPE}", "true")
    return processor


def _parse(processor: Any, text: str) -> Any:
    import saxonche

    try:
        return processor.parse_xml(xml_text=text)
    except saxonche.PySaxonApiError as error:
        raise ExecutionFailed("stopped", str(error)) from None
