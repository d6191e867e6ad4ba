"""Editing an invoice in Python, access by business term, plain data, writing and validating it."""

import copy
import datetime
import json
from decimal import Decimal

import pytest

import einvoice
from einvoice.model.group import Group, terms_of, types_of
from einvoice.model.invoice import Invoice, Note, Totals
from einvoice.model.lines import Line
from einvoice.model.parties import Buyer, Seller
from einvoice.model.terms import terms
from einvoice.model.values import Amount, Binary, Date, Identifier, Text, Value, absent
from tests.helpers.paths import SAMPLES


@pytest.fixture(params=["ubl-invoice.xml", "ubl-credit-note.xml", "cii-invoice.xml"])
def invoice(request):
    return einvoice.read(SAMPLES / request.param)


# ---------------------------------------------------------------- editing


def test_plain_values_become_values_of_the_field():
    invoice = Invoice(number="RE-7", totals=Totals(due=12), seller=Seller(identifiers=["1", Identifier("2")]))
    invoice.issue_date = datetime.date(2026, 5, 4)
    invoice.totals.net = Decimal("1E+1")
    invoice.notes = [Note(text="Danke")]
    assert (invoice.number, invoice.issue_date) == (Identifier("RE-7"), Date("2026-05-04"))
    assert (invoice.totals.due, invoice.totals.net) == (Amount("12"), Amount("10"))
    assert invoice.seller.identifiers == [Identifier("1"), Identifier("2")]
    assert invoice.notes[0].text == Text("Danke")


def test_a_plain_value_keeps_scheme_currency_and_unit(invoice):
    line, due = invoice.lines[0], invoice.totals.due
    unit, currency, scheme = line.quantity.unit, due.attributes, invoice.seller.electronic_address.scheme
    line.quantity, invoice.totals.due = Decimal("2.50"), Decimal("1.00")
    invoice.seller.electronic_address = "mail@example.com"
    assert (line.quantity.raw, line.quantity.unit) == ("2.50", unit)
    assert (invoice.totals.due.raw, invoice.totals.due.attributes) == ("1.00", currency)
    assert invoice.seller.electronic_address.scheme == scheme


def test_a_term_is_removed(invoice):
    del invoice.buyer_reference
    invoice.due_date = absent
    assert invoice.buyer_reference is invoice.due_date is absent


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("number", 7, r"BT-1 \(Invoice number\) must be text \(str\) or an Identifier, not int: Invoice\.number"),
        ("number", None, r"BT-1 .* not NoneType: Invoice\.number; `del` removes"),
        ("number", Text("7"), "BT-1 .* not Text"),
        ("issue_date", 20260504, r"BT-2 \(Invoice issue date\) must be a datetime\.date or text, or a Date, not int"),
        ("issue_date", Decimal(7), "BT-2 .* not Decimal"),
        ("seller", "Gartenbau", r"BG-4 \(Seller\) must be a Seller, not str"),
        ("seller", Buyer(), "BG-4 .* must be a Seller, not Buyer"),
        ("lines", Line(), r"BG-25 \(Invoice line\) must be a list of Line, not Line"),
        ("lines", [Line(), 7], r"BG-25 .* must be a Line, not int: Invoice\.lines\[1\]"),
        ("notes", ["Danke"], r"BG-1 .* must be a Note, not str: Invoice\.notes\[0\]"),
    ],
)
def test_content_of_a_wrong_type_is_rejected(name, content, message):
    invoice = Invoice(number="1")
    before = copy.deepcopy(invoice)
    with pytest.raises(TypeError, match=message):
        setattr(invoice, name, content)
    assert invoice == before
    with pytest.raises(TypeError, match=message):
        Invoice(**{name: content})


@pytest.mark.parametrize("content", [12.5, True, datetime.date(2026, 1, 1)])
def test_an_amount_is_a_decimal(content):
    message = r"BT-115 \(Amount due for payment\) must be a Decimal, int or text, or an Amount, not "
    with pytest.raises(TypeError, match=message + type(content).__name__):
        Totals().due = content


