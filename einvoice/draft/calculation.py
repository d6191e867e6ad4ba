"""Calculates the VAT breakdown and the totals of a draft, with the equations of the model."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from einvoice.draft.fields.allowance import DocumentAllowanceOrCharge
from einvoice.draft.fields.base import terms_of
from einvoice.draft.fields.line import Line
from einvoice.draft.fields.totals import Totals, VatCategory
from einvoice.draft.fields.types import as_amount, as_code, as_percentage, as_text
from einvoice.errors import DraftProblem
from einvoice.model import money as model
from einvoice.model.calculation import EQUATIONS, Numbers, calculate
from einvoice.model.invoice import Totals as InvoiceTotals
from einvoice.model.values import Code, absent

_ZERO: Final = Decimal(0)


@dataclass
class VatSubtotal:
    """An entry of the VAT breakdown (BG-23).

    Attributes:
        category, rate: BT-118 and BT-119.
        given: the entry in the draft; None if there is none.
        source: JSON pointer of the first line, allowance or charge with this category and rate.
        numbers: the amounts of lines, allowances and charges, by business term.
    """

    category: str | None
    rate: Decimal | None
    given: VatCategory | None = None
    source: str = ""
    numbers: dict[str, list[Decimal]] = field(default_factory=lambda: defaultdict(list))

    @property
    def taxable(self) -> Decimal:
        """BT-116: the taxable amount."""
        return calculate("BT-116", self.numbers)

    @property
    def tax(self) -> Decimal:
        """BT-117: the tax amount, rounded to two decimals."""
        return calculate("BT-117", {"BT-116": [self.taxable], "BT-119": [self.rate or _ZERO]})

    def add(self, item: _Taxed) -> None:
        """Add an amount; the first rate that is not None is used."""
        self.numbers[item.term].append(item.amount)
        self.source = self.source or item.source
        self.rate = item.rate if self.rate is None else self.rate

    def build(self, currency: str) -> model.VatBreakdown:
        """Return the entry of the invoice. Category O (not subject to VAT) has rate 0 here, but no rate on lines."""
        rate = _ZERO if self.rate is None and self.category == "O" else self.rate
        return model.VatBreakdown(
            category=as_code(self.category),
            rate=as_percentage(rate),
            scheme=Code("VAT"),
            taxable_amount=as_amount(self.taxable, currency),
            tax_amount=as_amount(self.tax, currency),
            exemption_reason=as_text(self.given.exemption_reason) if self.given else absent,
            exemption_reason_code=as_code(self.given.exemption_reason_code) if self.given else absent,
        )


@dataclass(frozen=True)
class CalculatedTotals:
    """The VAT breakdown, given entries first, and the numbers of the totals (BG-22) by business term."""

    vat: Sequence[VatSubtotal]
    numbers: Numbers

    @classmethod
    def of(
        cls,
        lines: Sequence[Line],
        allowances_and_charges: Sequence[DocumentAllowanceOrCharge],
        breakdown: Sequence[VatCategory],
        given: Totals,
        *,
        prepaid: Decimal | None = None,
        for_third_parties: Decimal = _ZERO,
    ) -> CalculatedTotals:
        """Calculate the totals; `given` provides the amounts that cannot be calculated.

        Args:
            prepaid: the sum of the down payments, which the paid amount (BT-113) must have.
            for_third_parties: the amounts collected for third parties, part of the amount due (BR-DEX-09).
        """
        items = [*_taxed_lines(lines), *_taxed_allowances_and_charges(allowances_and_charges)]
        vat = _breakdown(items, breakdown)
        numbers: dict[str, list[Decimal]] = defaultdict(list)
        for item in items:
            numbers[item.term].append(item.amount)
        numbers["BT-117"] = [subtotal.tax for subtotal in vat]
        numbers |= given.numbers("paid_amount", "rounding_amount", "vat_amount_in_tax_currency")
        numbers["BT-DEX-002"] = [for_third_parties]
        if prepaid is not None:
            numbers["BT-113"] = [prepaid]
        for term in ("BT-106", "BT-107", "BT-108", "BT-109", "BT-110", "BT-112", "BT-115"):
            if any(numbers.get(operand) for operand in EQUATIONS[term].operands):
                numbers[term] = [calculate(term, numbers)]
        return cls(vat, numbers)

    def amount(self, term: str) -> Decimal | None:
        """Return the amount of a total; None if the invoice does not state it."""
        return next(iter(self.numbers.get(term, ())), None)

    def build(self, currency: str) -> InvoiceTotals:
        """Return the totals of the invoice."""
        amounts = {name: self.amount(it.terms[0]) for name, it in InvoiceTotals.fields.items() if it.terms}
        return InvoiceTotals(**{name: as_amount(amount, currency) for name, amount in amounts.items()})

    def tax_totals(self, currency: str, tax_currency: str | None) -> list[model.TaxTotal]:
        """Return the VAT totals of the invoice: BT-110, and BT-111 if given."""
        amounts = [as_amount(self.amount("BT-110"), currency)]
        if tax_currency is not None and (in_tax_currency := self.amount("BT-111")) is not None:
            amounts.append(as_amount(in_tax_currency, tax_currency))
        return [model.TaxTotal(amount=amount) for amount in amounts]


@dataclass(frozen=True, slots=True)
class _Taxed:
    """A line, allowance or charge: its JSON pointer, VAT category and rate, amount, and the term of the amount."""

    source: str
    category: str | None
    rate: Decimal | None
    term: str
    amount: Decimal


def _breakdown(items: Iterable[_Taxed], given: Iterable[VatCategory]) -> list[VatSubtotal]:
    """Group the amounts by category and rate (None counts as 0); all given entries come first, used or not."""
    result = [VatSubtotal(entry.tax_category, entry.tax_rate, given=entry) for entry in given]
    by_key: dict[tuple[str | None, Decimal], VatSubtotal] = {}
    for subtotal in result:
        by_key.setdefault((subtotal.category, subtotal.rate or _ZERO), subtotal)
    for item in items:
        key = item.category, item.rate or _ZERO
        if key not in by_key:
            result.append(by_key.setdefault(key, VatSubtotal(item.category, item.rate)))
        by_key[key].add(item)
    return result


def _taxed_lines(lines: Iterable[Line]) -> Iterator[_Taxed]:
    for index, line in enumerate(lines):
        yield _Taxed(f"/lines/{index}", line.tax_category, line.tax_rate, "BT-131", line.net)


def _taxed_allowances_and_charges(allowances_and_charges: Iterable[DocumentAllowanceOrCharge]) -> Iterator[_Taxed]:
    indices = {False: itertools.count(), True: itertools.count()}
    for it in allowances_and_charges:
        pointer = f"/{'charges' if it.is_charge else 'allowances'}/{next(indices[it.is_charge])}"
        yield _Taxed(pointer, it.tax_category, it.tax_rate, terms_of(type(it), "amount")[0], it.net)


def check_totals(
    calculated: CalculatedTotals, breakdown: Sequence[VatCategory], totals: Totals
) -> Iterator[DraftProblem]:
    """Yield given totals that differ from the calculated ones."""
    for index, (subtotal, given) in enumerate(zip(calculated.vat, breakdown, strict=False)):
        if not subtotal.source:
            yield DraftProblem(f"/vat_breakdown/{index}/tax_category", "vat_category_unused")
            continue
        for name, expected in (("taxable_amount", subtotal.taxable), ("tax_amount", subtotal.tax)):
            yield from _differing(f"/vat_breakdown/{index}/{name}", expected, getattr(given, name))
    for name in type(totals).model_fields:
        expected = calculated.amount(terms_of(Totals, name)[0]) or _ZERO
        yield from _differing(f"/totals/{name}", expected, getattr(totals, name))


def _differing(pointer: str, expected: Decimal, actual: Decimal | None) -> Iterator[DraftProblem]:
    if actual is not None and actual != expected:
        yield DraftProblem.of_amount(pointer, expected=expected, actual=actual)
