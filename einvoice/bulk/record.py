"""Compact record of one validated file: a line of JSON, about 1.5 kB.

A record holds invoice facts, verdict and findings. Empty values, and texts that the catalog holds, are omitted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from einvoice.bulk.stored_findings import compact, plain, restored
from einvoice.code_catalog import entry
from einvoice.model.invoice import CREDIT_NOTE_TYPES
from einvoice.render.tables import folder_of, is_iso_date
from einvoice.result.finding import Finding
from einvoice.result.languages import Language

if TYPE_CHECKING:
    from einvoice.errors import UnreadableDocument
    from einvoice.model.invoice import Invoice
    from einvoice.model.values import Amount, Date
    from einvoice.result.differences import Difference
    from einvoice.result.stack import Stack
    from einvoice.result.validation import ValidationResult
    from einvoice.syntax.detect import Identity

Verdict: TypeAlias = Literal["valid", "invalid", "unreadable"]
OnlyIn: TypeAlias = Literal["native", "reference", "declared", "current"]
VERDICTS: Final[tuple[Verdict, ...]] = ("valid", "invalid", "unreadable")
MAX_FINDINGS: Final = 1000
"""Maximum number of stored findings per file; counts include all findings, and `ResultSet.result` returns all."""

RETRY: Final = "retry"
"""Key of a record that must not be resumed: another run may have another result."""
_TEMPORARY: Final = frozenset({"REFERENCE-TIME", "REFERENCE-DIED"})
"""Problems of official artefacts that depend on the machine and its load."""

_MAX_TEXT_LENGTH: Final = 500
_MAX_DIGITS: Final = 38
COUNTERS: Final = {"fatal": "errors", "warning": "warnings", "information": "information"}
"""Name of the count of findings, by severity; most severe first."""
_FILENAME: Final = b'{"file":"'
_DECODER: Final = json.JSONDecoder()
_ENCODE: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode


class Row(NamedTuple):
    """The record of a file and how it was obtained.

    Attributes:
        verdict: "valid", "invalid" or "unreadable".
        line: the encoded record.
        reusable: False if the record depends on more than the file content, such as a timeout, so that the file must be
            validated again.
        resumed: True if the record comes from an earlier run.
    """

    verdict: Verdict
    line: bytes
    reusable: bool = True
    resumed: bool = False


class FileDifference(NamedTuple):
    """A finding that only one of two validations of a file reports.

    Attributes:
        finding: the finding.
        only_in: with engine "both", "native" (the rules of einvoice) or "reference" (the official artefacts); in
            compatibility mode, "declared" (the release that validated the file) or "current".
        changed_in: in compatibility mode, the first release that behaves like the newer of the two, as in
            `FileResult.ruleset`; else "".
    """

    finding: Finding
    only_in: OnlyIn
    changed_in: str = ""


class StoredLayer(NamedTuple):
    """A layer that validated a file; attributes as in `einvoice.result.Layer`."""

    name: str
    version: str
    executed: bool


@dataclass(frozen=True, repr=False)
class FileResult:
    """The result of one file.

    Attributes:
        file: filename, relative to the folder or archive, or as given.
        sha256: hash of the content, hexadecimal; "" if it could not be read completely.
        verdict: "valid", "invalid", or "unreadable" if the file cannot be read as an invoice.
        syntax, root, profile, version, specification: as declared in the document; "" if unreadable.
        ruleset: release used for validation, such as "xrechnung-2.3.1-1.8.2" or "en16931-1.3.16"; "" if neither
            rule set applied.
        layers: the layers that validated the file, in order, with their releases; none if unreadable.
        seller, seller_vat, buyer, number, currency: BT-27, BT-31, BT-44, BT-1, BT-5, truncated to 500 characters; ""
            if missing.
        type: BT-3, a code of UNTDID 1001 such as "380"; buyer_reference: BT-10, such as a Leitweg-ID; buyer_vat: BT-48;
            seller_country, buyer_country: BT-40, BT-55; order: BT-13; payment_terms: BT-20. All are truncated, too.
        iban: the accounts to pay to (BT-84) without blanks, separated by one; usually an IBAN.
        line_count: number of lines (BG-25); None in results of earlier versions.
        software: the software that made the file, as its XML or PDF says; "" if it does not, and in results of earlier
            versions.
        date, due_date: BT-2, BT-9 as text, ISO 8601 if it is a valid date.
        net, vat, gross, amount_due: BT-109, BT-110, BT-112, BT-115; None if missing, not a number, or longer than 38
            digits.
        errors, warnings, information: number of findings by severity.
        agreement: with engine "both", whether the official artefacts report the "same" or "different" findings; "" if
            nothing was compared: they do not cover the document, or did not run to completion.
        compared: rule sets for which both were compared, separated by spaces, such as "en16931".
        codes_only_declared, codes_only_current: in compatibility mode, number of codes that only the declared release
            reports, or only the current one; else None.
        lang: default language of the texts.
        stored: the findings as stored.
        stored_differences: the differences as stored.
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
    type: str = ""
    date: str = ""
    due_date: str = ""
    buyer_reference: str = ""
    seller_country: str = ""
    buyer_vat: str = ""
    buyer_country: str = ""
    order: str = ""
    iban: str = ""
    payment_terms: str = ""
    line_count: int | None = None
    software: str = ""
    currency: str = ""
    net: Decimal | None = None
    vat: Decimal | None = None
    gross: Decimal | None = None
    amount_due: Decimal | None = None
    errors: int = 0
    warnings: int = 0
    information: int = 0
    lang: Language = "de"
    stored: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    agreement: Literal["same", "different", ""] = ""
    compared: str = ""
    codes_only_declared: int | None = None
    codes_only_current: int | None = None
    stored_differences: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    layers: tuple[StoredLayer, ...] = ()

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """The findings, at most `MAX_FINDINGS`; for an unreadable file, a single one that states the cause."""
        return tuple(self._finding(it) for it in self.stored)

    @cached_property
    def differences(self) -> tuple[FileDifference, ...]:
        """The findings that only one engine or only one release reports, at most `MAX_FINDINGS`."""
        return tuple(
            FileDifference(self._finding(it), it["only_in"], it.get("changed_in", "")) for it in self.stored_differences
        )

    @property
    def only_native(self) -> str:
        """Codes of the findings that only the rules of einvoice report, separated by spaces."""
        return " ".join(self._codes("native"))

    @property
    def only_reference(self) -> str:
        """Codes of the findings that only the official artefacts report, separated by spaces."""
        return " ".join(self._codes("reference"))

    def _codes(self, only_in: OnlyIn) -> Collection[str]:
        return dict.fromkeys(it["code"] for it in self.stored_differences if it["only_in"] == only_in)

    @property
    def is_valid(self) -> bool:
        """Whether the verdict is "valid"."""
        return self.verdict == "valid"

    @property
    def folder(self) -> str:
        """The folder in the filename; "." if it has none."""
        return folder_of(self.file)

    @property
    def month(self) -> str:
        """The month of the date, such as "2026-05"; "" without a valid date."""
        return self.date[:7] if is_iso_date(self.date) else ""

    @property
    def is_credit_note(self) -> bool:
        """Whether the document is a credit note: its amounts are owed by the seller."""
        return self.root == "CreditNote" or self.type in CREDIT_NOTE_TYPES

    @property
    def signed_gross(self) -> Decimal | None:
        """The gross amount, with the opposite sign for a credit note."""
        return self.gross.copy_negate() if self.is_credit_note and self.gross else self.gross

    def _finding(self, stored: Mapping[str, Any]) -> Finding:
        origin = {"syntax": self.syntax, "root": self.root, "specification": self.specification}
        return restored(stored, origin, self.lang)

    def __repr__(self) -> str:
        return f"<FileResult {self.file!r}: {self.verdict}, {self.errors} errors, {self.warnings} warnings>"