@pytest.mark.parametrize("number", ["NaN", "Infinity"])
def test_an_amount_is_finite(number):
    with pytest.raises(ValueError, match=r"BT-115 .* finite"):
        Totals().due = Decimal(number)


def test_a_file_is_bytes():
    document = einvoice.model.lines.Document()
    document.attachment = b"%PDF"
    assert document.attachment == Binary("JVBERg==")
    assert document.attachment.value == b"%PDF"


def test_a_wrong_name_is_rejected():
    with pytest.raises(AttributeError, match=r"Invoice has no field 'nmber'; did you mean 'number'\?"):
        Invoice().nmber = "x"
    with pytest.raises(TypeError, match=r"Invoice has no field 'nmber'; did you mean 'number'\?"):
        Invoice(nmber="x")
    with pytest.raises(AttributeError, match=r"Seller has no field 'qqq'$"):
        Seller().qqq = "x"
    with pytest.raises(AttributeError, match=r"BT-110 \(Invoice total VAT amount\) is derived from other fields"):
        Invoice().vat_total = Decimal(1)


def test_every_field_rejects_an_object():
    for cls in Group.known.values():
        for name in cls.fields:
            with pytest.raises(TypeError, match="must be"):
                setattr(cls(), name, object())


# ---------------------------------------------------------------- access by term


def test_terms_are_accessed_by_number(invoice):
    assert invoice["BT-1"] is invoice.number
    assert invoice["BT-27"] is invoice.seller.name
    assert invoice["BG-4"] is invoice.seller
    assert invoice["BT-110"] == invoice.vat_total
    assert invoice["BT-7"] is absent
    assert invoice["BG-25"] == list(invoice.lines)
    assert invoice["BT-131"] == [line.net_amount for line in invoice.lines]
    assert invoice["BT-130"] == [line.quantity.unit for line in invoice.lines]
    assert [it.text for it in invoice["BT-118"]] == [it.category.text for it in invoice.vat_breakdown]
    assert invoice["BT-34-1"] == invoice.seller.electronic_address.scheme
    assert invoice["BG-3"] == list(invoice.preceding_invoices)


def test_a_term_is_a_list_where_it_repeats(invoice):
    def repeats(number):
        term = terms()[number]
        return term.cardinality.endswith("n") or (bool(term.parent) and repeats(term.parent))

    for number in terms():
        assert isinstance(invoice[number], list) == isinstance(Invoice()[number], list) == repeats(number)


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("BT-999", "not a business term"),
        ("bt-1", "did you mean 'BT-1'"),
        ("number", r"did you mean 'BT-1'"),
        ("Invoice number", "did you mean 'BT-1'"),
        ("Rechnungsnummer", "did you mean 'BT-1'"),
    ],
)
def test_an_unknown_term_is_a_key_error(key, hint):
    with pytest.raises(KeyError, match=hint):
        Invoice()[key]


def test_an_invoice_is_no_sequence():
    with pytest.raises(TypeError, match="number of a business term"):
        list(Invoice())


# ---------------------------------------------------------------- plain data


def test_plain_data_has_every_value(invoice):
    data = invoice.to_dict()
    assert json.loads(json.dumps(data)) == data
    assert data["number"] == str(invoice.number)
    assert data["issue_date"] == invoice.issue_date.date.isoformat()
    assert data["totals"]["due"] == str(invoice.totals.due.number)
    assert [line["quantity_unit"] for line in data["lines"]] == [line.quantity.unit for line in invoice.lines]
    assert data["seller"]["electronic_address_scheme"] == invoice.seller.electronic_address.scheme
    assert "tax_point_date" not in data
    assert len(list(_texts(data))) >= sum(1 for group in invoice.walk() for it in vars(group).values()
                                          if isinstance(it, Value))  # fmt: skip


