"""Rows of the service description that need a request of their own."""

import copy
import io
import re

import pikepdf
import pytest

from tests.helpers.contract import ENDPOINTS
from tests.helpers.served import API, BATCH, CII, DRAFT, GENERATE, UBL, VALIDATE, WRONG, assert_problem, declaring, http

KINDS = {"validation_report_pdf": "report.pdf", "readable_invoice_pdf": "invoice.pdf", "zugferd_pdf": "zugferd.pdf"}

# ---------------------------------------------------------------- 2.1 draft

FIELDS = {
    "invoice_number": "R-4711",
    "issue_date": "2026-10-01",
    "due_date": "2026-10-31",
    "service_date": "2026-09-30",
    "buyer_reference": "04011000-99999-99",
    "seller.name": "Verkauf GmbH",
    "seller.street": "Verkaufsweg 1",
    "seller.postal_code": "10119",
    "seller.city": "Verkaufsstadt",
    "seller.country_code": "AT",
    "seller.tax_id": "DE987654321",
    "buyer.name": "Kauf GmbH",
    "buyer.street": "Kaufweg 2",
    "buyer.postal_code": "20999",
    "buyer.city": "Kaufstadt",
    "buyer.country_code": "FR",
    "payment.iban": "DE75512108001245126199",
    "payment.payment_means_code": "30",
    "payment.payment_reference": "Zweck 4711",
    "lines.0.line_id": "L-77",
    "lines.0.name": "Leistung",
    "lines.0.quantity": "3.5",
    "lines.0.unit_code": "KGM",
    "lines.0.unit_price": "12.34",
    "lines.0.tax_category": "AE",
    "lines.0.tax_rate": "7.00",
}


def locate(draft, path):
    """Return the object of a draft that contains a field, and the name of the field."""
    *parents, name = path.split(".")
    for parent in parents:
        draft = draft[int(parent)] if parent.isdigit() else draft[parent]
    return draft, name


@pytest.mark.parametrize("format", ["UBL", "CII"])
@pytest.mark.parametrize(("field", "value"), FIELDS.items(), ids=FIELDS)
def test_each_draft_field_is_written_to_the_invoice(server, format, field, value):
    draft = copy.deepcopy(DRAFT)
    holder, name = locate(draft, field)
    holder[name] = value
    response = server.generate(draft, format=format)
    assert response.status_code == 200, response.text
    written = value.replace("-", "") if format == "CII" and name.endswith("_date") else value
    pattern = re.compile(f'[>"]{re.escape(written)}[<"]')  # units are attributes
    assert pattern.search(response.json()["xml"])
    assert not pattern.search(server.generate(format=format).json()["xml"])


REQUIRED = (
    *("invoice_number", "issue_date", "format", "seller.name", "seller.country_code", "buyer.name"),
    *("buyer.country_code", "lines", "lines.0.name", "lines.0.quantity", "lines.0.unit_price", "lines.0.tax_category"),
)


@pytest.mark.parametrize("field", REQUIRED)
def test_missing_required_field(server, field):
    draft = copy.deepcopy(DRAFT)
    holder, name = locate(draft, field)
    del holder[name]
    response = server.generate(draft)
    assert_problem(response, 422, "invalid_draft")
    assert [wrong["pointer"] for wrong in response.json()["errors"]] == ["/" + field.replace(".", "/")]


def optional_fields():
    parts = {field.rpartition(".")[0] for field in FIELDS} - {"", "seller", "buyer", "lines.0"}
    return [*sorted(set(FIELDS) - set(REQUIRED)), *parts]


@pytest.mark.parametrize("field", optional_fields())
def test_other_fields_are_optional(server, field):
    draft = copy.deepcopy(DRAFT)
    holder, name = locate(draft, field)
    del holder[name]
    assert server.generate(draft).status_code == 200


def test_unknown_field_suggests_the_nearest_name(server):
    response = server.generate(byer_reference="x")
    (wrong,) = response.json()["errors"]
    assert wrong["pointer"] == "/byer_reference"
    assert "buyer_reference" in wrong["message"]


def test_json_numbers_are_accepted(server):
    draft = copy.deepcopy(DRAFT)
    draft["lines"][0] |= {"quantity": 3, "unit_price": 0.1, "tax_rate": 19}
    generated = server.generate(draft).json()
    assert ">0.3<" in generated["xml"].replace(">0.30<", ">0.3<")


