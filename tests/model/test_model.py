"""The groups of the invoice model, and the names of its business terms."""

import copy
import pickle
import pydoc
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given

from einvoice.model.group import Group, terms_of, types_of
from einvoice.model.invoice import Invoice, Note
from einvoice.model.lines import Document, Line
from einvoice.model.money import LineAllowanceCharge
from einvoice.model.parties import (
    BuyerAddress,
    Payee,
    Seller,
    SellerAddress,
    SellerTaxRegistration,
    TaxRepresentative,
    TaxRepresentativeTaxRegistration,
)
from einvoice.model.terms import Term, name, path_of, section, term, terms
from einvoice.model.values import Amount, Code, Identifier, Text, Value, absent
from tests.helpers.properties import examples
from tests.helpers.strategies import invoices

# ---------------------------------------------------------------- groups


def test_a_group_is_built_by_keyword_with_known_names() -> None:
    note = Note(text=Text("Danke"))
    assert note.text == Text("Danke")
    assert note.subject_code is absent
    assert note.more == ()
    with pytest.raises(TypeError, match="'txt'"):
        Note(txt=Text("Danke"))  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Note(Code("ADU"))  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'vat_total'"):
        Invoice(vat_total=Amount("1"))  # type: ignore[call-arg]  # a view is no field


def test_a_group_made_without_its_constructor_is_equal() -> None:
    bare = Invoice.__new__(Invoice)
    assert bare == Invoice()
    assert bare.lines == ()
    assert bare.seller is absent
    bare.number = Identifier("1")
    assert bare == Invoice(number=Identifier("1")) != Invoice()


def test_groups_are_equal_by_class_and_content() -> None:
    note = Note(text=Text("a"))
    assert Invoice(notes=[note]) == Invoice(notes=(Note(text=Text("a")),))
    assert Invoice(notes=[]) == Invoice()
    assert Invoice(notes=[note]) != Invoice(notes=[note, note])
    assert SellerAddress(city=Text("Köln")) != BuyerAddress(city=Text("Köln"))
    assert Note(text=Text("a")) != Note(text=Text("b"))
    assert Note(text=Text("a")) != Note()
    assert Note(text=Text("a")) != "a"


def test_further_occurrences_and_the_source_of_a_group() -> None:
    address, twin = SellerAddress(), SellerAddress()
    twin.__dict__.update(node=object(), parent=object())
    assert twin == address  # where it stood is not what it says
    twin.more = [SellerAddress()]
    assert twin != address


def test_groups_are_not_hashable() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(Note())


@pytest.mark.slow
@examples(25)
@given(invoices())
def test_an_invoice_survives_copying_and_pickling(invoice: Invoice) -> None:
    assert copy.deepcopy(invoice) == pickle.loads(pickle.dumps(invoice)) == invoice


@pytest.mark.slow
@given(invoices())
def test_walk_yields_every_group_once_in_model_order(invoice: Invoice) -> None:
    met = list(invoice.walk())
    assert met[0] is invoice
    assert len({id(group) for group in met}) == len(met)
    inner = [group for content in vars(invoice).values() for group in _groups_in(content)]
    assert sorted(map(id, inner)) == sorted(id(group) for group in met[1:])
    top = [id(invoice.seller), *map(id, invoice.lines)]
    order = [id(group) for group in met if id(group) in top]
    assert order == [place for place in top if place != id(absent)]


def _groups_in(content: Any) -> Iterator[Group]:
    for item in content if isinstance(content, list) else [content]:
        if isinstance(item, Group):
            yield item
            for inner in vars(item).values():
                yield from _groups_in(inner)


def test_the_repr_of_a_group_has_its_content() -> None:
    assert repr(Invoice(number=Identifier("1"), notes=[Note(text=Text("a"))])) == (
        "Invoice(number=Identifier('1'), notes=[Note(text=Text('a'))])"
    )


# ---------------------------------------------------------------- views


def _extras(*indicators: str) -> list[LineAllowanceCharge]:
    return [LineAllowanceCharge(indicator=Code(it), amount=Amount(str(i))) for i, it in enumerate(indicators)]


def test_the_indicator_divides_allowances_from_charges() -> None:
    line = Line(allowances_and_charges=[*_extras("false", "true", "0", "1", "FALSE", ""), LineAllowanceCharge()])
    assert [it.amount.raw for it in line.allowances] == ["0", "2"]
    assert [it.amount.raw for it in line.charges] == ["1", "3"]


def test_the_invoiced_object_is_the_document_of_type_130() -> None:
    documents = [
        Document(identifier=Identifier("time sheet"), type_code=Code("916")),
        Document(identifier=Identifier("untyped")),
        Document(identifier=Identifier("meter 7", {"schemeID": "AVE"}), type_code=Code("130")),
    ]
    assert Invoice(documents=documents).invoiced_object == Identifier("meter 7", {"schemeID": "AVE"})
    assert Invoice(documents=documents[:2]).invoiced_object is absent


