"""Reading drafts: required fields, defaults, and all errors with their JSON pointers."""

import copy
import io
import json
import pickle
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain import REQUIRED, draft, errors, line

import einvoice
from einvoice.draft import read
from einvoice.draft.fields.types import decimals


def pointers(content):
    return [problem.pointer for problem in errors(content).errors]


def amended(content, pointer, value):
    content = copy.deepcopy(content)
    *path, last = [int(step) if step.isdigit() else step for step in pointer.split("/")[1:]]
    place = content
    for step in path:
        place = place[step]
    place[last] = value
    return content


# ---------------------------------------------------------------- what is required, what is assumed


def test_as_little_as_that_is_a_draft():
    known = read(draft())
    invoice = known.invoice()
    assert (known.currency, known.type_code, known.declared_profile) == ("EUR", "380", "XRECHNUNG")
    assert invoice.business_process.text == "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"
    assert invoice.specification.text.endswith("xrechnung_3.0")
    assert invoice.lines[0].identifier.text == "1"
    assert invoice.lines[0].quantity.unit == "C62"


@pytest.mark.parametrize("given", [None, "", "  "])
@pytest.mark.parametrize("pointer", REQUIRED)
def test_what_is_required(pointer, given):
    assert pointers(amended(draft(), pointer, given)) == [pointer]


def test_nothing_else_is_required():
    content = draft(buyer_reference=None, payment={"iban": ""}, seller={"name": "A", "country_code": "DE", "city": " "})
    assert read(content).invoice() == read(draft(payment={})).invoice()


def test_an_invoice_needs_a_line():
    assert pointers(draft(lines=[])) == ["/lines"]


def test_under_en16931_no_business_process_is_assumed():
    invoice = read(draft(profile="EN16931")).invoice()
    assert invoice.specification.text == "urn:cen.eu:en16931:2017"
    assert not invoice.business_process


@pytest.mark.parametrize(
    ("seller", "vat", "tax"),
    [
        ({"tax_id": "DE123456789"}, "DE123456789", ""),
        ({"tax_id": "EL123456789"}, "EL123456789", ""),
        ({"tax_id": "29/123/45678"}, "", "29/123/45678"),
        ({"tax_id": "Steuernummer 29"}, "", "Steuernummer 29"),
        ({"tax_id": "ie 1234567wa"}, "ie 1234567wa", ""),
        ({"tax_id": "QQ123456789"}, "", "QQ123456789"),
        ({"tax_id": "DE123456789", "tax_number": "29/1"}, "DE123456789", "29/1"),
        ({"tax_id": "29/1", "vat_id": "DE123456789"}, "DE123456789", "29/1"),
        ({}, "", ""),
    ],
)
def test_a_tax_id_with_a_country_is_for_vat(seller, vat, tax):
    seller = read(draft(seller={"name": "A", "country_code": "DE", **seller})).invoice().seller
    assert (str(seller.vat_identifier or ""), str(seller.tax_number or "")) == (vat, tax)


@pytest.mark.parametrize("twice", [{"tax_id": "DE123", "vat_id": "DE123"}, {"tax_id": "29/1", "tax_number": "29/2"}])
def test_the_same_kind_of_number_twice(twice):
    assert pointers(draft(seller={"name": "A", "country_code": "DE", **twice})) == [f"/seller/{[*twice][1]}"]


# ---------------------------------------------------------------- where a draft may come from


def test_sources(tmp_path):
    content = draft(lines=[line(quantity=Decimal("0.1"))])
    text = json.dumps(draft(lines=[line(quantity=0.1)]))
    path = tmp_path / "draft.json"
    path.write_text(text, encoding="utf-8-sig")
    expected = read(content)
    for source in (text, text.encode(), " \n" + text, path, str(path), io.BytesIO(text.encode()), expected):
        assert read(source) == expected
    assert read(content, format="CII").format == "CII"
    assert read(expected, format="CII").root == "CrossIndustryInvoice"
    with pytest.raises(einvoice.DraftError, match="/format"):
        read(expected, format="ODF")
    without = {key: value for key, value in content.items() if key != "format"}
    assert read(without, format="CII").format == "CII"
    with pytest.raises(TypeError, match="int"):
        read(3)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.json")


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=6))
def test_numbers_are_exact_as_text_and_as_numbers(number):
    text = f"{number:f}"
    as_text = read(json.dumps(draft(lines=[line(quantity=text)])))
    as_number = read(json.dumps(draft()).replace('"1", "unit_price"', f'{text}, "unit_price"'))
    assert as_text.lines[0].quantity == as_number.lines[0].quantity == number
    assert as_text.invoice().lines[0].quantity.number == number


@pytest.mark.parametrize(
    ("given", "written"),
    [("5", "5.00"), (5, "5.00"), ("1e2", None), (1e2, "100.00"), ("0.125", "0.125"), (0.1, "0.10")],
)
def test_prices(given, written):
    content = draft(lines=[line(unit_price=given)])
    if written is None:
        assert pointers(content) == ["/lines/0/unit_price"]
    else:
        assert read(content).invoice().lines[0].price.net.raw == written


def test_a_zero_has_no_sign():
    assert decimals(Decimal("-0.00")) == "0.00"


# ---------------------------------------------------------------- what is wrong


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        (b'{"format": }', (1, 12), "line 1, column 12"),
        (b'{\n "format": "UBL",\n}', (3, 1), "line 3, column 1"),
        (b"", (1, 1), "line 1, column 1"),
        (b'{"a":\n "\xff"}', (2, 3), "UTF-8"),
        (b"[" * 100_000, (None, None), "nested"),
    ],
)
def test_no_json(text, place, said):
    error = errors(text)
    assert (error.line, error.column) == place
    assert [problem.pointer for problem in error.errors] == [""]
    assert said in str(error)
    assert error.code == "invalid_draft"


