"""Binding tables, checked with the XML schemas, with real documents and with generated invoices."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from einvoice.model.group import Group, terms_of, types_of
from einvoice.model.invoice import Invoice, Totals
from einvoice.model.lines import Item
from einvoice.model.location import NAMESPACES
from einvoice.model.money import PaymentMeans
from einvoice.model.parties import Delivery
from einvoice.model.values import Value, absent
from einvoice.syntax.mapping.binding import Row, qualified
from einvoice.syntax.mapping.tables import table
from einvoice.syntax.reader import read
from einvoice.syntax.schema import violations
from einvoice.syntax.schema.content_model import ContentModels
from einvoice.syntax.schema.d16b import added_later
from einvoice.syntax.schema.files import SchemaFiles
from einvoice.syntax.writer import write
from einvoice.syntax.xml import parse
from tests.cases import corpus
from tests.helpers.converted import read_again
from tests.helpers.properties import examples
from tests.helpers.strategies import invoices

ROOTS = {"Invoice": "UBL", "CreditNote": "UBL", "CrossIndustryInvoice": "CII"}


def contents(group: Group) -> Iterator[Any]:
    """Yield the direct groups and values of ``group``, further occurrences included."""
    for name in group.fields:
        content = getattr(group, name)
        if content is absent or name == "more":
            continue
        for item in (content,) if isinstance(content, Group | Value) else content:
            yield item
            yield from item.more


# ---------------------------------------------------------------- XML schemas


class Place(NamedTuple):
    """An element of a table, and the rows below it."""

    path: str
    type: str
    owner: type[Group]
    above: type[Group]
    rows: tuple[Row, ...]


@cache
def models(root: str) -> ContentModels:
    files = SchemaFiles(root)
    files.compile()
    return ContentModels(files.documents().values(), added_later())


def places(root: str) -> Iterator[Place]:
    """Yield all elements that the table has for ``root``, parents first."""
    syntax = ROOTS[root]
    prefix = {"Invoice": "ubl", "CreditNote": "cn", "CrossIndustryInvoice": "rsm"}[root]
    top = models(root).type_of(etree.Element(qualified(f"{prefix}:{root}")))
    assert top
    bound = table(syntax)
    yield from _places(root, Place(root, top, bound.model, bound.model, bound.rows))


def _places(root: str, place: Place) -> Iterator[Place]:
    yield place
    for row in place.rows:
        if row.root not in (None, root) or row.attribute or not row.rows:
            continue
        kind = place.owner
        if row.field:
            kind = types_of(place.above if row.of_parent else place.owner)[row.field][0]
        inner = place.type
        for step in row.path:
            inner = _type_below(root, inner, step)
        name = "/".join((place.path, *(etree.QName(step).localname for step in row.path)))
        yield from _places(root, Place(name, inner, kind, place.owner if row.field else place.above, row.rows))


def _type_below(root: str, kind: str, tag: str) -> str:
    model = models(root)
    found = model._children.get(kind, {}).get(tag) or model._globals.get(tag)
    assert found, f"the schema does not know {tag} in {kind}"
    return found


def steps(place: Place, root: str) -> list[tuple[str, Row]]:
    """Return the children of a place in the order of the table."""
    return [(row.path[0], row) for row in place.rows if row.root in (None, root) and row.path and not row.attribute]


@pytest.mark.parametrize("root", ROOTS)
def test_rows_are_in_the_order_of_the_schema(root: str) -> None:
    for place in places(root):
        order = [particle.tag for particle in models(root)._sequences.get(place.type, ())]
        written = [order.index(tag) for tag, _ in steps(place, root)]
        assert written == sorted(written), place.path


@pytest.mark.parametrize("root", ROOTS)
def test_mandatory_elements_of_the_schema_are_in_the_table(root: str) -> None:
    for place in places(root):
        known = {tag for tag, _ in steps(place, root)}
        demanded = {p.tag for p in models(root)._sequences.get(place.type, ()) if p.min_occurs}
        assert demanded <= known, place.path


#: Terms that CII allows once and the standard or UBL several times; the placement keeps the first.
ONE_IN_CII = {(Invoice, "deliveries"), (Invoice, "periods"), (Invoice, "preceding_invoices"), ("Line", "periods")}


@pytest.mark.parametrize("root", ROOTS)
def test_repeatable_fields_are_repeatable_in_the_schema(root: str) -> None:
    single = set()
    for place in places(root):
        most = {particle.tag: particle.max_occurs for particle in models(root)._sequences.get(place.type, ())}
        for tag, row in steps(place, root):
            holder = place.above if row.of_parent else place.owner
            inner = row.path[1:] and models(root)._sequences.get(_type_below(root, place.type, tag), ())
            repeated_inside = any(p.max_occurs is None for p in inner or () if p.tag == row.path[-1])
            if row.field and types_of(holder)[row.field][1] and most[tag] is not None and not repeated_inside:
                single.add((holder if holder is Invoice else holder.__name__, row.field))
    assert single == (ONE_IN_CII if root == "CrossIndustryInvoice" else set())


@pytest.mark.parametrize("syntax", ["UBL", "CII"])
def test_every_term_has_a_place(syntax: str) -> None:
    """Each field with a business term is bound, or is moved by the placement."""
    bound = {pair for root, of in ROOTS.items() if of == syntax for pair in bound_fields(root)}
    kinds = {kind for kind, _ in bound}
    missing = {
        f"{kind.__name__}.{name}"
        for kind in kinds
        for name in kind.fields
        if (kind, name) not in bound and terms_of(kind, name)
    }
    assert missing == ELSEWHERE[syntax]


#: Fields with a business term that the syntax has at another place, or (the last three in CII) does not have.
ELSEWHERE = {
    "UBL": {
        "Invoice.remittance_information",
        "Invoice.creditor_identifier",
        "Note.subject_code",
        "Seller.global_identifiers",
        "Buyer.global_identifiers",
        "Payee.global_identifiers",
        "SellerContact.department",
        "BuyerContact.department",
        "Delivery.global_location_identifier",
        "CreditTransfer.proprietary_identifier",
        "PaymentTerms.due_date",
        "PaymentTerms.mandate_reference",
        "VatBreakdown.tax_point_date",
        "VatBreakdown.tax_point_code",
        "Document.reference_type",
        "LineDocument.reference_type",
        "Line.gross_price",
    },
    "CII": {
        "Invoice.tax_point_date",
        "Invoice.due_date",
        "Invoice.tender",
        "PaymentMeans.remittance_information",
        "PaymentMeans.due_date",
        "DirectDebit.mandate_reference",
        "Period.tax_point_code",
        "Price.allowances",
        "Line.lines",
        "Invoice.third_party_payments",
    },
}


# ---------------------------------------------------------------- real documents


def schema_valid_cases() -> list[tuple[str, bytes]]:
    cases = corpus.cases(*corpus.GENERAL, *corpus.BESIDE)
    return [(case["case"], data) for case, data in cases if case["xsd"]]


@pytest.mark.cases
@pytest.mark.parametrize("part", range(8))
def test_real_documents_survive_a_round_trip(part: int) -> None:
    """The written document is schema-valid and reads as the same invoice."""
    for case, data in schema_valid_cases()[part::8]:
        invoice = read_again(data)
        document = write(invoice, invoice.root)
        assert read_again(document) == invoice, case
        # Only where the file repeats an element that wraps single terms do these terms share one.
        broken = violations(parse(document), invoice.root)
        assert {violation.code for violation in broken} <= {"SCHEMA-REPEATED-ELEMENT"}, case


@pytest.mark.cases
def test_all_content_of_valid_documents_is_mapped() -> None:
    generated = [it for it in corpus.unedited() if it[0].get("level") != "extended"]
    for case, data in (*generated, *corpus.cases("xrechnung-testsuite")):
        invoice = read_again(data)
        assert not invoice.unmapped, case["case"]
        assert not invoice.misplaced, case["case"]


@pytest.mark.cases
def test_every_xpath_selects_its_node() -> None:
    for case, data in schema_valid_cases()[::10]:
        root = parse(data).getroot()
        invoice = read(root)
        misplaced = [group for kind in invoice.misplaced.values() for group in kind]
        for group in (inner for top in (invoice, *misplaced) for inner in top.walk()):
            for item in (group, *contents(group)):
                found = root.xpath(item.xpath, namespaces=NAMESPACES)
                if getattr(item, "attribute", None):
                    assert [str(text) for text in found] == [item.raw], (case, item.xpath)
                else:
                    assert found == [item.node], (case, item.xpath)


# ---------------------------------------------------------------- generated invoices


@cache
def bound_fields(root: str) -> frozenset[tuple[type[Group], str]]:
    """Return the fields that documents of ``root`` can contain, each with its group."""
    found = set()
    for place in places(root):
        for row in place.rows:
            if row.field and row.root in (None, root):
                found.add((place.above if row.of_parent else place.owner, row.field))
    return frozenset(found)


@cache
def bound_in_attributes(root: str) -> dict[type[Group], tuple[str, str, str]]:
    """Return groups with a term in an attribute: field, attribute, and field of the element."""
    return {
        place.owner: (row.field, row.attribute, carrier.field)
        for place in places(root)
        for row in place.rows
        for carrier in place.rows
        if row.field and row.attribute and carrier.field and carrier.path == row.path and not carrier.attribute
    }


@cache
def bound_in_groups(root: str) -> set[tuple[type[Group], str]]:
    """Return the fields for the text of a group's own element."""
    return {(place.owner, row.field) for place in places(root) for row in place.rows if row.field and not row.path}


