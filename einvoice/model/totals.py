"""BG-22: document totals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from einvoice.model.group import Group, term, view
from einvoice.model.lines import Line
from einvoice.model.money import AllowanceCharge, TaxTotal
from einvoice.model.values import Amount


class Totals(Group):
    """BG-22: the totals of the invoice. The VAT total is ``Invoice.vat_total``, since a document may have two."""

    groups = ("BG-22",)
    line_net: Amount = term("BT-106")
    allowances: Amount = term("BT-107")
    charges: Amount = term("BT-108")
    net: Amount = term("BT-109")
    gross: Amount = term("BT-112")
    paid: Amount = term("BT-113")
    rounding: Amount = term("BT-114")
    due: Amount = term("BT-115")

    @view("BT-110", "BT-111")
    def tax_totals(self) -> Sequence[TaxTotal]:
        """The VAT totals of the invoice, without those that CII has inside other totals of the invoice."""
        invoice = self.find_invoice()
        if invoice is None:
            return ()
        others = [totals for totals in (invoice.totals, *invoice.totals.more) if totals is not self]
        is_misplaced = len(others) == 1 + len(invoice.totals.more)
        return [it for it in invoice.tax_totals if is_misplaced or not any(it.parent is totals for totals in others)]

    @property
    def is_of_invoice(self) -> bool:
        """Whether the paths of the official rules lead from it to the lines, allowances and charges of the invoice."""
        return self._belongs_to(self.find_invoice())

    @view("BG-20")
    def summed_allowances(self) -> Sequence[AllowanceCharge]:
        """BG-20: the allowances on the invoice; for misplaced totals those with the same parent element."""
        return [it for it in self._allowances_and_charges() if it.is_allowance]

    @view("BG-21")
    def summed_charges(self) -> Sequence[AllowanceCharge]:
        """BG-21: the charges on the invoice; for misplaced totals those with the same parent element."""
        return [it for it in self._allowances_and_charges() if it.is_charge]

    @view("BG-25")
    def summed_lines(self) -> Sequence[Line]:
        """BG-25: the lines of the invoice; for misplaced totals in CII those beside their parent element."""
        invoice = self.find_invoice()
        if invoice is None:
            return ()
        if self._belongs_to(invoice):
            return list(invoice.lines)
        return list(invoice.lines_by_element.get(self.node.getparent().getparent(), ()))

    def _allowances_and_charges(self) -> Sequence[AllowanceCharge]:
        invoice = self.find_invoice()
        if invoice is None:
            return ()
        if self._belongs_to(invoice):
            return cast("Sequence[AllowanceCharge]", invoice.allowances_and_charges)
        return list(invoice.allowances_and_charges_by_element.get(self.node.getparent(), ()))

    def _belongs_to(self, invoice: Any) -> bool:
        if self.node is None or invoice is None:
            return True
        parent = self.node.getparent()
        if invoice.syntax == "UBL":
            return parent is invoice.node
        return parent.getparent() in invoice.tracked.get("transaction", ())
