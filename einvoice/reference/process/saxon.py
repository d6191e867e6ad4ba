"""Saxon at work, in the worker process: stylesheets compiled once, shut off from the network, and from files.

A stylesheet that is a single file gets its text, and may read nothing at all. One that needs files beside its own may
read files, but not the network; `einvoice.reference.bundles.stylesheet_policy` ensures that these are files of its
folder. No XML that Saxon parses, wherever it comes from, may have a DOCTYPE: its entities would be had from anywhere.
"""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import quoteattr

from einvoice.reference.process import svrl
from einvoice.reference.process.sandbox import Failed
from einvoice.reference.process.text import without_declaration

_FEATURE: Final = "http://saxon.sf.net/feature/"
_XSL: Final = "http://www.w3.org/1999/XSL/Transform"
_NO_DOCTYPE: Final = "http%3A//apache.org/xml/features/disallow-doctype-decl"
_KNOWN: Final = {"xs": "http://www.w3.org/2001/XMLSchema", "fn": "http://www.w3.org/2005/xpath-functions"}
"""Prefixes that an XPath need not declare."""


def match(text: str, scenarios: list[tuple[str, dict[str, str]]]) -> dict[str, Any]:
    """Say which scenario is the first to take the document: its index, None for none.

    Args:
        text: the document.
        scenarios: XPath and its namespaces, each; one that stops takes no document.
    """
    import saxonche

    processor = _processor("none")
    document = _parsed(processor, text)
    for number, (expression, namespaces) in enumerate(scenarios):
        xpath = processor.new_xpath_processor()
        for prefix, uri in namespaces.items():
            xpath.declare_namespace(prefix, uri)
        xpath.set_context(xdm_item=document)
        try:
            if xpath.effective_boolean_value(expression):
                return {"first": number}
        except saxonche.PySaxonApiError:
            continue
    return {"first": None}


def run(text: str, path: str, edition: str, reads: bool) -> dict[str, Any]:
    """Run a stylesheet on the document, and return its reports."""
    import saxonche

    processor, stylesheet = _compiled(path, edition, reads)
    document = _parsed(processor, text)
    try:
        answer = stylesheet.transform_to_string(xdm_node=document)
    except saxonche.PySaxonApiError as error:
        raise Failed("stopped", str(error)) from None
    return {"reports": svrl.reports(answer or "")}


def check_stylesheet(_text: str, path: str, reads: bool) -> dict[str, Any]:
    """Say whether a stylesheet compiles, all of it."""
    processor = _processor("file" if reads else "none").new_xslt30_processor()
    processor.set_jit_compilation(False)
    _compile(processor, path, reads)
    return {}


def check_match(_text: str, expression: str, namespaces: dict[str, str]) -> dict[str, Any]:
    """Say whether an XPath compiles, whatever it may find in a document."""
    import saxonche

    known = {**_KNOWN, **namespaces}
    declared = "".join(f" xmlns{':' * bool(prefix)}{prefix}={quoteattr(uri)}" for prefix, uri in known.items())
    stylesheet = (
        f'<t:stylesheet version="3.0" xmlns:t="{_XSL}"><t:template match="/">'
        f"<t:if{declared} test={quoteattr(expression)}/></t:template></t:stylesheet>"
    )
    processor = _processor("none").new_xslt30_processor()
    processor.set_jit_compilation(False)
    try:
        processor.compile_stylesheet(stylesheet_text=stylesheet)
    except saxonche.PySaxonApiError as error:
        where, _, why = str(error).partition("\n")  # nobody knows the stylesheet around it
        raise Failed("artefact", why or where) from None
    return {}


@lru_cache(maxsize=32)
def _compiled(path: str, _edition: str, reads: bool) -> tuple[Any, Any]:
    """A stylesheet, and the processor that it belongs to; another one when its file is another."""
    processor = _processor("file" if reads else "none")
    return processor, _compile(processor.new_xslt30_processor(), path, reads)


def _compile(processor: Any, path: str, reads: bool) -> Any:
    import saxonche

    try:
        if reads:
            return processor.compile_stylesheet(stylesheet_file=path)
        return processor.compile_stylesheet(stylesheet_text=without_declaration(Path(path).read_bytes()))
    except (saxonche.PySaxonApiError, OSError) as error:
        raise Failed("artefact", str(error)) from None


@cache
def _processor(protocols: str) -> Any:
    """Saxon, with leave to read by these protocols: "none", or "file"."""
    import saxonche

    processor = saxonche.PySaxonProcessor(license=False)
    processor.set_configuration_property(f"{_FEATURE}allow-external-functions", "false")
    processor.set_configuration_property(f"{_FEATURE}allowedProtocols", protocols)
    processor.set_configuration_property(f"{_FEATURE}parserFeature?uri={_NO_DOCTYPE}", "true")
    return processor


def _parsed(processor: Any, text: str) -> Any:
    import saxonche

    try:
        return processor.parse_xml(xml_text=text)
    except saxonche.PySaxonApiError as error:
        raise Failed("stopped", str(error)) from None
