"""Reading the scenarios.xml of a configuration in the form of KoSIT's validator (framework 1)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from lxml import etree

from einvoice.errors import UnreadableDocument, quote
from einvoice.reference.bundles.artefact import Facts, facts
from einvoice.reference.bundles.configuration import Resource, Scenario
from einvoice.reference.bundles.errors import BundleRejected
from einvoice.reference.bundles.stylesheet_policy import check_schema, check_stylesheet, inside
from einvoice.result import Severity
from einvoice.syntax import xml

FILE: Final = "scenarios.xml"
_NAMESPACE: Final = "{http://www.xoev.de/de/validator/framework/1/scenarios}"
_LEVELS: Final[dict[str, Severity]] = {"error": "fatal", "warning": "warning", "information": "information"}
_EXTENSION: Final = "#conformant#"
"""In the identifier of a specification: what follows extends EN 16931; a CIUS follows on "#compliant#"."""


class Read(NamedTuple):
    """What a scenarios.xml says: the configuration's own name, "" if it has none, and its scenarios."""

    title: str
    scenarios: tuple[Scenario, ...]


def read(folder: Path) -> Read:
    """Read the scenarios.xml of a folder.

    Raises:
        BundleRejected: it is wrong, or names files that are not there.
    """
    try:
        data, _ = xml.source_bytes(folder / FILE)
        root = xml.parse(data).getroot()
    except (UnreadableDocument, OSError) as error:
        raise BundleRejected("scenarios", reason=str(error)) from None
    if root.tag != f"{_NAMESPACE}scenarios":
        raise BundleRejected("foreign", element=quote(str(root.tag), limit=120))
    found = tuple(_scenario(element, folder) for element in root.iterchildren(f"{_NAMESPACE}scenario"))
    if not found:
        raise BundleRejected("lacks", element="scenarios", what="scenario")
    return Read(_text(root, "name", default=""), found)


def _scenario(element: etree._Element, folder: Path) -> Scenario:
    name = _text(element, "name")
    match = _text(element, "match")
    namespaces = {
        it.get("prefix", ""): (it.text or "").strip() for it in element.iterchildren(f"{_NAMESPACE}namespace")
    }
    for report in element.iterchildren(f"{_NAMESPACE}createReport"):
        for location in report.iter(f"{_NAMESPACE}location"):
            inside((location.text or "").strip(), folder / FILE, folder)
    resources = tuple(_resources(element, folder, _EXTENSION in match))
    if not resources:
        raise BundleRejected("lacks", element="scenario", what="validateWithSchematron")
    return Scenario(name, match, namespaces, resources, _levels(element))


def _resources(scenario: etree._Element, folder: Path, extends: bool) -> Iterator[Resource]:
    """The artefacts of a scenario. Of the Schematrons one is EN 16931's own, known by its rules; others add to it."""
    for kind in ("validateWithXmlSchema", "validateWithSchematron"):
        for step in scenario.iterchildren(f"{_NAMESPACE}{kind}"):
            for element in step.iterchildren(f"{_NAMESPACE}resource"):
                path = inside(_text(element, "location"), folder / FILE, folder)
                is_schema = kind == "validateWithXmlSchema"
                told, reads = (_schema(path, folder), False) if is_schema else stylesheet(path, folder)
                layer = "en16931" if told.core else "extension" if extends else "cius"
                layer = "schema" if is_schema else layer
                title = " ".join(_text(element, "name").split())
                named = path.relative_to(folder).as_posix()
                yield Resource(layer, title, named, told.version, told.sha256, told.rules, reads)


def _schema(path: Path, folder: Path) -> Facts:
    check_schema(path, folder)
    return facts(path)


@lru_cache(maxsize=32)
def stylesheet(path: Path, folder: Path) -> tuple[Facts, bool]:
    """What a stylesheet says about itself, and whether it needs files beside its own.

    Raises:
        BundleRejected: it is no XML, has no rules, or reaches out of the folder.
    """
    reads = check_stylesheet(path, folder)
    told = facts(path)
    if not told.rules and not reads:  # else they are in what it includes
        raise BundleRejected("no_rules", file=path.name)
    return told, reads


def _levels(scenario: etree._Element) -> dict[str, Severity]:
    levels: dict[str, Severity] = {}
    for element in scenario.iter(f"{_NAMESPACE}customLevel"):
        level = element.get("level", "")
        if level not in _LEVELS:
            raise BundleRejected("level", level=quote(level))
        levels |= dict.fromkeys((element.text or "").split(), _LEVELS[level])
    return levels


def _text(element: etree._Element, name: str, default: str | None = None) -> str:
    """The text of a child, without white space around it."""
    text = (element.findtext(f"{_NAMESPACE}{name}") or "").strip()
    if not text and default is None:
        raise BundleRejected("lacks", element=etree.QName(element).localname, what=name)
    return text or default or ""
