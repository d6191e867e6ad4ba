"""What is kept of each file: one line of JSON, so that 100,000 of them are small in memory, on disk and on the way.

A line holds the facts of the invoice, the verdict and the findings, without texts: those come from the catalog, in
either language, when somebody reads them. It says nothing that it could leave out.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, cast

from einvoice.result.finding import Finding
from einvoice.result.languages import Language
from einvoice.result.location import NOWHERE, remembered
from einvoice.rulebook import releases
from einvoice.rulebook.catalog import entry
from einvoice.syntax.detect import Identity, specifications
from einvoice.syntax.severity_overrides import overrides

if TYPE_CHECKING:
    from einvoice.errors import UnreadableDocument
    from einvoice.model.values import Amount
    from einvoice.result.stack import Stack
    from einvoice.result.validation import ValidationResult

Verdict: TypeAlias = Literal["valid", "invalid", "unreadable"]
VERDICTS: Final[tuple[Verdict, ...]] = ("valid", "invalid", "unreadable")
MOST_FINDINGS: Final = 1000
"""So many findings of a file are kept; the counts are those of all, and `ResultSet.result` has all of them."""

_LONGEST: Final = 500
_DIGITS: Final = 38
_SEVERITIES: Final = ("errors", "warnings", "information")


class Row(NamedTuple):
    """What became of a file: the verdict, and the line that is kept.

    ``settled``: its content alone decided that, so that it need not be judged again; ``known``: an earlier run did it.
    """

    verdict: Verdict
    line: bytes
    settled: bool = True
    known: bool = False


@dataclass(frozen=True, repr=False)
class FileResult:
    """What became of one file.

    Attributes:
        file: its name: below the folder or in the archive, or as it was given.
        sha256: of its bytes, in hexadecimal digits; "" where they could not all be read.
        verdict: "valid", "invalid", or "unreadable": nobody can read it as an invoice.
        syntax, root, profile, version, specification: what the document declares; "" where it cannot be read.
        ruleset: the release that judged it, as `einvoice.validate` takes it, such as "xrechnung-2.3.1-1.8.2" or
            "en16931-1.3.16"; "" where none of these did.
        seller, seller_vat, buyer, number, currency: BT-27, BT-31, BT-44, BT-1, BT-5; "" where they are missing, and
            no more than 500 characters of them.
        date: BT-2 as text, ISO 8601 where it is a date.
        net, vat, gross: BT-109, BT-110, BT-112; None where they are missing or no numbers (of 38 digits at most).
        errors, warnings, information: how many findings of each severity there are.
        lang: the language of the texts where none is asked for.
    """

    file: str
    sha256: str
    verdict: Verdict
    syntax: str = ""
    root: str = ""
    profile: str = ""
    version: str = ""
    specification: str = ""
    ruleset: str = ""
    seller: str = ""
    seller_vat: str = ""
    buyer: str = ""
    number: str = ""
    date: str = ""
    currency: str = ""
    net: Decimal | None = None
    vat: Decimal | None = None
    gross: Decimal | None = None
    errors: int = 0
    warnings: int = 0
    information: int = 0
    lang: Language = "de"
    stored: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """The findings, no more than `MOST_FINDINGS`; of an unreadable file the one that says why."""
        return tuple(self._finding(it) for it in self.stored)

    @property
    def is_valid(self) -> bool:
        """Whether the file is a valid invoice."""
        return self.verdict == "valid"

    def _finding(self, stored: Mapping[str, Any]) -> Finding:
        code, severity = stored["code"], stored["severity"]
        flag = stored.get("flag", severity)
        place = (stored.get("line"), stored.get("column"), stored.get("xpath", ""))
        published = self._overrides(stored.get("published")) if flag != severity else {}
        return Finding(
            code=code,
            severity=severity,
            flag=flag,
            layer=stored["layer"],
            section=stored["section"],
            terms=tuple(stored.get("terms", ())),
            location=remembered(*place) if any(place) else NOWHERE,
            values={name: _restored(value) for name, value in stored.get("values", {}).items()},
            indicative=stored.get("indicative", False),
            override=published.get(code),
            noted=tuple(stored.get("noted", ())),
            more=stored.get("more", 0),
            lang=self.lang,
        )

    def _overrides(self, release: str | None) -> Mapping[str, Any]:
        known = specifications().get(self.specification)
        if known is None:  # of a later release, perhaps
            return {}
        return overrides(Identity(cast("Any", self.syntax), self.root, None, None, known), release)

    def __repr__(self) -> str:
        return f"<FileResult {self.file!r}: {self.verdict}, {self.errors} errors, {self.warnings} warnings>"


_FACTS: Final = frozenset(it.name for it in fields(FileResult)) - {"stored", "lang"}


def row_of_result(file: str, sha256: str, result: ValidationResult) -> Row:
    """What is kept of a file that was judged."""
    invoice, identity = result.invoice, result.identity
    date = invoice.issue_date
    verdict: Verdict = "valid" if result.is_valid else "invalid"
    facts = {
        "file": file,
        "sha256": sha256,
        "verdict": verdict,
        "syntax": identity.syntax,
        "root": identity.root,
        "profile": identity.profile,
        "version": identity.version,
        "specification": identity.specification.name,
        "ruleset": _ruleset(result.stack),
        "seller": _short(invoice.seller.name),
        "seller_vat": _short(invoice.seller.vat_identifier),
        "buyer": _short(invoice.buyer.name),
        "number": _short(invoice.number),
        "date": _short(date.date or date),
        "currency": _short(invoice.currency),
        "net": _number(invoice.totals.net),
        "vat": _number(invoice.vat_total),
        "gross": _number(invoice.totals.gross),
        **_counts(result.findings),
        "findings": [_stored(finding, result.stack) for finding in result.findings[:MOST_FINDINGS]],
    }
    return Row(verdict, encode(facts))


def row_of_error(file: str, sha256: str, error: UnreadableDocument) -> Row:
    """What is kept of a file that nobody can read: a finding says why."""
    known = entry(error.code)
    stored = {
        "code": error.code,
        "severity": known.severity,
        "layer": "file",
        "section": known.section,
        "line": error.line,
        "column": error.column,
        "values": error.values,
    }
    facts = {"file": file, "sha256": sha256, "verdict": "unreadable", "errors": 1, "findings": [_filled(stored)]}
    return Row("unreadable", encode(facts), settled=bool(sha256))


def encode(facts: Mapping[str, Any]) -> bytes:
    """A line of JSON, without its end; what is empty is left out."""
    return json.dumps(_filled(facts), ensure_ascii=False, separators=(",", ":")).encode()


def has_findings(line: bytes) -> bool:
    """Whether a line may tell of findings; what none does need not be read for them."""
    return b'"findings":[' in line


def decode(line: bytes, lang: Language = "de") -> FileResult:
    """What a line says.

    Raises:
        ValueError: it is none of ours.
    """
    try:
        facts = json.loads(line)
        said = {name: value for name, value in facts.items() if name in _FACTS}
        numbers = {name: Decimal(facts[name]) for name in ("net", "vat", "gross") if name in facts}
        return FileResult(**said | numbers, stored=tuple(facts.get("findings", ())), lang=lang)
    except (TypeError, ArithmeticError, AttributeError) as error:
        raise ValueError("This line does not say what became of a file.") from error


def row_again(file: str, line: bytes) -> Row:
    """What an earlier run has found out about the same content, be it under another name."""
    facts = json.loads(line)
    return Row(facts["verdict"], line if facts["file"] == file else encode(facts | {"file": file}), known=True)


def _filled(facts: Mapping[str, Any]) -> dict[str, Any]:
    always = ("file", "sha256", "verdict")
    return {name: value for name, value in facts.items() if name in always or value not in (None, "", 0, (), [], {})}


def _short(content: object) -> str:
    """What a document says; no invoice needs more of it, and no hostile one gets more room."""
    text = str(content)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _number(amount: Amount) -> str:
    number = amount.number
    return format(number, "f") if isinstance(number, Decimal) and len(number.as_tuple().digits) <= _DIGITS else ""


def _counts(findings: tuple[Finding, ...]) -> dict[str, int]:
    severities: list[str] = [finding.severity for finding in findings]
    return dict(zip(_SEVERITIES, map(severities.count, ("fatal", "warning", "information")), strict=True))


def _ruleset(stack: Stack) -> str:
    for name, ruleset in (("cius", releases.NATIONAL), ("en16931", releases.CORE)):
        layer = stack.layer(name)
        if layer and layer.version:
            return "-".join(filter(None, (ruleset, layer.specification, layer.version)))
    return ""


def _stored(finding: Finding, stack: Stack) -> dict[str, Any]:
    return _filled(
        {
            "code": finding.code,
            "severity": finding.severity,
            "flag": finding.flag if finding.flag != finding.severity else "",
            "published": stack.national.version if finding.override else "",
            "layer": finding.layer,
            "section": finding.section,
            "terms": finding.terms,
            "line": finding.line,
            "column": finding.column,
            "xpath": finding.xpath,
            "values": {name: _storable(value) for name, value in finding.values.items()},
            "indicative": finding.indicative,
            "noted": finding.noted,
            "more": finding.more,
        }
    )


def _storable(value: Any) -> Any:
    """A value as JSON has it; exact numbers and dates as an object that says what they are."""
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    if isinstance(value, datetime.date):
        return {"date": value.isoformat()}
    return value if isinstance(value, str | int | None) else str(value)


def _restored(value: Any) -> Any:
    match value:
        case {"decimal": text}:
            return Decimal(text)
        case {"date": text}:
            return datetime.date.fromisoformat(text)
    return value