_AMOUNTS: Final = ("net", "vat", "gross", "amount_due")
_FACTS: Final = frozenset(it.name for it in fields(FileResult)) - {"stored", "stored_differences", "layers", "lang"}
FACTS: Final = _FACTS | {"folder", "month"}
"""Attributes of `FileResult` by which files can be filtered."""


def result_row(file: str, sha256: str, result: ValidationResult) -> Row:
    """Return the record of a validated file."""
    invoice, identity = result.invoice, result.identity
    verdict: Verdict = "valid" if result.is_valid else "invalid"
    is_temporary = _is_temporary(result)
    facts = {
        "file": file,
        "sha256": sha256,
        "verdict": verdict,
        **identity_facts(identity),
        "ruleset": _ruleset(result.stack),
        "layers": [[it.name, it.version, it.executed] for it in result.stack.layers],
        **invoice_facts(invoice),
        "software": result.software,
        **_counts(result.findings),
        "agreement": _agreement(result),
        "compared": " ".join(result.agreement.compared) if result.agreement else "",
        **_difference_counts(result),
        "findings": [plain(finding, result.stack) for finding in result.findings[:MAX_FINDINGS]],
        "differences": list(islice(_differences(result), MAX_FINDINGS)),
        RETRY: is_temporary,
    }
    return Row(verdict, encode(facts), reusable=not is_temporary)


