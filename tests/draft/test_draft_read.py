"""Reading drafts: required fields, defaults, and all errors with their JSON pointers."""

import copy
import io
import json
import pickle
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import einvoice
from einvoice.draft import read
from einvoice.draft.fields.types import decimals
from tests.helpers.plain import REQUIRED, draft, errors, line


def pointers(content):
    return [problem.pointer for problem in errors(content).errors]


def with_value(content, pointer, value):
    content = copy.deepcopy(content)
    *path, last = [int(step) if step.isdigit() else step for step in pointer.split("/")[1:]]
    target = content
    for step in path:
        target = target[step]
    target[last] = value
    return content


# ---------------------------------------------------------------- required fields and defaults


def test_minimal_draft():
    parsed = read(draft())
    invoice = parsed.invoice()
    assert (parsed.currency, parsed.type_code, parsed.declared_profile) == ("EUR", "380", "XRECHNUNG")
    assert invoice.business_process.text == "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"
    assert invoice.specification.text.endswith("xrechnung_3.0")
    assert invoice.lines[0].identifier.text == "1"
    assert invoice.lines[0].quantity.unit == "C62"


@pytest.mark.parametrize("value", [None, "", "  "])
@pytest.mark.parametrize("pointer", REQUIRED)
def test_required_fields(pointer, value):
    assert pointers(with_value(draft(), pointer, value)) == [pointer]


def test_other_fields_are_optional():
    content = draft(buyer_reference=None, payment={"iban": ""}, seller={"name": "A", "country_code": "DE", "city": " "})
    assert read(content).invoice() == read(draft(payment={})).invoice()


def test_at_least_one_line_is_required():
    assert pointers(draft(lines=[])) == ["/lines"]


def test_en16931_profile_has_no_default_business_process():
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
def test_tax_id_with_country_prefix_is_a_vat_identifier(seller, vat, tax):
    seller = read(draft(seller={"name": "A", "country_code": "DE", **seller})).invoice().seller
    assert (str(seller.vat_identifier or ""), str(seller.tax_number or "")) == (vat, tax)


@pytest.mark.parametrize("twice", [{"tax_id": "DE123", "vat_id": "DE123"}, {"tax_id": "29/1", "tax_number": "29/2"}])
def test_duplicate_tax_identifiers_are_rejected(twice):
    assert pointers(draft(seller={"name": "A", "country_code": "DE", **twice})) == [f"/seller/{[*twice][1]}"]


# ---------------------------------------------------------------- sources and numbers


def test_supported_sources(tmp_path):
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
    without_format = {key: value for key, value in content.items() if key != "format"}
    assert read(without_format, format="CII").format == "CII"
    with pytest.raises(TypeError, match="int"):
        read(3)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.json")


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=6))
def test_numbers_are_read_exactly(number):
    text = f"{number:f}"
    as_text = read(json.dumps(draft(lines=[line(quantity=text)])))
    as_number = read(json.dumps(draft()).replace('"1", "unit_price"', f'{text}, "unit_price"'))
    assert as_text.lines[0].quantity == as_number.lines[0].quantity == number
    assert as_text.invoice().lines[0].quantity.number == number


@pytest.mark.parametrize(
    ("value", "expected"),
    [("5", "5.00"), (5, "5.00"), ("1e2", None), (1e2, "100.00"), ("0.125", "0.125"), (0.1, "0.10")],
)
def test_price_formats(value, expected):
    content = draft(lines=[line(unit_price=value)])
    if expected is None:
        assert pointers(content) == ["/lines/0/unit_price"]
    else:
        assert read(content).invoice().lines[0].price.net.raw == expected