def _registered(*numbers: str, scheme: str = "VAT") -> list[SellerTaxRegistration]:
    return [SellerTaxRegistration(identifier=Identifier(it), scheme=Code(scheme)) for it in numbers]


def test_the_supplier_country_is_that_of_a_vat_identifier_or_else_of_the_address() -> None:
    greek = SellerAddress(country_code=Code(" gr "))
    representative = TaxRepresentative(tax_registrations=[
        TaxRepresentativeTaxRegistration(identifier=Identifier("EL094259216"), scheme=Code("VAT"))
    ])  # fmt: skip
    assert Invoice().supplier_country == ""
    assert Invoice(seller=Seller(address=greek)).supplier_country == "GR"
    assert Invoice(seller=Seller(address=greek), tax_representative=representative).supplier_country == "EL"
    for registrations, country in (
        (_registered("no974760673MVA"), "NO"),
        (_registered("DK16356706", scheme="vat"), "GR"),
        (_registered("DK16356706", "NO974760673MVA"), ""),
        (_registered(""), "GR"),
    ):
        seller = Seller(address=greek, tax_registrations=registrations)
        assert Invoice(seller=seller).supplier_country == seller.vat_country == country


def test_a_party_with_two_country_codes_is_in_no_country() -> None:
    code = Code("DK")
    assert Seller(address=SellerAddress(country_code=code)).country == "DK"
    code.more = [Code("SE")]
    assert Seller(address=SellerAddress(country_code=code)).country == ""
    assert Seller().country == TaxRepresentative().country == ""


def test_party_numbers_are_those_of_all_parties() -> None:
    seller = Seller(electronic_address=Identifier("1"), legal_identifier=Identifier("2"))
    seller.tax_registrations = _registered("3")
    payee = Payee(identifiers=[Identifier("4"), Identifier("5")])
    numbers = Invoice(number=Identifier("R"), seller=seller, payee=payee).party_numbers
    assert [number.raw for number in numbers] == ["1", "2", "3", "4", "5"]


# ---------------------------------------------------------------- terms

NORM = {f"BG-{n}" for n in range(1, 33)} | {f"BT-{n}" for n in range(1, 166) if n != 4}  # BT-4 was never given
EXTENSION = {f"BG-DEX-0{n}" for n in range(1, 10)} | {f"BT-DEX-00{n}" for n in range(1, 4)}
#: Terms that are an attribute of another: those with a number below a number, and the two units of measure.
ATTRIBUTES_OF = {number: number[:-2] for number in terms() if number[-2] == "-" and number.count("-") == 2}
BESIDE = ATTRIBUTES_OF | {"BT-130": "BT-129", "BT-150": "BT-149"}
every_term = pytest.mark.parametrize("number", list(terms()))


def test_the_table_has_every_term_of_standard_and_extension() -> None:
    assert set(terms()) == NORM | EXTENSION | set(ATTRIBUTES_OF)
    assert all(number == entry.number for number, entry in terms().items())


@every_term
def test_a_term_has_all_columns(number: str) -> None:
    entry = term(number)
    assert entry.cardinality in ("0..1", "1..1", "0..n", "1..n")
    assert (entry.datatype == "Group") == number.startswith("BG-")
    names = [name(number, lang) for lang in ("de", "en")]
    assert len(set(names)) == 2
    for text in names:
        assert text == text.strip()
        assert text[0].isupper()
    ancestors = list(_ancestors(entry))
    assert all(group.datatype == "Group" for group in ancestors)
    assert entry not in ancestors
    if number in BESIDE:
        assert term(BESIDE[number]).parent == entry.parent


def _ancestors(entry: Term) -> Iterator[Term]:
    while entry.parent:
        entry = term(entry.parent)
        yield entry


def test_names_are_unique_within_a_group() -> None:
    for language, shared in (("de", set[str]()), ("en", {"Invoice note", "Preceding Invoice reference"})):
        names = [name(number, language) for number in terms()]
        # The norm itself calls two groups like the term in them, but for the capitals.
        assert {text for text in names if names.count(text) > 1} == shared


@pytest.mark.parametrize("ask", [term, path_of, lambda n: name(n, "de"), lambda n: section(n, "en")])
@pytest.mark.parametrize("number", ["BT-4", "BT-166", "BG-33", "bt-1", "BT-1 ", "BR-01"])
def test_an_unknown_term(ask: Callable[[str], Any], number: str) -> None:
    with pytest.raises(LookupError, match=number):
        ask(number)