def test_the_schema_describes_each_field_in_both_languages(server):
    schema = server.client.get(f"{API}/schemas/invoice-draft.json").json()
    for part in (schema, *schema["$defs"].values()):
        for name, field in part.get("properties", {}).items():
            assert field["title"], name
            assert field["description"], name
            assert field["x-de"].keys() >= {"title", "description"}, name


@pytest.mark.parametrize(
    ("profile", "filename", "validation_profile"),
    [
        (None, "factur-x.xml", "Factur-X EN 16931"),
        ("XRECHNUNG", "xrechnung.xml", "XRechnung"),
        ("BASIC", "factur-x.xml", "Factur-X BASIC"),
        ("EXTENDED", "factur-x.xml", "Factur-X EXTENDED"),
        ("BASIC_WL", "factur-x.xml", "Factur-X BASIC WL"),
        ("MINIMUM", "factur-x.xml", "Factur-X MINIMUM"),
    ],
)
def test_profiles_of_a_hybrid(server, profile, filename, validation_profile):
    generated = server.generate(format="ZUGFERD", **({"profile": profile} if profile else {})).json()
    assert generated["embedded_xml"] == {"available": True, "syntax": "CII", "filename": filename}
    assert generated["validation"]["validation_profile"] == validation_profile
    pdf = server.client.get(generated["artifacts"]["zugferd_pdf"]["url"]).content
    response = server.validate(pdf, lang="en").json()
    assert (response["validation_profile"], response["validation_details"]["container"]["is_valid"]) == (
        validation_profile,
        True,
    )
    if profile in ("MINIMUM", "BASIC_WL"):
        layers = [layer["name"] for layer in response["validation_details"]["validation_stack"]["layers"]]
        assert "en16931" not in layers
        assert "facturx" in layers
        assert "DECL-NO-INVOICE" in {item["code"] for item in response["warnings"]}


# ---------------------------------------------------------------- 2.2, 2.3 results


@pytest.fixture(scope="module")
def responses(server):
    return [server.validate(content, lang="en").json() for content in (UBL, WRONG, CII)]


def test_is_valid_means_no_errors(responses):
    assert {response["is_valid"] for response in responses} == {True, False}
    for response in responses:
        assert response["is_valid"] == (not response["errors"])
        assert {error["severity"] for error in response["errors"]} <= {"fatal"}
        assert {item["severity"] for item in response["warnings"]} <= {"warning", "information"}


def test_finding_has_flag_and_override_reason(server):
    """KoSIT's configuration overrides BR-CL-23 from fatal to warning."""
    response = server.validate(UBL.replace(b'unitCode="', b'unitCode="~')).json()
    overridden = [item for item in response["warnings"] if item["code"] == "BR-CL-23"]
    assert response["is_valid"]
    assert {(item["severity"], item["flag"]) for item in overridden} == {("warning", "fatal")}
    assert all(item["override_reason"] for item in overridden)
    plain = server.validate(WRONG).json()["errors"]
    assert {(item["severity"] == item["flag"], item["override_reason"]) for item in plain} == {(True, "")}


def test_business_rules_run_on_schema_invalid_documents(server):
    broken = WRONG.replace(b"<cbc:ID>", b"<cbc:Unknown/><cbc:ID>", 1)
    response = server.validate(broken).json()
    assert not response["is_valid"]
    layers = {error["validation_layer"] for error in response["errors"]}
    assert layers >= {"schema", "en16931"}
    (sum_of_lines,) = [error for error in response["errors"] if error["code"] == "BR-CO-10"]
    assert (sum_of_lines["indicative"], sum_of_lines["severity"]) == (True, "fatal")


def test_validation_stack_lists_its_layers(responses):
    for response in responses:
        stack = response["validation_details"]["validation_stack"]
        assert [layer["name"] for layer in stack["layers"]] == ["schema", "en16931", "xrechnung", "plausibility"]
        assert [layer["kind"] for layer in stack["layers"]] == ["schema", "en16931", "cius", "plausibility"]
        for layer in stack["layers"]:
            assert layer["executed"] is True
            assert layer["version"]
            assert len(bytes.fromhex(layer["sha256"])) == 32
            assert (layer["rules"] > 0) == (layer["name"] != "schema")
        assert "1.3.16" in stack["en16931"]
        assert "2.6.0" in stack["xrechnung"]
        assert "3.0.2" in stack["xrechnung"]


