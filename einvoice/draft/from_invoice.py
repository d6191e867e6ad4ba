"""Turns an invoice into the content of a draft: the inverse of `Draft.invoice`, by the business terms of the fields."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, TypeAlias

from einvoice.draft.fields.base import DraftModel, is_list, model_of, terms_of
from einvoice.draft.fields.identifier import SchemedIdentifier
from einvoice.draft.fields.line import Classification
from einvoice.draft.fields.payment_terms import agreement_language, split_terms
from einvoice.draft.fields.totals import Prepayment
from einvoice.localization import Language, languages
from einvoice.model.group import Group
from einvoice.model.invoice import Invoice
from einvoice.model.iteration import filled, owner
from einvoice.model.lines import Line
from einvoice.model.terms import path_of
from einvoice.model.values import Value, absent
from einvoice.model.worded.down_payments import DownPayment, Sum, read_note, write_note
from einvoice.syntax import reader, xml
from einvoice.syntax.mapping.placement import copy_of
from einvoice.syntax.writer import write

Content: TypeAlias = dict[str, Any]

#: Fields that the draft calculates or that repeat others; the amounts of the totals that cannot be calculated are kept.
_DERIVED: Final = frozenset(
    ("BT-106", "BT-107", "BT-108", "BT-109", "BT-110", "BT-112", "BT-115", "BT-116", "BT-117", "BT-131")
)
_TWICE: Final = frozenset(("tax_id", "accounts"))
#: The scheme of the creditor identifier (BT-90), which UBL has among the identifiers of the seller or payee.
_CREDITOR: Final = "SEPA"


def content_from(invoice: Invoice, cls: type[DraftModel], *, is_coded: bool) -> Content:
    """Return the content of a draft, without format and profile, that says what an invoice says.

    Calculated amounts are left out, and so is all that the draft has no field for.

    Args:
        invoice: the invoice.
        cls: the class of the draft.
        is_coded: whether the specification of the draft writes cash discounts in the form of XRechnung.
    """
    if invoice.logistics_charges:
        invoice = _with_charges(invoice)
    if any(line.parent_line is not absent for line in invoice.lines):  # CII names parents, drafts nest sub-lines
        invoice = reread(write(invoice, "Invoice"))
    content = _model(cls, invoice, _by_number(invoice))
    _add_accounts(content, invoice)
    lang = wording_language(invoice)
    if notes := [it.note.raw for it in invoice.payment_terms if it.note is not absent]:
        content |= split_terms(notes[0], invoice.currency.text or "", lang, is_coded=is_coded)
    _move_down_payments(content, invoice, lang)
    breakdown = [it for it in content.get("vat_breakdown", ()) if it.keys() & _REASONS]
    content["vat_breakdown"] = _used(breakdown, content)
    return {name: it for name, it in content.items() if it not in ("", [], {})}


def _with_charges(invoice: Invoice) -> Invoice:
    """Return a copy whose logistics charges, which drafts do not have, are charges on the invoice."""
    result = copy_of(invoice)
    result.__dict__.update(syntax=invoice.syntax, root=invoice.root)
    charges = [it.as_charge() for it in result.logistics_charges]
    result.allowances_and_charges = [*result.allowances_and_charges, *charges]
    return result


def wording_language(invoice: Invoice) -> Language | None:
    """Return the language of what a draft put into words: down payments, or else discounts or retentions.

    None if the invoice has nothing of it.
    """
    if found := _down_payments(invoice):
        note = invoice.notes[-1].text.raw
        return next(it for it in languages() if write_note(*found, invoice.currency.text or "", it) == note)
    lines = [line for it in invoice.payment_terms for line in (it.note.text or "").splitlines()]
    return next((lang for line in lines if (lang := agreement_language(line, invoice.currency.text or ""))), None)


def _down_payments(invoice: Invoice) -> tuple[Sum, list[DownPayment]] | None:
    """Return the total of an invoice and the down payments in its last note, where a draft writes them; None if none.

    Their sum has to be the paid amount.
    """
    totals, last = invoice.totals, next(reversed(invoice.notes), None)
    taxes = [it.amount.number for it in invoice.tax_totals if it.amount.currency == invoice.currency.text]
    numbers = (totals.gross.number, taxes[0] if taxes else None)
    if last is None or last.subject_code or not last.text or not all(isinstance(it, Decimal) for it in numbers):
        return None
    total = Sum(*numbers)
    found = read_note(last.text.raw, total, invoice.currency.text or "")
    return (total, found) if found and sum(it.amount for it in found) == totals.paid.number else None


def _move_down_payments(content: Content, invoice: Invoice, lang: Language | None) -> None:
    """Replace the note on down payments, the paid amount and the invoices of the down payments by the down payments."""
    found = _down_payments(invoice)
    if not found or not lang:
        return
    content["prepayments"] = [Prepayment.content(it) for it in found[1]]
    content["notes"].pop()
    del content["totals"]["paid_amount"]
    own = [(it.number, it.issued) for it in found[1] if it.number]
    preceding = content.get("preceding_invoices", [])
    named = [(it["number"], it.get("issue_date")) for it in preceding]
    others = [it for it in named if it not in own]
    if (others + own)[
        : len(named)
    ] == named:  # a draft writes those of down payments last, as many as the syntax allows
        del preceding[len(others) :]


def reread(written: bytes) -> Invoice:
    """Read a document that was written here, of any size."""
    size = len(written)
    return reader.read(xml.parse(written, xml.Limits(bytes=size, elements=size)).getroot())


def _by_number(group: Group) -> Mapping[str, Sequence[Value]]:
    """Return the values of a group by business term, without those of the sub-lines of a line."""
    found: dict[str, list[Value]] = defaultdict(list)
    sub_lines = group.lines if isinstance(group, Line) else ()
    below = {id(inner) for line in sub_lines for inner in line.walk()}
    for it in filled(group):
        if id(it.group) in below:
            continue
        is_creditor = it.number in ("BT-29", "BT-60") and getattr(it.value, "scheme", absent) == _CREDITOR
        found["BT-90" if is_creditor else it.number].append(it.value)
    return found


def _model(cls: type[DraftModel], group: Group, values: Mapping[str, Sequence[Value]]) -> Content:
    """Return the content of a model of the draft from a group of the invoice and its values by business term."""
    content: Content = {}
    for name, field in cls.model_fields.items():
        numbers = terms_of(cls, name)
        if not numbers or name in _TWICE or numbers[0] in _DERIVED:
            continue
        inner = model_of(field.annotation)
        found: Any
        if inner is None:
            found = _plain(numbers[0], values)
        elif issubclass(inner, SchemedIdentifier | Classification):
            found = [_identifier(inner, value, values) for value in values.get(numbers[0], ())]
            found = found if is_list(field.annotation) else next(iter(found), None)
        elif is_list(field.annotation):
            found = [_model(inner, it, _by_number(it)) for it in _groups(group, numbers[0])]
        else:
            found = _model(inner, group, values)
        if found not in (None, [], {}):
            content[name] = found
    return content


def _groups(group: Group, number: str) -> Iterable[Group]:
    """Return the groups of a list: BG-20 of an invoice, BG-27 of a line."""
    steps = path_of(number).split(".")
    for step in steps if isinstance(group, Invoice) else steps[1:]:
        content = getattr(group, step)
        if isinstance(content, list | tuple):
            return [it for it in content if number != "BG-24" or it.identifier_term == "BT-122"]
        group = content
    return ()


def _plain(number: str, values: Mapping[str, Sequence[Value]]) -> Any:
    """Return the first value of a term, or the attribute of a value that is a term."""
    if of := owner(number):
        attribute = path_of(number).rpartition(".")[2]
        found = (getattr(value, attribute) for value in values.get(of, ()))
        return next((it for it in found if it is not absent), None)
    return next((_text(value) for value in values.get(number, ()) if value.filled), None)


def _text(value: Value) -> Any:
    typed = value.value
    return typed if isinstance(typed, Decimal | datetime.date) else value.text


def _identifier(cls: type[DraftModel], value: Value, values: Mapping[str, Sequence[Value]]) -> Content:
    """Return an identifier with its scheme, which is an attribute or, for an object in CII, an element beside it."""
    content = {"id": value.text}
    for name in cls.model_fields.keys() - {"id"}:
        number = terms_of(cls, name)[0]
        attribute = getattr(value, path_of(number).rpartition(".")[2])
        if attribute is not absent:
            content[name] = attribute
        elif number in values:
            content[name] = values[number][0].text
    return content


def _add_accounts(content: Content, invoice: Invoice) -> None:
    """Replace the account of the payment by all accounts, if there are several."""
    accounts = [
        {"iban": _plain("BT-84", it), "account_name": _plain("BT-85", it), "bic": _plain("BT-86", it)}
        for it in map(_by_number, invoice.payment_means)
    ]
    if len(accounts) > 1 and all(it["iban"] for it in accounts):
        content["payment"] = {name: it for name, it in content["payment"].items() if name not in accounts[0]}
        content["payment"]["accounts"] = accounts


_REASONS: Final = frozenset(("exemption_reason", "exemption_reason_code"))


def _used(breakdown: Iterable[Content], content: Content) -> list[Content]:
    """Return the entries of the VAT breakdown with a category and rate of a line, allowance or charge, once each."""
    taxed = [it for name in ("lines", "allowances", "charges") for it in content.get(name, ())]
    unused = {_tax(it) for it in taxed}
    used = []
    for entry in breakdown:
        if (key := _tax(entry)) in unused:
            unused.remove(key)
            used.append(entry)
    return used


def _tax(content: Content) -> tuple[Any, Any]:
    return content.get("tax_category"), content.get("tax_rate") or 0