@pytest.mark.parametrize("ask", [name, section])
def test_a_name_falls_back_to_english(ask: Callable[[str, str], str]) -> None:
    assert ask("BT-1", "xx") == ask("BT-1", "en") != ask("BT-1", "de")


@pytest.mark.parametrize(
    ("number", "german", "english"),
    [
        ("", "Kopfdaten", "Header"),
        ("BT-1", "Kopfdaten", "Header"),
        ("BT-22", "Kopfdaten", "Header"),
        ("BG-4", "Verkäufer", "Seller"),
        ("BT-34-1", "Verkäufer", "Seller"),
        ("BT-43", "Verkäufer", "Seller"),
        ("BT-55", "Käufer", "Buyer"),
        ("BT-60", "Zahlungsempfänger", "Payee"),
        ("BT-69", "Steuervertreter", "Tax representative"),
        ("BT-73", "Lieferung", "Delivery"),
        ("BT-91", "Zahlung", "Payment"),
        ("BT-96", "Nachlässe und Zuschläge", "Allowances and charges"),
        ("BT-104", "Nachlässe und Zuschläge", "Allowances and charges"),
        ("BT-110", "Summen", "Totals"),
        ("BT-121", "Umsatzsteuer", "VAT"),
        ("BT-125-2", "Anhänge", "Attachments"),
        ("BT-152", "Positionen", "Lines"),
        ("BG-DEX-08", "Positionen", "Lines"),
        ("BT-DEX-002", "Fremdforderungen", "Third-party payments"),
    ],
)
def test_the_section_of_a_term(number: str, german: str, english: str) -> None:
    assert section(number, "de") == german
    assert section(number, "en") == english


# ---------------------------------------------------------------- terms and model


class Place:
    """Follow a path: field, class of the field, class of its content, number of list steps."""

    def __init__(self, path: str) -> None:
        self.holder: type[Group] = Invoice
        self.field = ""
        self.kind: type[Any] = Invoice
        self.forks = 0
        for step in path.split("."):
            if issubclass(self.kind, Group):
                self.holder, self.field = self.kind, step
                self.kind, many = types_of(self.kind)[step]
                self.forks += many
            else:
                assert isinstance(getattr(self.kind, step), property)
                self.kind = str


def _classes(cls: Any = Invoice, known: frozenset[Any] = frozenset()) -> frozenset[Any]:
    """Return all group classes that can be reached from ``cls``."""
    if not issubclass(cls, Group) or cls in known:
        return known
    known |= {cls}
    for kind, _ in types_of(cls).values():
        if isinstance(kind, type):
            known = _classes(kind, known)
    return known


NUMBERED = [
    pytest.param(cls, field, number, id=f"{cls.__name__}.{field}-{number}")
    for cls in sorted(_classes(), key=lambda cls: cls.__name__)
    for field in types_of(cls)
    for number in terms_of(cls, field)
    if number
]


@every_term
def test_a_path_leads_to_a_field_of_that_term_and_cardinality(number: str) -> None:
    place = Place(path_of(number))
    assert (place.kind is str) == (number in BESIDE)
    assert BESIDE.get(number, number) in terms_of(place.holder, place.field)
    several = [it for it in (term(number), *_ancestors(term(number))) if it.cardinality.endswith("n")]
    assert place.forks >= len(several)  # the model may keep several where the norm has one, never the other way


@pytest.mark.parametrize(("cls", "field", "number"), NUMBERED)
def test_a_field_has_the_type_of_its_term(cls: type[Group], field: str, number: str) -> None:
    kind: Any
    kind, _ = types_of(cls)[field]
    datatype = term(number).datatype
    if kind is Text and len({term(it).datatype for it in terms_of(cls, field)}) > 1:
        return  # a text that is composed of several terms
    if issubclass(kind, Value):
        assert kind.datatype == {"Document reference": "Identifier"}.get(datatype, datatype)
    elif datatype == "Group":
        assert number in kind.groups or number in EXTENSION
    elif kind is str:  # the text of a code
        assert datatype == "Code"
    else:  # a group that serves one term
        assert any(number in terms_of(kind, inner) for inner in kind.fields)


def test_every_group_is_a_group_of_the_standard() -> None:
    named = {number for cls in _classes() for number in cls.groups}
    assert named - {"BG-0"} <= set(terms())
    assert {f"BG-{n}" for n in range(1, 33)} <= named
    for cls in _classes():
        assert set(cls.numbers) <= set(types_of(cls))


def test_help_names_the_business_terms_of_the_fields() -> None:
    text = pydoc.plain(pydoc.render_doc(Invoice))
    assert "due_date: BT-9 Payment due date" in text
    assert "vat_total: BT-110 Invoice total VAT amount" in text