def test_documents_other_than_xrechnung_have_all_strings(server):
    core = UBL.replace(b"#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0", b"")
    for document in (core, declaring("urn:example:other")):
        response = server.validate(document, lang="en").json()
        assert response["xrechnung_version"] == "3.0.2"
        assert "not applied" in response["validation_details"]["validation_stack"]["xrechnung"]
    assert server.validate(core).json()["validation_profile"] == "EN 16931"


# ---------------------------------------------------------------- 2.5 links


def test_artifact_file_names(server):
    generated = server.generate(format="ZUGFERD").json()
    for response in (generated, server.validate().json()):
        for kind, link in response["artifacts"].items():
            if kind in KINDS:
                assert link["url"].endswith(f"/{KINDS[kind]}")
                assert link["url"].startswith(f"{server.base}{API[1:]}/artifacts/")


# ---------------------------------------------------------------- 4, 5, 7 endpoints


def pdf_with(content):
    stream = io.BytesIO()
    with pikepdf.new() as pdf:
        pdf.add_blank_page()
        pdf.attachments["invoice.xml"] = pikepdf.AttachedFileSpec(pdf, content, filename="invoice.xml")
        pdf.save(stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b'<CrossIndustryDocument xmlns="urn:ferd:CrossIndustryDocument:invoice:1p0"/>', "zugferd_1"),
        (
            b'<SCRDMCCBDACIOMessageStructure xmlns="urn:un:unece:uncefact:data:SCRDMCCBDACIOMessageStructure:128"/>',
            "order_x",
        ),
        (pdf_with(UBL), "ubl_in_pdf"),
        (b"<!DOCTYPE a><a/>", "doctype_refused"),
        (b"%PDF-1.7\nnothing more", "damaged_pdf"),
    ],
)
def test_unreadable_files_have_specific_codes(server, content, code):
    de, en = (assert_problem(server.validate(content, lang=lang), 422, code) for lang in ("de", "en"))
    assert de.detail != en.detail


@pytest.mark.parametrize("path", [VALIDATE, BATCH, GENERATE])
def test_problems_are_localized(server, path):
    responses = {lang: server.client.post(path, params=query) for lang, query in
            {"": {}, "de": {"lang": "de"}, "en": {"lang": "en"}}.items()}  # fmt: skip
    titles = {lang: response.json()["title"] for lang, response in responses.items()}
    assert titles[""] == titles["de"] != titles["en"]


def test_batch_defaults_to_german(server):
    sent = [("files", ("a.xml", WRONG))]
    responses = [server.client.post(BATCH, files=sent, params=query) for query in ({}, {"lang": "de"}, {"lang": "en"})]
    titles = [response.json()["items"][0]["errors"][0]["title"] for response in responses]
    assert titles[0] == titles[1] != titles[2]


def test_catalog_and_generate_default_to_german(server):
    assert server.client.get(f"{API}/errors/catalog").json()["language"] == "de"
    default, english = (server.client.post(GENERATE, params=query, json=DRAFT) for query in ({}, {"lang": "en"}))
    assert default.json()["validation"]["errors"][0]["title"] != english.json()["validation"]["errors"][0]["title"]


@pytest.mark.parametrize("path", [path.replace("{token}", "x" * 32) for path in ENDPOINTS.values()])
def test_plan_without_can_use_api(server, path):
    server.add_plan("EINVOICE_PLAN_READER=can_batch,can_generate_invoice")
    key = server.add_key(f"reader-{abs(hash(path)) % 10**9}", "reader")
    for method in ("GET", "POST"):
        response = http.request(method, server.base.join(f"{API}{path}"), headers=key)
        assert_problem(response, 403, "plan_required")


@pytest.mark.parametrize("name", ["capabilities", "error_catalog", "invoice_draft_schema"])
def test_methods_are_as_documented(server, name):
    path = f"{API}{ENDPOINTS[name]}"
    assert server.client.get(path).status_code == 200
    for method in ("POST", "PUT", "DELETE"):
        assert_problem(server.client.request(method, path), 405, "method_not_allowed")


def test_the_catalog_has_all_layers(server):
    items = server.client.get(f"{API}/errors/catalog").json()["items"]
    layers = {"schema", "en16931", "cius", "extension", "profile", "pdf", "file", "plausibility"}
    assert {item["validation_layer"] for item in items} == layers
    own = [item["code"] for item in items if item["validation_layer"] in ("pdf", "file", "schema")]
    assert not [code for code in own if code.startswith(("BR-", "UBL-", "CII-", "PEPPOL-"))]