def identity_facts(identity: Identity) -> dict[str, Any]:
    """Return what a record says about syntax and specification of a document."""
    return {
        "syntax": identity.syntax,
        "root": identity.root,
        "profile": identity.profile,
        "version": identity.version,
        "specification": identity.specification.name,
    }


def invoice_facts(invoice: Invoice) -> dict[str, Any]:
    """Return what a record says about an invoice."""
    return {
        "seller": _short(invoice.seller.name),
        "seller_vat": _short(invoice.seller.vat_identifier),
        "buyer": _short(invoice.buyer.name),
        "number": _short(invoice.number),
        "type": _short(str(invoice.type_code).strip()),
        "date": _date(invoice.issue_date),
        "due_date": _due_date(invoice),
        "buyer_reference": _short(invoice.buyer_reference),
        "seller_country": _short(invoice.seller.address.country_code),
        "buyer_vat": _short(invoice.buyer.vat_identifier),
        "buyer_country": _short(invoice.buyer.address.country_code),
        "order": _short(invoice.purchase_order),
        "iban": _short(_accounts(invoice)),
        "payment_terms": _short("; ".join(str(it.note) for it in invoice.payment_terms if it.note)),
        "line_count": len(invoice.lines),
        "currency": _short(invoice.currency),
        "net": _number(invoice.totals.net),
        "vat": _number(invoice.vat_total),
        "gross": _number(invoice.totals.gross),
        "amount_due": _number(invoice.totals.due),
    }


def error_row(file: str, sha256: str, error: UnreadableDocument) -> Row:
    """Return the record of an unreadable file, with the cause as a finding."""
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
    facts = {"file": file, "sha256": sha256, "verdict": "unreadable", "errors": 1, "findings": [compact(stored)]}
    return Row("unreadable", encode(facts), reusable=bool(sha256))


def encode(record: Mapping[str, Any]) -> bytes:
    """Return a record as a line of JSON without a line ending; empty values are omitted."""
    return _ENCODE(compact(record)).encode()


def reduce_findings(line: bytes, keep: Callable[[Mapping[str, Any]], bool]) -> bytes:
    """Return a record with the findings that `keep` accepts; counts are lowered, the verdict stays."""
    record = json.loads(line)
    stored = record.get("findings", [])
    kept = []
    for finding in stored:
        if keep(finding):
            kept.append(finding)
        else:
            record[COUNTERS[finding["severity"]]] -= 1 + finding.get("more", 0)
    return line if len(kept) == len(stored) else encode(record | {"findings": kept})


def filename(line: bytes) -> str:
    """Return the name of the file of a record; it usually comes first, so that the rest need not be parsed."""
    if line.startswith(_FILENAME):
        return str(_DECODER.raw_decode(line.decode(), len(_FILENAME) - 1)[0])
    return str(json.loads(line)["file"])


def has_findings(line: bytes) -> bool:
    """Return whether a record may contain findings, without parsing it."""
    return b'"findings":[' in line


def has_differences(line: bytes) -> bool:
    """Return whether a record may contain differences, without parsing it."""
    return b'"differences":[' in line


def decode(line: bytes, lang: Language = "de") -> FileResult:
    """Return the result stored in a record.

    Raises:
        ValueError: the line is not a record.
    """
    return of_record(json.loads(line), lang)