def test_zero_has_no_sign():
    assert decimals(Decimal("-0.00")) == "0.00"


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        (b'{"format": }', (1, 12), "line 1, column 12"),
        (b'{\n "format": "UBL",\n}', (2, 17), "line 2, column 17"),
        (b'{"lines": [{}, ]}', (1, 14), "line 1, column 14"),
        (b"", (1, 1), "line 1, column 1"),
        (b'{"a":\n "\xff"}', (2, 3), "UTF-8"),
        (b"[" * 100_000, (None, None), "nested"),
    ],
)
def test_invalid_json_is_rejected(text, position, message):
    error = errors(text)
    assert (error.line, error.column) == position
    assert [problem.pointer for problem in error.errors] == [""]
    assert message in str(error)
    assert error.code == "invalid_draft"


@pytest.mark.parametrize("depth", [*range(50, 1100, 50), 10**6])
def test_deeply_nested_json_is_rejected(depth):
    assert errors(b'{"lines": ' + b"[" * depth + b"]" * depth + b"}").errors


@pytest.mark.parametrize("text", ["[]", b"3", b"null", b'"UBL"'])
def test_json_other_than_an_object_is_rejected(text):
    assert pointers(text) == [""]


def test_every_error_is_listed():
    content = draft(
        issue_date="2026-02-30", due_date="20.12.2026", format="ODF", currency=["EUR"], invoice_numer="1",
        lines=[line(quantity="two"), line(unit_price=True), {"a/b~c": 1, **line()}, 5],
        notes={"text": "a"}, seller={"name": 7, "country_code": "DE\x00"}, payment="cash",
        allowances=[{"tax_category": "S"}],
        attachments=[{"id": "1", "content": "!"}],
    )  # fmt: skip
    assert sorted(pointers(content)) == [
        "/attachments/0/content", "/currency", "/due_date", "/format", "/invoice_numer", "/issue_date",
        "/lines/0/quantity", "/lines/1/unit_price", "/lines/2/a~1b~0c", "/lines/3", "/notes", "/payment",
        "/seller/country_code", "/seller/name",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "pointer", "near"),
    [
        ({"invoice_numer": "1"}, "/invoice_numer", "invoice_number"),
        ({"buyer": {"name": "B", "country_code": "DE", "tax_id": "DE1"}}, "/buyer/tax_id", "vat_id"),
        ({"lines": [line(unit_prize="1")]}, "/lines/0/unit_prize", "unit_price"),
        ({"payment": {"accounts": [{"iban": "DE1", "bix": "X"}]}}, "/payment/accounts/0/bix", "bic"),
    ],
)
def test_unknown_field_error_suggests_a_similar_field(changes, pointer, near):
    [problem] = errors(draft(**changes)).errors
    assert problem.pointer == pointer
    assert problem.message("en").endswith(f" Did you mean {near}?")
    assert problem.message("de").endswith(f" Gemeint ist vielleicht {near}.")


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("/lines/0/qty", "quantity"), ("/lines/0/menge", "quantity"), ("/lines/0/Einzelpreis", "unit_price"),
        ("/lines/0/unitPrice", "unit_price"), ("/lines/0/MwSt", "tax_rate"), ("/seller/plz", "postal_code"),
        ("/seller/Straße", "street"), ("/seller/USt-Id", "vat_id"), ("/buyer/land", "country_code"),
        ("/rechnungsnummer", "invoice_number"), ("/fällig", "due_date"), ("/kunde", "buyer"), ("/positionen", "lines"),
        ("/lieferdatum", "service_date"), ("/leitweg_id", "buyer_reference"), ("/anlagen", "attachments"),
        ("/payment/verwendungszweck", "payment_reference"),
    ],
)  # fmt: skip
def test_abbreviated_and_german_names_are_understood(path, near):
    content = with_value(draft(payment={}), path, "1")
    [problem] = errors(content).errors
    assert (problem.pointer, problem.values) == (path, {"name": near})


def test_a_misspelt_required_field_is_one_error():
    content = draft(lines=[{"name": "A", "qty": 1, "price": 2, "vat_category": "S"}])
    assert pointers(content) == ["/lines/0/qty", "/lines/0/price", "/lines/0/vat_category"]
    assert pointers(draft(lines=[line(menge=1)])) == ["/lines/0/menge"]


