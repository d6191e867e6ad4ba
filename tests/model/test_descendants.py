"""Groups of an invoice by class: those that the reader collects are those of the model."""

from __future__ import annotations

import pytest

from einvoice.model.descendants import descendants_of
from einvoice.model.location import NAMESPACES
from einvoice.syntax.mapping.tables import table_of
from einvoice.syntax.reader import ElementCollector, read
from einvoice.syntax.states import element_states
from einvoice.syntax.xml import parse

_DECLARED = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items())
_SUB_LINES = (
    "<cac:InvoiceLine><cac:Price/><cac:SubInvoiceLine><cac:Price/></cac:SubInvoiceLine></cac:InvoiceLine>"
    "<cac:InvoiceLine/>"
)
_REPEATED = "<cac:PayeeParty/><cac:PayeeParty/><cac:LegalMonetaryTotal/><cac:LegalMonetaryTotal/>"
_MISPLACED = "<cac:Signature><cac:Item><cac:ClassifiedTaxCategory/></cac:Item></cac:Signature><cac:Price/>"
DOCUMENTS = {
    "sub-lines": (_SUB_LINES, {"Line": 3, "Price": 2}),
    "repeated groups": (_REPEATED, {"Payee": 2, "Totals": 2}),
    "misplaced groups": (_MISPLACED, {"LineTax": 1}),
    "both kinds of lines": ("<cac:CreditNoteLine/><cac:InvoiceLine/>", {"Line": 2}),
    "no groups": ("", {"Invoice": 1}),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_reader_collects_all_groups_of_the_model(name: str) -> None:
    content, expected = DOCUMENTS[name]
    root = parse(f"<ubl:Invoice {_DECLARED}>{content}</ubl:Invoice>".encode()).getroot()
    collector = ElementCollector(element_states(table_of(root.tag).syntax))
    invoice = read(root, collector)
    of_model, of_reader = descendants_of(invoice), descendants_of(invoice, collector.groups)
    assert {cls: len(of_reader(cls, ())) for cls in expected} == expected
    for cls in ("Invoice", "Line", "Price", "LineTax", "TaxCategory", "Payee", "Party", "Totals"):
        assert sorted(map(id, of_reader(cls, ()))) == sorted(map(id, of_model(cls, ()))), cls