def of_record(record: Mapping[str, Any], lang: Language) -> FileResult:
    """Return the result stored in a decoded record.

    Raises:
        ValueError: it is not a record.
    """
    try:
        facts = {name: value for name, value in record.items() if name in _FACTS}
        numbers = {name: Decimal(record[name]) for name in _AMOUNTS if name in record}
        stored = {
            "stored": tuple(record.get("findings", ())),
            "stored_differences": tuple(record.get("differences", ())),
            "layers": tuple(StoredLayer(*it) for it in record.get("layers", ())),
        }
        return FileResult(**facts | numbers | stored, lang=lang)
    except (TypeError, ArithmeticError, AttributeError) as error:
        raise ValueError("the line is not a record of a validated file") from error


def resumed_row(file: str, line: bytes) -> Row:
    """Return the record of an earlier run for the same content, under the current filename."""
    record = json.loads(line)
    renamed = line if record["file"] == file else encode(record | {"file": file})
    return Row(record["verdict"], renamed, resumed=True)


def _short(content: object) -> str:
    """Return the text, truncated to limit the memory that a hostile document can use."""
    text = str(content)
    return text if len(text) <= _MAX_TEXT_LENGTH else text[: _MAX_TEXT_LENGTH - 1] + "…"


def _date(date: Date) -> str:
    return _short(date.date or date)


def _due_date(invoice: Invoice) -> str:
    """Return the first due date; the syntaxes have it in three places."""
    groups: tuple[Any, ...] = (invoice, *invoice.payment_terms, *invoice.payment_means)
    for group in groups:
        if str(group.due_date):
            return _date(group.due_date)
    return ""


def _accounts(invoice: Invoice) -> str:
    """Return the accounts to pay to, each once, without blanks."""
    transfers = [it.credit_transfer for it in invoice.payment_means]
    numbers = [str(number) for it in transfers for number in (it.identifier, it.proprietary_identifier)]
    return " ".join(dict.fromkeys("".join(it.split()) for it in numbers if it))


def _number(amount: Amount) -> str:
    number = amount.number
    if not isinstance(number, Decimal):
        return ""
    text = format(number, "f")
    return text if len(text) <= _MAX_DIGITS or len(number.as_tuple().digits) <= _MAX_DIGITS else ""


def _counts(findings: tuple[Finding, ...]) -> dict[str, int]:
    counts = dict.fromkeys(COUNTERS.values(), 0)
    for finding in findings:
        counts[COUNTERS[finding.severity]] += 1 + finding.suppressed
    return counts


def _is_temporary(result: ValidationResult) -> bool:
    """Return whether an official artefact timed out, or crashed its worker."""
    layers = (*result.stack.layers, *(result.agreement.layers if result.agreement else ()))
    return any(layer.problem in _TEMPORARY for layer in layers)


def _agreement(result: ValidationResult) -> str:
    agreed = result.agreement.agreed if result.agreement else None
    return "" if agreed is None else "same" if agreed else "different"


def _differences(result: ValidationResult) -> Iterator[dict[str, Any]]:
    """Yield the findings that only one engine or only one release reports, as stored."""
    if result.agreement:
        for finding in result.agreement.only_native:
            yield {"only_in": "native", **plain(finding, result.stack)}
        for finding in result.agreement.only_reference:
            yield {"only_in": "reference", **plain(finding, result.stack)}
    for it in result.differences:
        stored = {"only_in": it.only_in, "changed_in": _changed_in(it), **plain(it.finding, result.stack)}
        if it.finding.override:  # it may be published with another release than those of the stack
            stored["reasons"] = dict(it.finding.override.reasons)
        yield stored


def _changed_in(difference: Difference) -> str:
    is_base = difference.ruleset in dict(difference.changed_in.base)
    specification = "" if is_base else difference.changed_in.specification
    return "-".join(filter(None, (difference.ruleset, specification, difference.version)))


def _difference_counts(result: ValidationResult) -> dict[str, int]:
    """Return the numbers of codes that only one release reports, if the releases were compared."""
    if result.stack.mode != "compatibility" or result.stack.engine == "reference":
        return {}
    codes = {(it.only_in, it.finding.code) for it in result.differences}
    sides = Counter(only_in for only_in, _ in codes)
    return {f"codes_only_{side}": sides[side] for side in ("declared", "current")}


def _ruleset(stack: Stack) -> str:
    """Return the most specific rule set with a release of its own: its name, specification and release."""
    for kind in ("cius", "en16931"):
        layer = next((it for it in stack.layers if it.kind == kind and it.version), None)
        if layer:
            return "-".join(filter(None, (layer.name, layer.specification, layer.version)))
    return ""
