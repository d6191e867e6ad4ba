"""Calculates the VAT breakdown and the totals of a draft (EN 16931-1, 6.4.3)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, TypeAlias

from einvoice.draft.arithmetic import percent_of, round2, subtract, total
from einvoice.draft.fields.allowance import DocumentAllowanceOrCharge
from einvoice.draft.fields.line import Line
from einvoice.draft.fields.totals import Totals, VatCategory
from einvoice.draft.fields.types import as_amount, as_code, as_percentage, as_text
from einvoice.errors import DraftProblem
from einvoice.model import money as model
from einvoice.model.invoice import Totals as InvoiceTotals
from einvoice.model.values import Code, absent

_ZERO: Final = Decimal(0)


@dataclass
class VatSubtotal:
    """An entry of the VAT breakdown (BG-23).

    Attributes:
        category, rate, taxable: BT-118, BT-119 and BT-116.
        given: the entry in the draft; None if there is none.
        source: JSON pointer of the first line, allowance or charge with this category and rate.
    """

    category: str | None
    rate: Decimal | None
    taxable: Decimal = _ZERO
    given: VatCategory | None = None
    source: str = ""

    @property
    def tax(self) -> Decimal:
        """BT-117: the tax amount, rounded to two decimals."""
        return round2(percent_of(self.taxable, self.rate or _ZERO))

    def add(self, amount: Decimal, rate: Decimal | None, source: str) -> None:
        """Add a taxable amount; the first rate that is not None is used."""
        self.taxable = total((self.taxable, amount))
        self.source = self.source or source
        self.rate = rate if self.rate is None else self.rate

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
    """The totals (BG-22), named like the fields of `Totals`, and the VAT breakdown, given entries first."""

    vat: Sequence[VatSubtotal]
    line_net_amount: Decimal
    allowance_amount: Decimal | None
    charge_amount: Decimal | None
    paid_amount: Decimal | None
    rounding_amount: Decimal | None
    vat_amount_in_tax_currency: Decimal | None

    @classmethod
    def of(
        cls,
        lines: Sequence[Line],
        allowances_and_charges: Sequence[DocumentAllowanceOrCharge],
        breakdown: Sequence[VatCategory],
        given: Totals,
    ) -> CalculatedTotals:
        """Calculate the totals; `given` provides the amounts that cannot be calculated."""
        allowances = [it.net for it in allowances_and_charges if not it.is_charge]
        charges = [it.net for it in allowances_and_charges if it.is_charge]
        return cls(
            vat=_breakdown(lines, allowances_and_charges, breakdown),
            line_net_amount=total(line.net for line in lines),
            allowance_amount=total(allowances) if allowances else None,
            charge_amount=total(charges) if charges else None,
            paid_amount=given.paid_amount,
            rounding_amount=given.rounding_amount,
            vat_amount_in_tax_currency=given.vat_amount_in_tax_currency,
        )

    @property
    def net_amount(self) -> Decimal:
        """BT-109: lines minus allowances plus charges."""
        return total((subtract(self.line_net_amount, self.allowance_amount or _ZERO), self.charge_amount or _ZERO))

    @property
    def vat_amount(self) -> Decimal:
        """BT-110: sum of the VAT amounts."""
        return total(subtotal.tax for subtotal in self.vat)

    @property
    def gross_amount(self) -> Decimal:
        """BT-112: net amount plus VAT."""
        return total((self.net_amount, self.vat_amount))

    @property
    def due_amount(self) -> Decimal:
        """BT-115: gross amount minus paid amount plus rounding."""
        return total((subtract(self.gross_amount, self.paid_amount or _ZERO), self.rounding_amount or _ZERO))

    def build(self, currency: str) -> InvoiceTotals:
        """Return the totals of the invoice."""
        return InvoiceTotals(
            line_net=as_amount(self.line_net_amount, currency),
            allowances=as_amount(self.allowance_amount, currency),
            charges=as_amount(self.charge_amount, currency),
            net=as_amount(self.net_amount, currency),
            gross=as_amount(self.gross_amount, currency),
            paid=as_amount(self.paid_amount, currency),
            rounding=as_amount(self.rounding_amount, currency),
            due=as_amount(self.due_amount, currency),
        )

    def tax_totals(self, currency: str, tax_currency: str | None) -> list[model.TaxTotal]:
        """Return the VAT totals of the invoice: BT-110, and BT-111 if given."""
        amounts = [as_amount(self.vat_amount, currency)]
        if tax_currency is not None and self.vat_amount_in_tax_currency is not None:
            amounts.append(as_amount(self.vat_amount_in_tax_currency, tax_currency))
        return [model.TaxTotal(amount=amount) for amount in amounts]


def _breakdown(
    lines: Iterable[Line],
    allowances_and_charges: Iterable[DocumentAllowanceOrCharge],
    given: Iterable[VatCategory],
) -> list[VatSubtotal]:
    """Group the taxable amounts by category and rate (None counts as 0); all given entries come first, used or not."""
    result: list[VatSubtotal] = []
    by_key: dict[tuple[str | None, Decimal], VatSubtotal] = {}
    for entry in given:
        result.append(VatSubtotal(entry.tax_category, entry.tax_rate, given=entry))
        by_key.setdefault((entry.tax_category, entry.tax_rate or _ZERO), result[-1])
    for source, category, rate, amount in (
        *_taxed_lines(lines),
        *_taxed_allowances_and_charges(allowances_and_charges),
    ):
        key = category, rate or _ZERO
        if key not in by_key:
            result.append(by_key.setdefault(key, VatSubtotal(category, rate)))
        by_key[key].add(amount, rate, source)
    return result


_Taxed: TypeAlias = Iterator[tuple[str, str | None, Decimal | None, Decimal]]


def _taxed_lines(lines: Iterable[Line]) -> _Taxed:
    for index, line in enumerate(lines):
        yield f"/lines/{index}", line.tax_category, line.tax_rate, line.net


def _taxed_allowances_and_charges(allowances_and_charges: Iterable[DocumentAllowanceOrCharge]) -> _Taxed:
    indices = {False: itertools.count(), True: itertools.count()}
    for it in allowances_and_charges:
        pointer = f"/{'charges' if it.is_charge else 'allowances'}/{next(indices[it.is_charge])}"
        yield pointer, it.tax_category, it.tax_rate, it.signed


def check_totals(
    calculated: CalculatedTotals, breakdown: Sequence[VatCategory], totals: Totals
) -> Iterator[DraftProblem]:
    """Yield given totals that differ from the calculated ones."""
    for index, (subtotal, given) in enumerate(zip(calculated.vat, breakdown, strict=False)):
        if not subtotal.source:
            yield DraftProblem(f"/vat_breakdown/{index}/tax_category", "vat_category_unused")
            continue
        for field, expected in (("taxable_amount", subtotal.taxable), ("tax_amount", subtotal.tax)):
            yield from _differing(f"/vat_breakdown/{index}/{field}", expected, getattr(given, field))
    for field in type(totals).model_fields:
        yield from _differing(f"/totals/{field}", getattr(calculated, field) or _ZERO, getattr(totals, field))


def _differing(pointer: str, expected: Decimal, actual: Decimal | None) -> Iterator[DraftProblem]:
    if actual is not None and actual != expected:
        yield DraftProblem.of_amount(pointer, expected=expected, actual=actual)
