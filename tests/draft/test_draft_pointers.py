"""Findings point to the field of the draft that causes them, present or missing."""

import copy
import json
from itertools import pairwise

import pytest

import einvoice
from einvoice.draft import draft_schema
from tests.helpers.paths import SHARED
from tests.helpers.plain import draft, line
from tests.helpers.sampling import sampled

FORMATS = ("UBL", "CII")

#: Values for missing fields.
VALUES = {
    "/buyer_reference": "04011000-12345-34",
    "/due_date": "2026-12-20",
    "/service_date": "2026-11-18",
    "/payment": {"payment_means_code": "58", "iban": "DE02120300000000202051"},
    "/seller/tax_id": "DE123456789",
    "/seller/city": "Berlin",
    "/seller/postal_code": "10997",
    "/seller/contact": {"name": "Erika Beispiel", "telephone": "+49 30 1234567", "email": "erika@radwerk.example"},
    "/seller/electronic_address": {"id": "rechnung@radwerk.example", "scheme": "EM"},
    "/buyer/city": "Hamburg",
    "/buyer/postal_code": "20095",
    "/buyer/electronic_address": {"id": "04011000-12345-34", "scheme": "0204"},
    "/lines/1/tax_rate": "0",
    "/vat_breakdown/-/exemption_reason": "Umsatzsteuerfrei nach § 4 Nr. 21 UStG",
}


def steps(pointer):
    return [int(step) if step.isdigit() else step for step in pointer.split("/")[1:]]


def set_value(content, pointer, value):
    """Set a value by JSON pointer as JSON Patch (RFC 6902) does, and create missing parents."""
    path = steps(pointer)
    target = content
    for step, after in pairwise(path):
        if step == "-":
            target.append({})
            step = -1
        elif isinstance(target, dict):
            target.setdefault(step, [] if after == "-" else {})
        target = target[step]
    target[path[-1]] = value


def findings(content, format):
    return einvoice.generate(content, format, lang="en").validation.findings


def codes_and_pointers(content, format):
    return {(finding.code, finding.draft_pointer) for finding in findings(content, format)}


@pytest.fixture
def documented(sample):
    """A draft with the documented fields only."""
    return json.loads(sample("draft.json").read_text("utf-8"))


@pytest.fixture
def full(sample):
    """A draft with all compatible fields."""
    return json.loads(sample("draft-full.json").read_text("utf-8"))


@pytest.mark.parametrize("format", FORMATS)
def test_documented_fields_lack_xrechnung_requirements(documented, format):
    generated = einvoice.generate(documented, format)
    assert not generated.is_valid
    assert [(it.code, it.draft_pointer) for it in generated.validation.findings] == [
        ("BR-DE-2", "/seller/contact"),
        ("PEPPOL-EN16931-R020", "/seller/electronic_address"),
        ("PEPPOL-EN16931-R010", "/buyer/electronic_address"),
    ]


@pytest.mark.cases
@pytest.mark.parametrize("format", FORMATS)
def test_contract_example_lacks_the_same_fields(format):
    example = SHARED / "contract" / "draft-example.json"
    if not example.exists():
        pytest.skip("the contract is not available")
    content = json.loads(example.read_text("utf-8"))
    results = findings(content, format)
    assert [finding.draft_pointer for finding in results] == [
        "/seller/contact",
        "/seller/electronic_address",
        "/buyer/electronic_address",
    ]
    for finding in results:
        set_value(content, finding.draft_pointer, VALUES[finding.draft_pointer])
    assert einvoice.generate(content, format).is_valid


@pytest.mark.parametrize("format", FORMATS)
def test_draft_is_valid_after_applying_its_findings(documented, format):
    for finding in findings(documented, format):
        set_value(documented, finding.draft_pointer, VALUES[finding.draft_pointer])
    assert findings(documented, format) == ()


@pytest.mark.parametrize("format", FORMATS)
def test_minimal_draft_is_valid_after_applying_its_findings(format):
    content = draft(lines=[line(), line(tax_category="E", tax_rate=None)])
    for _ in range(5):
        results = findings(content, format)
        if not results:
            break
        for pointer in dict.fromkeys(finding.draft_pointer for finding in results):
            set_value(content, pointer, VALUES[pointer])
        for entry in content.get("vat_breakdown", ()):
            entry.setdefault("tax_category", "E")
    assert results == ()


@pytest.mark.parametrize("format", FORMATS)
def test_full_draft_has_no_findings(full, format):
    assert findings(full, format) == ()


MISSING = [
    ("/buyer_reference", "BR-DE-15"),
    ("/seller/city", "BR-DE-3"),
    ("/seller/postal_code", "BR-DE-4"),
    ("/seller/contact/name", "BR-DE-5"),
    ("/seller/contact/telephone", "BR-DE-6"),
    ("/seller/contact/email", "BR-DE-7"),
    ("/buyer/city", "BR-DE-8"),
    ("/buyer/postal_code", "BR-DE-9"),
    ("/delivery/city", "BR-DE-10"),
    ("/delivery/postal_code", "BR-DE-11"),
    ("/delivery/country_code", "BR-57"),
    ("/payee/name", "BR-17"),
    ("/tax_representative/name", "BR-18"),
    ("/tax_representative/vat_id", "BR-56"),
    ("/tax_representative/country_code", "BR-20"),
    ("/payment", "BR-DE-1"),
    ("/payment/payment_means_code", "BR-49"),
    ("/lines/0/tax_rate", "BR-S-05"),
    ("/lines/1/tax_rate", "BR-E-05"),
    ("/charges/0/tax_rate", "BR-S-07"),
]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(("pointer", "code"), MISSING)
def test_missing_field_has_a_pointer(full, format, pointer, code):
    content = copy.deepcopy(full)
    *path, last = steps(pointer)
    for sums in ("totals", "tax_currency", "vat_breakdown"):
        content.pop(sums)
    content["lines"][0].pop("net_amount")
    target = content
    for step in path:
        target = target[step]
    del target[last]
    assert (code, pointer) in codes_and_pointers(content, format)