@cache
def any_invoice(root: str) -> st.SearchStrategy[Invoice]:
    """Generate invoices that documents of ``root`` can contain, as the reader returns them."""

    def allowed(cls: type[Group], field: str) -> bool:
        return (cls, field) in bound_fields(root)

    def required(cls: type[Group], field: str) -> bool:
        return (cls, field) in bound_in_groups(root)  # an empty element has an empty text

    def repeated(cls: type[Group], field: str) -> bool:
        single = (cls, field) in CARRIED or field in bound_in_attributes(root).get(cls, ())
        return issubclass(types_of(cls)[field][0], Value) and not required(cls, field) and not single

    return invoices(allowed, required=required, repeated=repeated, syntax=ROOTS[root]).map(
        lambda invoice: as_if_read(invoice, root)
    )


ELEMENT = etree.Element("any")


def _values(group: Group) -> Iterator[Value]:
    """Yield the values of a group, with their further occurrences."""
    for name in group.fields:
        content = getattr(group, name)
        for item in content if isinstance(content, list | tuple) else (content,):
            if isinstance(item, Value):
                yield from (item, *item.more)


#: Terms inside another group than their own.
CARRIED = {(Invoice, "despatch_advice"), (Invoice, "receiving_advice"), (PaymentMeans, "service_provider")}


