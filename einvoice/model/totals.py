"""BG-22: what an invoice adds up to."""

from __future__ import annotations

from collections.abc import Sequence

from einvoice.model.group import Group, invoice_of, term, view
from einvoice.model.lines import Line
from einvoice.model.money import AllowanceCharge, TaxTotal
from einvoice.model.values import Amount


class Totals(Group):
    """BG-22: the sums of the invoice. The VAT is ``Invoice.vat_total``, since a document may have two of them."""

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
        """The VAT of the invoice, but not what CII has of it inside other totals of the invoice than these."""
        invoice = invoice_of(self)
        if invoice is None:
            return ()
        beside = [totals for totals in (invoice.totals, *invoice.totals.more) if totals is not self]
        is_astray = len(beside) == 1 + len(invoice.totals.more)
        return [it for it in invoice.tax_totals if is_astray or not any(it.parent is totals for totals in beside)]

    @property
    def is_of_invoice(self) -> bool:
        """Whether a document has them where the official rules find its lines, allowances and charges from them."""
        invoice = invoice_of(self)
        if self.node is None or invoice is None:
            return True
        around = self.node.getparent()
        if invoice.syntax == "UBL":
            return around is invoice.node
        return around.getparent() in invoice.marks.get("transaction", ())

    @view("BG-20")
    def allowances_beside(self) -> Sequence[AllowanceCharge]:
        """BG-20: the allowances on the invoice; for totals astray those that stand beside them."""
        return [it for it in self._beside() if it.is_allowance]

    @view("BG-21")
    def charges_beside(self) -> Sequence[AllowanceCharge]:
        """BG-21: the charges on the invoice; for totals astray those that stand beside them."""
        return [it for it in self._beside() if it.is_charge]

    @view("BG-25")
    def lines_beside(self) -> Sequence[Line]:
        """BG-25: the lines of the invoice; for totals astray in CII those beside the element around them."""
        invoice = invoice_of(self)
        if invoice is None:
            return ()
        if self.is_of_invoice:
            return list(invoice.lines)
        return list(invoice.lines_by_place.get(self.node.getparent().getparent(), ()))

    def _beside(self) -> Sequence[AllowanceCharge]:
        invoice = invoice_of(self)
        if invoice is None:
            return ()
        if self.is_of_invoice:
            return list(invoice.allowances_and_charges)
        return list(invoice.allowances_and_charges_by_place.get(self.node.getparent(), ()))
