"""What a draft comes to: the VAT by category and rate, and the totals (EN 16931-1, 6.4.3)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, TypeAlias

from einvoice.draft.arithmetic import cents, minus, percent_of, total
from einvoice.draft.fields.allowance import DocumentAllowanceOrCharge
from einvoice.draft.fields.line import Line
from einvoice.draft.fields.totals import Totals, VatCategory
from einvoice.draft.fields.types import as_amount, as_code, as_percentage, as_text
from einvoice.errors import DraftProblem
from einvoice.model import money as model
from einvoice.model.totals import Totals as InvoiceTotals
from einvoice.model.values import Code, absent

_NOTHING: Final = Decimal(0)


@dataclass
class Vat:
    """One entry of the VAT breakdown (BG-23).

    `given` is what the draft says of it, `source` the first part of the draft that is taxed so, by its JSON pointer.
    """

    category: str | None
    rate: Decimal | None
    taxable: Decimal = _NOTHING
    given: VatCategory | None = None
    source: str = ""

    @property
    def tax(self) -> Decimal:
        """BT-117: so much tax, rounded to cents."""
        return cents(percent_of(self.taxable, self.rate or _NOTHING))

    def add(self, amount: Decimal, rate: Decimal | None, source: str) -> None:
        """Count an amount; the first rate that is given is the one that is written."""
        self.taxable = total((self.taxable, amount))
        self.source = self.source or source
        self.rate = rate if self.rate is None else self.rate

    def build(self, currency: str) -> model.VatBreakdown:
        """The entry of the invoice. What is not subject to VAT (O) has the rate 0 here, though not on its lines."""
        rate = _NOTHING if self.rate is None and self.category == "O" else self.rate
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
class Sums:
    """The totals (BG-22), named as the fields of `Totals`; and the VAT breakdown, entries that are given first."""

    vat: Sequence[Vat]
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
        extras: Sequence[DocumentAllowanceOrCharge],
        breakdown: Sequence[VatCategory],
        given: Totals,
    ) -> Sums:
        """The sums of lines, and of allowances and charges on the invoice; `given` has what only the seller knows."""
        allowances = [extra.net for extra in extras if not extra.is_charge]
        charges = [extra.net for extra in extras if extra.is_charge]
        return cls(
            vat=_breakdown(lines, extras, breakdown),
            line_net_amount=total(line.net for line in lines),
            allowance_amount=total(allowances) if allowances else None,
            charge_amount=total(charges) if charges else None,
            paid_amount=given.paid_amount,
            rounding_amount=given.rounding_amount,
            vat_amount_in_tax_currency=given.vat_amount_in_tax_currency,
        )

    @property
    def net_amount(self) -> Decimal:
        """BT-109: the lines, less allowances, plus charges."""
        return total((minus(self.line_net_amount, self.allowance_amount or _NOTHING), self.charge_amount or _NOTHING))

    @property
    def vat_amount(self) -> Decimal:
        """BT-110: the VAT of all categories."""
        return total(part.tax for part in self.vat)

    @property
    def gross_amount(self) -> Decimal:
        """BT-112: net and VAT."""
        return total((self.net_amount, self.vat_amount))

    @property
    def due_amount(self) -> Decimal:
        """BT-115: less what is paid, plus the rounding."""
        return total((minus(self.gross_amount, self.paid_amount or _NOTHING), self.rounding_amount or _NOTHING))

    def build(self, currency: str) -> InvoiceTotals:
        """The totals of the invoice."""
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
        """The VAT totals of the invoice: BT-110, and BT-111 where it is given."""
        amounts = [as_amount(self.vat_amount, currency)]
        if tax_currency is not None and self.vat_amount_in_tax_currency is not None:
            amounts.append(as_amount(self.vat_amount_in_tax_currency, tax_currency))
        return [model.TaxTotal(amount=amount) for amount in amounts]


def _breakdown(
    lines: Iterable[Line], extras: Iterable[DocumentAllowanceOrCharge], given: Iterable[VatCategory]
) -> list[Vat]:
    """By category and rate; no rate counts as 0. The entries that the draft gives keep their order, used or not."""
    result: list[Vat] = []
    found: dict[tuple[str | None, Decimal], Vat] = {}
    for entry in given:
        result.append(Vat(entry.tax_category, entry.tax_rate, given=entry))
        found.setdefault((entry.tax_category, entry.tax_rate or _NOTHING), result[-1])
    for source, category, rate, amount in (*_of_lines(lines), *_of_extras(extras)):
        key = category, rate or _NOTHING
        if key not in found:
            result.append(found.setdefault(key, Vat(category, rate)))
        found[key].add(amount, rate, source)
    return result


_Taxed: TypeAlias = Iterator[tuple[str, str | None, Decimal | None, Decimal]]


def _of_lines(lines: Iterable[Line]) -> _Taxed:
    for index, line in enumerate(lines):
        yield f"/lines/{index}", line.tax_category, line.tax_rate, line.net


def _of_extras(extras: Iterable[DocumentAllowanceOrCharge]) -> _Taxed:
    counted = {False: itertools.count(), True: itertools.count()}
    for extra in extras:
        place = f"/{'charges' if extra.is_charge else 'allowances'}/{next(counted[extra.is_charge])}"
        yield place, extra.tax_category, extra.tax_rate, extra.signed


def given_totals(sums: Sums, breakdown: Sequence[VatCategory], totals: Totals) -> Iterator[DraftProblem]:
    """Sums that the draft gives, and that are others than those of its lines."""
    for index, (part, given) in enumerate(zip(sums.vat, breakdown, strict=False)):
        if not part.source:
            yield DraftProblem(
                f"/vat_breakdown/{index}/tax_category",
                en="No line, allowance or charge is taxed in this category at this rate.",
                de="Keine Position, kein Nachlass und kein Zuschlag hat diese Kategorie mit diesem Satz.",
            )
            continue
        for field, expected in (("taxable_amount", part.taxable), ("tax_amount", part.tax)):
            yield from _differing(f"/vat_breakdown/{index}/{field}", expected, getattr(given, field))
    for field in type(totals).model_fields:
        yield from _differing(f"/totals/{field}", getattr(sums, field) or _NOTHING, getattr(totals, field))


def _differing(pointer: str, expected: Decimal, actual: Decimal | None) -> Iterator[DraftProblem]:
    if actual is not None and actual != expected:
        yield DraftProblem.of_amount(pointer, expected=expected, actual=actual)