def _texts(data):
    if isinstance(data, dict | list):
        for it in data.values() if isinstance(data, dict) else data:
            yield from _texts(it)
    else:
        yield data


def test_plain_data_keeps_invalid_text_and_repetitions():
    number = Identifier("1")
    number.more = [Identifier("2")]
    data = Invoice(number=number, issue_date=Date("soon"), totals=Totals(due=Amount("1,5"))).to_dict()
    assert data == {"number": "1", "number_more": ["2"], "issue_date": "soon", "totals": {"due": "1,5"}}


def test_names_of_plain_data_are_unambiguous():
    suffixes = ("scheme", "list_id", "unit", "currency", "mime", "filename", "more")
    for cls in Group.known.values():
        assert not {f"{name}_{suffix}" for name in cls.fields for suffix in suffixes} & set(cls.fields)


# ---------------------------------------------------------------- writing


def test_an_edited_invoice_is_written_in_its_syntax(invoice, tmp_path):
    invoice.issue_date = datetime.date(2026, 5, 6)
    invoice.deliveries[0].date = absent if not invoice.deliveries else datetime.date(2026, 5, 1)
    invoice.totals.rounding = Decimal("0.00")
    assert invoice.write(tmp_path / "a.xml") is None
    again = einvoice.read(tmp_path / "a.xml")
    assert (again.syntax, again.root) == (invoice.syntax, invoice.root)
    assert again.issue_date.date == datetime.date(2026, 5, 6)
    assert again.totals.rounding.number == 0
    assert einvoice.validate(tmp_path / "a.xml").is_valid
    assert (tmp_path / "a.xml").read_bytes() == invoice.write() == einvoice.write(invoice)


def test_an_invoice_is_written_in_the_syntax_requested(invoice):
    for syntax, roots in (("UBL", ("Invoice", "CreditNote")), ("CII", ("CrossIndustryInvoice",))):
        again = einvoice.read(invoice.write(syntax=syntax))
        assert (again.syntax, again.root in roots) == (syntax, True)
        assert again.number == invoice.number
    assert einvoice.read(Invoice(type_code="381").write()).root == "CreditNote"
    assert einvoice.read(Invoice(type_code="380").write()).root == "Invoice"


def test_writing_says_what_is_wrong(invoice):
    with pytest.raises(ValueError, match="syntax 'ubl' is unknown; valid are 'UBL' and 'CII'"):
        invoice.write(syntax="ubl")
    with pytest.raises(LookupError, match="unknown root element 'Invoce'; valid are 'Invoice', 'CreditNote'"):
        einvoice.write(invoice, "Invoce")
    with pytest.raises(TypeError, match=r"needs an Invoice, not str; einvoice\.read reads one"):
        einvoice.write("invoice.xml")


# ---------------------------------------------------------------- validating


def test_an_invoice_is_validated(invoice):
    assert einvoice.validate(invoice).is_valid
    result = einvoice.validate(invoice, lang="en")
    assert result.identity.syntax == invoice.syntax
    assert result.document.data == invoice.write()
    invoice.totals.due = Decimal("1.00")
    (finding,) = einvoice.validate(invoice, lang="en").errors
    assert finding.code == "BR-CO-16"
    line = invoice.write().decode().splitlines()[finding.line - 1]
    assert "1.00" in line
    assert "PayableAmount" in line or "DuePayable" in line


def test_an_invoice_made_in_python_is_validated_as_ubl():
    result = einvoice.validate(Invoice(number="1"))
    assert (result.identity.syntax, result.identity.root, result.is_valid) == ("UBL", "Invoice", False)
    assert result.invoice.number == Identifier("1")


def test_types_and_terms_of_fields_are_known():
    for cls in Group.known.values():
        for name in cls.fields:
            assert name in types_of(cls)
            terms_of(cls, name)
