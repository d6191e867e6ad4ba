"""The validation result of one document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from einvoice.errors import FindingsError
from einvoice.model.invoice import Invoice
from einvoice.result.finding import Finding
from einvoice.result.languages import Language, check_language
from einvoice.result.options import Options
from einvoice.result.source_document import SourceDocument
from einvoice.result.stack import Stack
from einvoice.syntax.detect import Identity
from einvoice.syntax.software import named_software

if TYPE_CHECKING:
    import datetime
    import os

    import pandas as pd

    from einvoice.assessment import Assessment
    from einvoice.causes import Cause
    from einvoice.causes.collection import Causes
    from einvoice.notebook.view import ResultView
    from einvoice.repair.fixed import Fixed
    from einvoice.result.agreement import Agreement
    from einvoice.result.container import Container
    from einvoice.result.differences import Difference


@dataclass(frozen=True, slots=True)
class Summary:
    """Key facts of the invoice as in the document; "" if missing.

    Attributes:
        invoice_number: BT-1.
        invoice_date: BT-2 in ISO 8601, or "" if there is no valid date.
        format: "UBL" or "CII".
        seller, buyer: their names, BT-27 and BT-44.
        currency: BT-5.
        amount_due: BT-115, decimal text.
    """

    invoice_number: str
    invoice_date: str
    format: str
    seller: str
    buyer: str
    currency: str
    amount_due: str


@dataclass(frozen=True, eq=False, repr=False)
class ValidationResult:
    """The validation result of one document.

    Attributes:
        findings: the findings, ordered by layer, location and code: at most 100 per code and 1,000 in total.
        identity: syntax and declared specification of the document.
        stack: the layers that validated the document.
        document: the validated document.
        lang: default language of the texts.
        filename: filename without folder; "" if the document has none.
        processing_time_ms: duration of the validation in milliseconds.
        container: the hybrid PDF with its own validation result; None for XML.
        differences: in compatibility mode, findings reported only by the declared release or only by the current one.
        agreement: comparison with the official Schematron; None unless validated with engine "both".
        options: options of the validation, with which `causes` validates changed documents.
    """

    findings: tuple[Finding, ...]
    identity: Identity
    stack: Stack
    document: SourceDocument
    lang: Language = "de"
    filename: str = ""
    processing_time_ms: int = 0
    container: Container | None = None
    differences: tuple[Difference, ...] = ()
    agreement: Agreement | None = None
    options: Options = field(default_factory=Options)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Findings with effective severity "fatal"."""
        return tuple(finding for finding in self.findings if finding.severity == "fatal")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Findings with effective severity "warning"."""
        return tuple(finding for finding in self.findings if finding.severity == "warning")

    @property
    def information(self) -> tuple[Finding, ...]:
        """Findings with effective severity "information"."""
        return tuple(finding for finding in self.findings if finding.severity == "information")

    @property
    def omitted(self) -> dict[str, int]:
        """Number of findings that are not reported because there are too many, by code; see `Finding.suppressed`."""
        counts: Counter[str] = Counter()
        for finding in self.findings:
            counts[finding.code] += finding.suppressed
        return dict(+counts)

    @property
    def is_valid(self) -> bool:
        """Whether every layer ran to completion and none reported an error."""
        return self.stack.complete and not self.errors

    @property
    def invoice(self) -> Invoice:
        """The invoice; it belongs to the result, do not modify it."""
        return self.document.invoice

    @property
    def sha256(self) -> str:
        """SHA-256 of the validated file, hexadecimal: of the XML, or of the hybrid PDF."""
        import hashlib

        return (self.container and self.container.sha256) or hashlib.sha256(self.document.data).hexdigest()

    @property
    def software(self) -> str:
        """The software that made the document, as the document says; "" if it does not.

        It is named by the metadata of a PDF, or by a comment at the beginning of the XML.
        """
        return (self.container and self.container.software) or named_software(self.document.data)

    @cached_property
    def summary(self) -> Summary:
        """Key facts of the invoice."""
        invoice = self.invoice
        date, due = invoice.issue_date, invoice.totals.due
        return Summary(
            invoice_number=str(invoice.number),
            invoice_date=str(date.date or ""),
            format=self.identity.syntax,
            seller=str(invoice.seller.name),
            buyer=str(invoice.buyer.name),
            currency=str(invoice.currency),
            amount_due=due.raw.strip() if due else "",
        )

    def __getstate__(self) -> dict[str, Any]:
        """Include the summary, so that copies need not parse the document for it; copies search causes again."""
        kept = {name: value for name, value in self.__dict__.items() if name != "_causes"}
        return {**kept, "summary": self.summary}

    def raise_for_findings(self) -> ValidationResult:
        """Return the result if the invoice is valid.

        Raises:
            FindingsError: the invoice is invalid; the error holds this result.
        """
        if not self.is_valid:
            raise FindingsError(self)
        return self

    def causes(self, *, seconds: float | None = None) -> Causes:
        """Return the findings grouped by common cause, the gravest first.

        A cause states the change of the XML that proves it: the changed document was validated with the same options.
        Every finding belongs to exactly one cause. At most 48 documents are validated, so that findings of documents
        with many errors may remain causes of their own; the attribute `ended_by` of the tuple is then "validations",
        or "time" if the time limit ended the search. The document itself is not changed.

        The causes are kept: a second call returns them at once, and the representation in a notebook shows them from
        then on. It does not search them itself, since that takes as long as some dozen validations.

        Args:
            seconds: time limit of the search; default: 10, which only documents with thousands of lines reach. It is
                looked at between validations, so the search may exceed it by a few of them. Findings that it does not
                reach in time remain causes of their own.
        """
        if seconds is None or self.known_causes is not None:
            return self._causes
        from einvoice.repair import find_causes

        return find_causes(self, seconds)

    @cached_property
    def _causes(self) -> Causes:
        from einvoice.repair import find_causes

        return find_causes(self)

    @property
    def known_causes(self) -> Causes | None:
        """The causes if `causes` has found them without a time limit; else None."""
        return self.__dict__.get("_causes")

    def assessment(
        self, law: str | None = None, *, items: bool = True, when: datetime.date | None = None
    ) -> Assessment | None:
        """Return what the document and its errors mean for the recipient under the VAT law of a country.

        It has the class of each error, what the document is, what follows on its date of supply, what to do, and, as
        information of a layer of its own, what the law requires and EN 16931 does not. It is information, not advice,
        and changes neither the findings nor `is_valid`. The sources are those of `rules/vat-*/law.toml`.

        Args:
            law: country of the law: "de". Default: that of the seller (BT-40), unless the buyer (BT-55) is in another.
            items: whether to report what the law requires and EN 16931 does not.
            when: day of the assessment, by which a date of issue is in the future; by default today.

        Returns:
            The assessment; None if the law is not given, and the parties are not in a country whose law is known.

        Raises:
            ValueError: the law is unknown; the message lists the known ones.
        """
        from einvoice.assessment import assess

        return assess(self, law, items, when)

    def letter(
        self,
        lang: Language | None = None,
        *,
        law: str | None = None,
        items: bool = False,
        causes: Sequence[Cause] | None = None,
        by: datetime.date | None = None,
        when: datetime.date | None = None,
        address: str = "",
    ) -> str:
        """Return a letter that asks the issuer to correct the invoice, as plain text for a mail.

        It has one item per cause of errors: what is wrong, where, the value found, and what is asked for. Numbers of
        business terms, codes and lines of the XML follow below the signature, for the software of the issuer. Only what
        the invoice proves is stated; the rest is asked. It is signed with the name of the recipient.

        Args:
            lang: language of the letter; default: that of the result.
            law: country of the VAT law; default as for `assessment`. If a class of errors requires a correction by it,
                the letter says so.
            items: whether to ask also for what the law requires and EN 16931 does not, and about a picture that differs
                from the data.
            causes: from `causes`; by default they are searched.
            by: day until which an answer is asked for; by default 14 days.
            when: day of the letter, by which a date of issue is in the future; by default today.
            address: of the recipient, for the signature and where the invoice states it incompletely; by default that
                of the invoice, if it is complete.

        Returns:
            The letter; if there is nothing to ask, one sentence that says so.

        Raises:
            ValueError: the law or the language is unknown.
        """
        from einvoice.letter import letter

        check_language(lang or self.lang)
        return letter(self, lang or self.lang, law, items=items, causes=causes, by=by, when=when, address=address)

    def fixed(self, *, unsafe: bool = False) -> Fixed:
        """Return the document with the changes that resolve findings, the verdict before and after, and what remains.

        Safe changes are made: of a form that has one reading, or of an amount that every equation around it and a
        second fact demand. No change adds a finding, and bytes outside the changed elements stay as they are. Only the
        issuer may correct an invoice that has been sent.

        Args:
            unsafe: whether to make the changes, too, that leave one thing open, so that someone who knows the
                transaction has to look at them. A question to the issuer is never decided: an amount that agrees with
                others, the amount due, and whatever adds, removes or relabels a fact.

        Raises:
            SignedDocument: the XML, or the PDF around it, is signed.
        """
        from einvoice.repair.fixing import fix

        return fix(self, unsafe)

    def to_dict(
        self,
        lang: Language | None = None,
        *,
        causes: bool | Sequence[Cause] = False,
        assessment: bool | Assessment | None = False,
    ) -> dict[str, Any]:
        """Return the result as plain data, ready for JSON; numbers are decimal text.

        Args:
            lang: language of the texts; default: that of the result.
            causes: whether to add the key "causes", or the `causes` to add if they are known. It is a list, each item
                with "text", "is_question", "missing" (the missing term or ""), "terms", "xpath", "line", "codes" and
                "findings" (codes, and positions from 0 in "errors" followed by "warnings", of the findings that it
                explains), "remaining" (the number of other findings) and "changes" (each with "text", "proof",
                "copy_text" (what is changed, then where, for the clipboard), "terms", "safe", "resolves" and "edits").
                The key "causes_ended_by" is "time" or "validations" if the search ended at this limit, otherwise "".
            assessment: whether to add the key "assessment" to "validation_details", or the `assessment` to add; its
                value is None if no law is known that applies.
        """
        from einvoice.render.json import result_dict

        language = lang or self.lang
        data = result_dict(self, language)
        if assessment is not False:
            known = self.assessment() if assessment is True else assessment
            data["validation_details"]["assessment"] = known and known.to_dict(language)
        if causes is not False:
            found = self.causes() if causes is True else causes
            listed = [*self.errors, *(finding for finding in self.findings if finding.severity != "fatal")]
            positions = {id(finding): position for position, finding in enumerate(listed)}
            data["causes"] = [
                {**cause.to_dict(language), "findings": [positions[id(it)] for it in cause.findings]} for cause in found
            ]
            data["causes_ended_by"] = getattr(found, "ended_by", "")
        return data

    @overload
    def to_csv(self, path: None = None, *, lang: Language | None = None) -> str: ...
    @overload
    def to_csv(self, path: str | os.PathLike[str], *, lang: Language | None = None) -> None: ...
    def to_csv(self, path: str | os.PathLike[str] | None = None, *, lang: Language | None = None) -> str | None:
        """Return the findings as CSV with a header, one row per finding; if `path` is given, write it there instead.

        The file is UTF-8. Columns are those of `to_frame`.
        """
        from einvoice.render.tables import result_csv

        text = result_csv(self, lang or self.lang)
        if path is None:
            return text
        Path(path).write_bytes(text.encode("utf-8"))
        return None

    def to_frame(
        self, *, lang: Language | None = None, amounts: Literal["decimal", "float"] = "decimal"
    ) -> pd.DataFrame:
        """Return the findings as a pandas table, one row per finding.

        Columns, dtypes and `amounts` are those of the findings table of `ResultSet.to_frame`.

        Raises:
            ImportError: pandas is not installed (extra "notebook").
            ValueError: `amounts` is unknown.
        """
        from einvoice.render.tables import result_frame

        return result_frame(self, lang or self.lang, amounts=amounts)

    def explore(self, *, lang: Language | None = None) -> ResultView:
        """Return an interactive widget to filter and inspect the findings; see `einvoice.explore`.

        Raises:
            ImportError: anywidget is not installed (extra "notebook").
        """
        from einvoice.notebook import explore

        return explore(self, lang=lang)

    def __str__(self) -> str:
        from einvoice.render.text import result_text

        return result_text(self, self.lang)

    def __repr__(self) -> str:
        verdict = "valid" if self.is_valid else "not valid"
        counts = f"{len(self.errors)} errors, {len(self.warnings)} warnings"
        return f"<ValidationResult {self.identity.profile} ({self.identity.syntax}): {verdict}, {counts}>"

    def _repr_html_(self) -> str:
        from einvoice.render.html import result_html

        return result_html(self, self.lang)
