"""Reads the scenarios.xml of a KoSIT validator configuration (framework 1)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from lxml import etree

from einvoice.errors import UnreadableDocument
from einvoice.quotation import quote
from einvoice.reference.bundles.configuration import Resource, Scenario
from einvoice.reference.bundles.errors import BundleRejected
from einvoice.reference.bundles.metadata import FileMetadata, read_metadata
from einvoice.reference.bundles.stylesheet_policy import check_schema, check_stylesheet, resolve
from einvoice.result import Severity
from einvoice.syntax import xml

FILE: Final = "scenarios.xml"
_NAMESPACE: Final = "{http://www.xoev.de/de/validator/framework/1/scenarios}"
_SEVERITIES: Final[dict[str, Severity]] = {"error": "fatal", "warning": "warning", "information": "information"}
_EXTENSION: Final = "#conformant#"
"""Marks an extension of EN 16931 in the identifier of a specification; a CIUS has "#compliant#"."""


class ScenarioFile(NamedTuple):
    """The content of a scenarios.xml: the name of the configuration, or "", and its scenarios."""

    title: str
    scenarios: tuple[Scenario, ...]


def read(folder: Path) -> ScenarioFile:
    """Read the scenarios.xml of a folder.

    Raises:
        BundleRejected: it is invalid, or refers to missing files.
    """
    try:
        data, _ = xml.source_bytes(folder / FILE)
        root = xml.parse(data).getroot()
    except (UnreadableDocument, OSError) as error:
        raise BundleRejected("scenarios", reason=str(error)) from None
    if root.tag != f"{_NAMESPACE}scenarios":
        raise BundleRejected("foreign", element=quote(str(root.tag), limit=120))
    scenarios = tuple(_scenario(element, folder) for element in root.iterchildren(f"{_NAMESPACE}scenario"))
    if not scenarios:
        raise BundleRejected("lacks", element="scenarios", what="scenario")
    return ScenarioFile(_text(root, "name", default=""), scenarios)


def _scenario(element: etree._Element, folder: Path) -> Scenario:
    name = _text(element, "name")
    match = _text(element, "match")
    namespaces = {
        it.get("prefix", ""): (it.text or "").strip() for it in element.iterchildren(f"{_NAMESPACE}namespace")
    }
    for report in element.iterchildren(f"{_NAMESPACE}createReport"):
        for location in report.iter(f"{_NAMESPACE}location"):
            resolve((location.text or "").strip(), folder / FILE, folder)
    resources = tuple(_resources(element, folder, _EXTENSION in match))
    if not resources:
        raise BundleRejected("lacks", element="scenario", what="validateWithSchematron")
    return Scenario(name, match, namespaces, resources, _severities(element))


def _resources(scenario: etree._Element, folder: Path, is_extension: bool) -> Iterator[Resource]:
    """Yield the artefacts of a scenario; the Schematron of EN 16931 is recognized by its rules."""
    for kind in ("validateWithXmlSchema", "validateWithSchematron"):
        for step in scenario.iterchildren(f"{_NAMESPACE}{kind}"):
            for element in step.iterchildren(f"{_NAMESPACE}resource"):
                path = resolve(_text(element, "location"), folder / FILE, folder)
                is_schema = kind == "validateWithXmlSchema"
                metadata, reads_files = (_schema(path, folder), False) if is_schema else stylesheet(path, folder)
                layer = "en16931" if metadata.is_en16931 else "extension" if is_extension else "cius"
                layer = "schema" if is_schema else layer
                title = " ".join(_text(element, "name").split())
                location = path.relative_to(folder).as_posix()
                source = (metadata.version, metadata.sha256, metadata.rules)
                yield Resource(layer, title, location, *source, reads_files)


def _schema(path: Path, folder: Path) -> FileMetadata:
    check_schema(path, folder)
    return read_metadata(path)


@lru_cache(maxsize=32)
def stylesheet(path: Path, folder: Path) -> tuple[FileMetadata, bool]:
    """Return the metadata of a stylesheet, and whether it needs further files.

    Raises:
        BundleRejected: it is not XML, has no rules, or accesses files outside of the folder.
    """
    reads_files = check_stylesheet(path, folder)
    metadata = read_metadata(path)
    if not metadata.rules and not reads_files:  # included files may contain the rules
        raise BundleRejected("no_rules", file=path.name)
    return metadata, reads_files


def _severities(scenario: etree._Element) -> dict[str, Severity]:
    severities: dict[str, Severity] = {}
    for element in scenario.iter(f"{_NAMESPACE}customLevel"):
        level = element.get("level", "")
        if level not in _SEVERITIES:
            raise BundleRejected("level", level=quote(level))
        severities |= dict.fromkeys((element.text or "").split(), _SEVERITIES[level])
    return severities


def _text(element: etree._Element, name: str, default: str | None = None) -> str:
    """Return the text of a child element, stripped."""
    text = (element.findtext(f"{_NAMESPACE}{name}") or "").strip()
    if not text and default is None:
        raise BundleRejected("lacks", element=etree.QName(element).localname, what=name)
    return text or default or ""