WRONG = [
    ("/type_code", "1", "BR-CL-01", "/type_code"),
    ("/currency", "XXY", "BR-CL-04", "/currency"),
    ("/lines/0/origin_country", "QQ", "BR-CL-15", "/lines/0/origin_country"),
    ("/seller/country_code", "QQ", "BR-CL-14", "/seller/country_code"),
    ("/tax_representative/country_code", "QQ", "BR-CL-14", "/tax_representative/country_code"),
    ("/buyer/vat_id", "QQ123456789", "BR-CO-09", "/buyer/vat_id"),
    ("/seller/electronic_address/scheme", "QQ", "BR-CL-25", "/seller/electronic_address"),
    ("/payment/accounts/1/iban", "DE75512108001245126190", "BR-DE-19", "/payment/accounts/1/iban"),
    ("/lines/0/unit_price", "-65.00", "BR-27", "/lines/0/unit_price"),
    ("/lines/0/unit_code", "QQ", "BR-CL-23", "/lines/0/quantity"),
    ("/lines/0/period/end", "2026-10-01", "BR-30", "/lines/0/period/end"),
    ("/lines/0/classifications/1/scheme", "QQ", "BR-CL-13", "/lines/0/classifications/1"),
    ("/lines/0/allowances/0/reason_code", "QQ", "BR-CL-19", "/lines/0/allowances/0/reason_code"),
    ("/lines/0/charges/0/reason_code", "QQ", "BR-CL-20", "/lines/0/charges/0/reason_code"),
    ("/lines/1/tax_category", "QQ", "BR-CL-18", "/lines/1/tax_category"),
    ("/lines/1/tax_rate", "7", "BR-E-05", "/lines/1/tax_rate"),
    ("/allowances/0/reason_code", "QQ", "BR-CL-19", "/allowances/0/reason_code"),
    ("/allowances/0/amount", "9.00", "PEPPOL-EN16931-R040", "/allowances/0/amount"),
    ("/invoiced_object/scheme", "QQQ", "BR-CL-07", "/invoiced_object"),
    ("/attachments/0/mime_type", "text/html", "BR-CL-24", "/attachments/0/content"),
]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(("field", "value", "code", "pointer"), WRONG)
def test_invalid_field_has_a_pointer(full, format, field, value, code, pointer):
    for sums in ("totals", "tax_currency", "vat_breakdown"):
        full.pop(sums)
    full["lines"][0].pop("net_amount")
    set_value(full, field, value)
    assert {where for found, where in codes_and_pointers(full, format) if found == code} & {pointer, field}


def schema_part(pointer):
    """Return the part of the schema for a pointer into a draft."""
    document = draft_schema()
    part = document
    for step in steps(pointer):
        if "$ref" in part:
            part = document["$defs"][part["$ref"].rpartition("/")[2]]
        part = part["items"] if isinstance(step, int) or step == "-" else part["properties"][step]
    return part


@pytest.mark.slow
@sampled(5)
@pytest.mark.parametrize("format", FORMATS)
def test_every_pointer_is_in_the_schema(full, format, step):
    """Replace each text of the draft by an invalid code or number; every finding must have a pointer."""

    def places(content, pointer=""):
        items = content.items() if isinstance(content, dict) else enumerate(content)
        for key, value in items:
            if isinstance(value, dict | list):
                yield from places(value, f"{pointer}/{key}")
            else:
                yield f"{pointer}/{key}"

    for place in [*places(full)][::step]:
        content = copy.deepcopy(full)
        set_value(content, place, "-7" if place.rpartition("/")[2] in ("quantity", "unit_price", "tax_rate") else "QQ")
        try:
            results = findings(content, format)
        except einvoice.DraftError as error:
            results = error.errors
            assert all(schema_part(problem.pointer) for problem in results)
            continue
        assert all(schema_part(finding.draft_pointer) for finding in results)


def test_findings_show_their_pointer(documented):
    generated = einvoice.generate(documented, lang="en")
    assert "(/seller/contact, BG-6)" in str(generated.validation)
    errors = generated.to_dict()["validation"]["errors"]
    assert [it["draft_pointer"] for it in errors] == [it.draft_pointer for it in generated.validation.errors]


def test_findings_of_other_documents_have_no_pointer(sample):
    result = einvoice.validate(sample("ubl-invoice.xml").read_bytes().replace(b"DE</cbc:Id", b"QQ</cbc:Id"))
    assert result.findings
    assert all(finding.draft_pointer is None for finding in result.findings)
    assert all("draft_pointer" not in finding.to_dict() for finding in result.findings)


@pytest.mark.parametrize("format", FORMATS)
def test_a_rule_on_the_vat_breakdown_points_to_the_missing_field(format):
    """BR-IC-11 and BR-IC-12 are judged where the VAT breakdown is, but demand terms of the delivery."""
    supply = draft(profile="EN16931", delivery={"city": "Wien"}, lines=[line(tax_category="K", tax_rate="0")])
    found = codes_and_pointers(supply, format)
    assert {("BR-IC-11", "/service_date"), ("BR-IC-12", "/delivery/country_code")} <= found
    without_delivery = draft(profile="EN16931", lines=[line(tax_category="K", tax_rate="0")])
    assert ("BR-IC-12", "/delivery/country_code") in codes_and_pointers(without_delivery, format)
