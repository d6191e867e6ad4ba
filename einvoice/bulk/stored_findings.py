"""Findings as they are stored in records, and back."""

from __future__ import annotations

import datetime
import marshal
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, cast

from einvoice.code_catalog import CatalogEntry, catalog, entry
from einvoice.result.advice import StoredAdvice
from einvoice.result.finding import UNKNOWN_RULE, Finding
from einvoice.result.languages import Language
from einvoice.result.location import NOWHERE, stored_location
from einvoice.syntax.detect import Identity
from einvoice.syntax.severity_overrides import Override, overrides
from einvoice.syntax.specifications import specifications

if TYPE_CHECKING:
    from einvoice.result.stack import Stack

_REQUIRED: Final = frozenset({"file", "sha256", "verdict", "codes_only_declared", "codes_only_current", "line_count"})
"""Keys that are stored even if their value is empty: no difference is not the same as no comparison."""


def compact(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record without its empty values."""
    return {name: value for name, value in record.items() if value or name in _REQUIRED}


def plain(finding: Finding, stack: Stack) -> dict[str, Any]:
    """Return a finding as plain data, ready for JSON."""
    return compact(
        {
            "code": finding.code,
            "severity": finding.severity,
            "flag": finding.flag if finding.flag != finding.severity else "",
            "published": {it.name: it.version for it in stack.layers if it.kind} if finding.override else "",
            "layer": finding.layer,
            "kind": finding.kind,
            "section": finding.section,
            "terms": finding.terms,
            "line": finding.line,
            "column": finding.column,
            "xpath": finding.xpath,
            "values": {name: _storable(value) for name, value in finding.values.items()},
            "indicative": finding.indicative,
            "noted": finding.note_indices,
            "situation": finding.situation,
            "more": finding.suppressed,
            "reported": finding.reported,
            "standard": finding.standard,
            "described_by": finding.described_by,
            "advice": finding.advice.texts if finding.advice else {},
        }
    )


def restored(stored: Mapping[str, Any], origin: Mapping[str, Any], lang: Language) -> Finding:
    """Return a stored finding; `origin` has syntax, root and specification of the document, as its record does."""
    code, severity = stored["code"], stored["severity"]
    flag = stored.get("flag", severity)
    location = (stored.get("line"), stored.get("column"), stored.get("xpath", ""))
    published = _overrides(stored.get("published", {}), origin) if flag != severity else {}
    override = Override(severity, stored["reasons"]) if "reasons" in stored else published.get(code)
    return Finding(
        code=code,
        severity=severity,
        flag=flag,
        layer=stored["layer"],
        section=stored["section"],
        terms=tuple(stored.get("terms", ())),
        location=stored_location(*location) if any(location) else NOWHERE,
        values={name: restored_value(value) for name, value in stored.get("values", {}).items()},
        indicative=stored.get("indicative", False),
        override=override,
        note_indices=tuple(stored.get("noted", ())),
        situation=stored.get("situation", ""),
        suppressed=stored.get("more", 0),
        reported=stored.get("reported", ""),
        lang=lang,
        kind=stored.get("kind", ""),
        standard=stored.get("standard", ""),
        described_by=_entry(stored["described_by"]) if "described_by" in stored else None,
        advice=StoredAdvice(stored["advice"]) if "advice" in stored else None,
    )


def _overrides(releases: Mapping[str, str], origin: Mapping[str, Any]) -> Mapping[str, Any]:
    specification = specifications().get(origin.get("specification", ""))
    if specification is None:  # stored by a newer version of einvoice
        return {}
    syntax = cast("Any", origin.get("syntax", ""))
    identity = Identity(syntax, origin.get("root", ""), None, None, specification)
    return overrides(identity, tuple(releases.items()))


def entry_of(stored: Mapping[str, Any]) -> CatalogEntry:
    """Return the catalog entry of a stored finding; its rule may be added, or of the official Schematron only."""
    if "described_by" in stored:
        return _entry(stored["described_by"])
    return catalog().get(stored["code"]) or entry(UNKNOWN_RULE)


def _entry(stored: list[Any]) -> CatalogEntry:
    """Return a stored catalog entry, which JSON holds as a list."""
    entry = CatalogEntry(*stored)
    return entry._replace(terms=tuple(entry.terms), notes=tuple(entry.notes))


def _storable(value: Any) -> Any:
    """Return a JSON value; decimals and dates become objects that name their type."""
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    if isinstance(value, datetime.date):
        return {"date": value.isoformat()}
    return value if isinstance(value, str | int | None) else str(value)


def restored_value(value: Any) -> Any:
    """Return a stored value."""
    match value:
        case {"decimal": text}:
            return Decimal(text)
        case {"date": text}:
            return datetime.date.fromisoformat(text)
    return value


class FindingTexts:
    """Texts of stored findings. Findings that differ in their location only share them, so each is made once.

    Args:
        names: of "title", "explanation", "fix", "override_reason" and "notes", those that are wanted.
        lang: language of the texts.
    """

    _MOST: Final = 20_000

    def __init__(self, names: Sequence[str], lang: Language) -> None:
        self._names = names
        self._lang = lang
        self._known: dict[Any, tuple[str, ...]] = {}

    def of(self, stored: Mapping[str, Any], origin: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the texts of a finding in the order of the names; `origin` is that of `restored`."""
        key: Any = marshal.dumps({name: it for name, it in stored.items() if name not in _LOCATION}, 2)
        if "flag" in stored:  # the specification of the document changed the severity
            key = key, origin.get("syntax"), origin.get("root"), origin.get("specification")
        texts = self._known.get(key)
        if texts is None:
            if len(self._known) == self._MOST:
                self._known.clear()
            finding = restored(stored, origin, self._lang)
            texts = self._known[key] = tuple(self._text(finding, name) for name in self._names)
        return texts

    def _text(self, finding: Finding, name: str) -> str:
        if name == "notes":
            return " ".join(note.text for note in finding.notes(self._lang))
        text: str = getattr(finding, name)(self._lang)
        return text


_LOCATION: Final = frozenset({"line", "column", "xpath"})