def as_if_read(invoice: Invoice, root: str) -> Invoice:
    """Add the elements that contain a term of the parent group, and give each value an element of a document."""
    invoice.__dict__["root"] = root
    for group in invoice.walk():
        for value in _values(group):
            value.node = ELEMENT
        if type(group) in bound_in_attributes(root):
            _carry(group, *bound_in_attributes(root)[type(group)])
    if root == "CrossIndustryInvoice":
        invoice.deliveries = [*invoice.deliveries, Delivery()][:1]
        if invoice.tax_totals and invoice.totals is absent:
            invoice.totals = Totals()
    else:
        if not invoice.tax_totals:
            invoice.vat_breakdown = ()
        for means in invoice.payment_means:
            if means.credit_transfer is absent:
                means.service_provider = absent
    for line in (group for group in invoice.walk() if hasattr(group, "taxes") and hasattr(group, "item")):
        if line.item is absent and root != "CrossIndustryInvoice":
            line.item = Item()
    return invoice


def _carry(group: Any, field: str, attribute: str, carrier: str) -> None:
    """Set the term in ``field`` and the attribute of its element to the same text."""
    value, term = getattr(group, carrier), getattr(group, field)
    if value is absent or term is absent:
        setattr(group, field, absent)
        if value is not absent:
            value.attributes = {}
    else:
        value.attributes = {attribute: term.raw}
        term.attributes = {}


@pytest.mark.slow
@pytest.mark.parametrize("root", ROOTS)
@examples(60, deadline=None)
@given(data=st.data())
def test_any_invoice_survives_a_round_trip(root: str, data: st.DataObject) -> None:
    invoice = data.draw(any_invoice(root))
    again = read_again(write(invoice, root))
    assert again == invoice
    assert not again.unmapped
    assert not again.misplaced