@pytest.mark.parametrize("depth", [*range(50, 1100, 50), 10**6])
def test_nested_deeply(depth):
    assert errors(b'{"lines": ' + b"[" * depth + b"]" * depth + b"}").errors


@pytest.mark.parametrize("text", ["[]", b"3", b"null", b'"UBL"'])
def test_json_that_is_no_object(text):
    assert pointers(text) == [""]


def test_every_wrong_place_is_told():
    content = draft(
        issue_date="2026-02-30", due_date="20.12.2026", format="ODF", currency=["EUR"], invoice_numer="1",
        lines=[line(quantity="two"), line(unit_price=True), {"a/b~c": 1, **line()}, 5],
        notes={"text": "a"}, seller={"name": 7, "country_code": "DE\x00"}, allowances=[{}], payment="cash",
        attachments=[{"id": "1", "content": "!"}],
    )  # fmt: skip
    assert sorted(pointers(content)) == [
        "/attachments/0/content", "/currency", "/due_date", "/format", "/invoice_numer", "/issue_date",
        "/lines/0/quantity", "/lines/1/unit_price", "/lines/2/a~1b~0c", "/lines/3", "/notes", "/payment",
        "/seller/country_code", "/seller/name",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("more", "pointer", "near"),
    [
        ({"invoice_numer": "1"}, "/invoice_numer", "invoice_number"),
        ({"buyer": {"name": "B", "country_code": "DE", "tax_id": "DE1"}}, "/buyer/tax_id", "vat_id"),
        ({"lines": [line(unit_prize="1")]}, "/lines/0/unit_prize", "unit_price"),
        ({"payment": {"accounts": [{"iban": "DE1", "bix": "X"}]}}, "/payment/accounts/0/bix", "bic"),
    ],
)
def test_an_unknown_field_is_answered_with_the_nearest_one(more, pointer, near):
    [problem] = errors(draft(**more)).errors
    assert problem.pointer == pointer
    assert problem.en.endswith(f" Did you mean {near}?")
    assert problem.de.endswith(f" Gemeint ist vielleicht {near}.")


def test_an_unknown_field_unlike_any_other():
    [problem] = errors(draft(qqqq=None)).errors
    assert problem.message("en") == "Unknown field."
    assert problem.message("de") == "Dieses Feld gibt es nicht."


def test_a_field_that_stands_there_twice():
    text = json.dumps(draft()).replace('"quantity"', '"name": "Zwei", "quantity"')
    assert pointers(text) == ["/lines/0/name"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e99999999", "1e-99999999", "true", '"1,5"', '"٣"', "1" * 30])
def test_no_number(number):
    text = json.dumps(draft()).replace('"quantity": "1"', f'"quantity": {number}')
    assert pointers(text) == ["/lines/0/quantity"]


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_no_number_in_python(number):
    assert pointers(draft(lines=[line(quantity=number)])) == ["/lines/0/quantity"]


def test_a_draft_that_is_wrong_everywhere_is_answered_soon():
    content = {f"field_{number}": 1 for number in range(100_000)}
    assert len(errors(json.dumps(content)).errors) == 200
    text = "{" + ",".join('"lines": 1' for _ in range(100_000)) + ', "format": "UBL", "format": "CII"}'
    assert pointers(text)[:2] == ["/lines", "/format"]


def test_values_are_quoted_in_part_and_escaped():
    [problem] = errors(draft(issue_date="x\n" * 100)).errors
    assert "\n" not in problem.en
    assert len(problem.en) < 130


@pytest.mark.parametrize("lone", ["\\ud800", "\\u0000", "\\uffff"])
def test_characters_that_xml_cannot_carry(lone):
    [problem] = errors(json.dumps(draft(buyer_reference="x")).replace('"x"', f'"{lone}"')).errors
    assert problem.pointer == "/buyer_reference"
    assert f"U+{lone[2:].upper()}" in problem.en


FIELDS = st.sampled_from(["lines", "seller", "name", "format", "totals", "payment", "iban", "quantity", "x"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(FIELDS, inner),
)


@given(ANYTHING)
def test_nothing_but_draft_errors(content):
    if isinstance(content, dict):
        assert errors(content).errors
    assert errors(json.dumps([content])).errors


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"profile": "BASIC"}, "/profile"),
        ({"lines": [line(price_base_quantity="0")]}, "/lines/0/price_base_quantity"),
        ({"lines": [line(allowances=[{"reason": "x"}])]}, "/lines/0/allowances/0/amount"),
        ({"lines": [line(charges=[{"percentage": 5}])]}, "/lines/0/charges/0/base_amount"),
        ({"allowances": [{"amount": "0.005"}]}, "/allowances/0/amount"),
        ({"payment": {"iban": "DE1", "accounts": [{"iban": "DE2"}]}}, "/payment/iban"),
        ({"attachments": [{"id": "1", "filename": "a.pdf"}]}, "/attachments/0/content"),
        ({"totals": {"vat_amount_in_tax_currency": 1}}, "/tax_currency"),
        ({"format": "CII", "preceding_invoices": [{"number": "1"}, {"number": "2"}]}, "/preceding_invoices/1"),
        ({"type_code": "381", "due_date": "2026-12-20"}, "/payment"),
    ],
)
def test_what_does_not_go_together(more, pointer):
    assert pointers(draft(**more)) == [pointer]


def test_errors_travel():
    error = errors(b'{"a')
    again = pickle.loads(pickle.dumps(error))
    assert (again.errors, again.line, again.column, str(again)) == (error.errors, error.line, error.column, str(error))
    assert isinstance(error, einvoice.EinvoiceError)
