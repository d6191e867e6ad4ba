"""Names that expressions of the rule language use in tests, with their types."""

from __future__ import annotations

from einvoice.model.invoice import Invoice, Totals
from einvoice.model.lines import Line, Period
from einvoice.model.money import PaymentMeans, VatBreakdown
from einvoice.model.parties import Seller
from einvoice.model.values import Identifier
from einvoice.rulebook.language import Expression, Where
from einvoice.rulebook.language.python import Writer
from einvoice.rulebook.language.types import NUMBER, Type

HERE = Where("en16931/BR-0.toml", "assert")
NAMES = {
    "invoice": Type(Invoice),
    "totals": Type(Totals),
    "line": Type(Line, group="BG-25", terms=("BG-25",)),
    "vat": Type(VatBreakdown),
    "seller": Type(Seller),
    "means": Type(PaymentMeans),
    "period": Type(Period, group="BG-14"),
    "identifier": Type(Identifier, terms=("BT-29",)),
    "expected": NUMBER,
}


def written(expression: Expression) -> tuple[str, Writer]:
    """Return the Python of an expression, and what wrote it, which knows the globals of that."""
    writer = Writer()
    return writer.write(expression.node), writer