@pytest.mark.parametrize("field", ["allowances", "charges"])
def test_a_missing_tax_category_is_one_error(field):
    assert pointers(draft(**{field: [{"amount": 1, "reason": "x"}]})) == [f"/{field}/0/tax_category"]


def test_unknown_field_without_a_similar_field():
    [problem] = errors(draft(qqqq=None)).errors
    assert problem.message("en") == "Unknown field."
    assert problem.message("de") == "Dieses Feld gibt es nicht."


def test_duplicate_field_is_rejected():
    text = json.dumps(draft()).replace('"quantity"', '"name": "Zwei", "quantity"')
    assert pointers(text) == ["/lines/0/name"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e99999999", "1e-99999999", "true", '"1,5"', '"٣"', "1" * 30])
def test_invalid_numbers_are_rejected(number):
    text = json.dumps(draft()).replace('"quantity": "1"', f'"quantity": {number}')
    assert pointers(text) == ["/lines/0/quantity"]


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_non_finite_floats_are_rejected(number):
    assert pointers(draft(lines=[line(quantity=number)])) == ["/lines/0/quantity"]


def test_number_of_errors_is_limited():
    content = {f"field_{number}": 1 for number in range(100_000)}
    assert len(errors(json.dumps(content)).errors) == 200
    text = "{" + ",".join('"lines": 1' for _ in range(100_000)) + ', "format": "UBL", "format": "CII"}'
    assert pointers(text)[:2] == ["/lines", "/format"]


def test_quoted_values_are_shortened_and_escaped():
    [problem] = errors(draft(issue_date="x\n" * 100)).errors
    assert "\n" not in problem.message("en")
    assert len(problem.message("en")) < 130


@pytest.mark.parametrize("escape", ["\\ud800", "\\u0000", "\\uffff"])
def test_characters_not_allowed_in_xml_are_rejected(escape):
    [problem] = errors(json.dumps(draft(buyer_reference="x")).replace('"x"', f'"{escape}"')).errors
    assert problem.pointer == "/buyer_reference"
    assert f"U+{escape[2:].upper()}" in problem.message("en")


FIELDS = st.sampled_from(["lines", "seller", "name", "format", "totals", "payment", "iban", "quantity", "x"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(FIELDS, inner),
)


@pytest.mark.slow
@given(ANYTHING)
def test_any_content_raises_draft_errors_only(content):
    if isinstance(content, dict):
        assert errors(content).errors
    assert errors(json.dumps([content])).errors


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"profile": "BASIC"}, "/profile"),
        ({"lines": [line(price_base_quantity="0")]}, "/lines/0/price_base_quantity"),
        ({"lines": [line(allowances=[{"reason": "x"}])]}, "/lines/0/allowances/0/amount"),
        ({"lines": [line(charges=[{"percentage": 5}])]}, "/lines/0/charges/0/base_amount"),
        ({"allowances": [{"amount": "0.005", "tax_category": "S"}]}, "/allowances/0/amount"),
        ({"payment": {"iban": "DE1", "accounts": [{"iban": "DE2"}]}}, "/payment/iban"),
        ({"attachments": [{"id": "1", "filename": "a.pdf"}]}, "/attachments/0/content"),
        ({"totals": {"vat_amount_in_tax_currency": 1}}, "/tax_currency"),
        ({"format": "CII", "preceding_invoices": [{"number": "1"}, {"number": "2"}]}, "/preceding_invoices/1"),
        ({"type_code": "381", "due_date": "2026-12-20"}, "/payment"),
    ],
)
def test_inconsistent_fields_are_rejected(changes, pointer):
    assert pointers(draft(**changes)) == [pointer]


def test_draft_error_survives_pickling():
    error = errors(b'{"a')
    restored = pickle.loads(pickle.dumps(error))
    assert (restored.errors, restored.line, restored.column, str(restored)) == (
        error.errors,
        error.line,
        error.column,
        str(error),
    )
    assert isinstance(error, einvoice.EinvoiceError)
