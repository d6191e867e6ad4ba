"""Assesses a validation result by the VAT law of a country."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any, Final

from einvoice.assessment.assessment import AssessedError, Assessment, Kind
from einvoice.assessment.law import FORMAT, Law, law, laws, matches, with_items
from einvoice.assessment.values import Values
from einvoice.model.invoice import Invoice
from einvoice.model.terms import leading
from einvoice.model.values import Date
from einvoice.result import Finding, Layer, ValidationResult
from einvoice.rulebook.program import engine
from einvoice.rulebook.releases import releases
from einvoice.validation.findings import FindingBuilder
from einvoice.validation.limits import FindingsByCode
from einvoice.validation.selection import select

_SELF_BILLED: Final = frozenset(("261", "389", "500", "501", "527"))
"""Types of invoices (BT-3) that the buyer issues."""
_PREPAYMENT: Final = "386"
_DAY: Final = datetime.timedelta(days=1)
"""A date of issue is in the future if it is so in every time zone."""


def assess(
    result: ValidationResult, country: str | None, items: bool, when: datetime.date | None = None
) -> Assessment | None:
    """Return the assessment of a result; see `ValidationResult.assessment`."""
    known = law(country) if country else _law_of(result.invoice)
    if known is None:
        return None
    invoice, day = result.invoice, supply_date(result.invoice)
    exceptions = frozenset(it["key"] for it in known.follows if "max_gross" in it and _applies(it, invoice, day))
    errors = tuple(
        AssessedError(it, known.classify(it.code, it.layer, it.severity, it.terms, exceptions), known)
        for it in result.errors
    )
    profile = result.identity.specification.facturx_profile
    not_invoice = result.identity.profile if profile in known.not_invoice else ""
    # the pages of the PDF, not its data, have to state what the law requires if the data are no invoice
    layers, missing = _missing_items(result, known) if items and not (not_invoice and result.container) else ((), ())
    facts = frozenset((*exceptions, *_facts(result, known, missing)))
    issuer = invoice.buyer if "self_billed" in facts else invoice.seller
    values = Values.of(invoice, result.findings, str(issuer.name or ""), when or _today())
    return Assessment(
        law=known,
        kind=_kind(result, errors, not_invoice),
        profile=not_invoice,
        errors=errors,
        items=missing,
        layers=layers,
        supply_date=day,
        transition=_follows(known, invoice, day),
        values=values,
        facts=facts | set(_facts_of_values(values)),
        lang=result.lang,
    )


def _facts(result: ValidationResult, known: Law, missing: Sequence[Finding]) -> Iterator[str]:
    """Yield what texts depend on: what the invoice charges and is, and what findings of any severity are about."""
    invoice = result.invoice
    categories = (str(it.category) for it in invoice.vat_breakdown if it.category)
    yield from (it for it in categories if it.isupper())  # no other fact has capital letters
    amounts = (invoice.vat_total, *(it.tax_amount for it in invoice.vat_breakdown))
    if not invoice.vat_breakdown or any(bool(it) and it != 0 for it in amounts):
        yield "vat"
    if invoice.is_credit_note:
        yield "credit_note"
    if str(invoice.type_code or "") in _SELF_BILLED:
        yield "self_billed"
    if str(invoice.type_code or "") == _PREPAYMENT:
        yield "prepayment"
    if result.container:
        yield "pdf"
    if invoice.seller.tax_number:
        yield "tax_number"
    found = [name for it in (*result.findings, *missing) for name in (it.code, f"{it.code} {leading(it.terms)}")]
    yield from (name for name, codes in known.fact_codes.items() if any(matches(codes, it) for it in found))


def _facts_of_values(values: Values) -> Iterator[str]:
    if values.issue_date and values.issue_date > values.today + _DAY:
        yield "future"
    if values.amount is not None and values.amount <= 0:
        yield "nothing_due"


def _today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()


def _law_of(invoice: Invoice) -> Law | None:
    """Return the law of the country of the seller, unless the buyer is in another; None if there is none."""
    seller = str(invoice.seller.address.country_code or "")
    return laws().get(seller) if str(invoice.buyer.address.country_code or "") in ("", seller) else None


def _kind(result: ValidationResult, errors: tuple[AssessedError, ...], profile: str) -> Kind:
    if profile or any(it.error_class == FORMAT for it in errors):
        return "other_invoice"
    return "e_invoice" if result.stack.complete else "open"


def supply_date(invoice: Invoice) -> datetime.date | None:
    """Return the last day of the supply: of delivery (BT-72), period (BG-14, BG-26) or tax point (BT-7)."""
    days = [day for it in _supply_dates(invoice) if isinstance(day := it.date, datetime.date)]
    return max(days, default=None)


def _supply_dates(invoice: Invoice) -> Iterator[Date]:
    periods = [*invoice.periods, *(period for line in invoice.lines for period in line.periods)]
    dates = (it for period in periods for it in (period.start, period.end))
    tax_points = (it.tax_point_date for it in invoice.vat_breakdown)
    known = (*(it.date for it in invoice.deliveries), *dates, invoice.tax_point_date, *tax_points)
    return (it for it in known if it)


def _follows(known: Law, invoice: Invoice, day: datetime.date | None) -> Mapping[str, Any]:
    """Return the first table of the law that applies to another invoice."""
    return next(it for it in known.follows if _applies(it, invoice, day))


def _applies(table: Mapping[str, Any], invoice: Invoice, day: datetime.date | None) -> bool:
    if "max_gross" in table:
        categories = {str(it.category) for it in invoice.vat_breakdown}
        gross, is_known = invoice.totals.gross, str(invoice.currency) == table["currency"]
        is_small = isinstance(gross.number, Decimal) and abs(gross.number) <= Decimal(table["max_gross"])
        return is_known and is_small and categories.isdisjoint(table["not_categories"])
    if table.get("no_date"):
        return day is None
    return "until" not in table or (day is not None and day.isoformat() <= table["until"])


def _missing_items(result: ValidationResult, known: Law) -> tuple[tuple[Layer, ...], tuple[Finding, ...]]:
    """Return the rule sets of the law, and what it requires and EN 16931 does not, in the validated invoice."""
    data = with_items(known, result.options.data)
    sets = releases(data).sets
    stack = [(name, sets[name].newest) for name in known.rulesets]
    selection = select(replace(result.identity, data=data), replace(result.options, data=data))
    build = FindingBuilder(result.document.data, result.invoice, selection, False, result.lang)
    found = FindingsByCode()
    program = engine.rulebook(data).program(result.identity.syntax, stack)
    for violation in program.run(result.invoice):
        rule = violation.rule
        found.add(rule.code, rule.severity, partial(build.of_rule, violation, rule.layer))
    numbers = Counter(layer for _, layer in {(rule.code, rule.layer) for rule in program.rules})
    layers = (
        Layer(
            it.name,
            sets[it.name].title,
            it.version,
            date=it.date,
            sha256=it.sha256,
            rules=numbers[it.name],
            kind=it.kind,
            label=it.label,
        )
        for it in program.layers
        if it.name in known.rulesets
    )
    return tuple(layers), tuple(found.findings())
