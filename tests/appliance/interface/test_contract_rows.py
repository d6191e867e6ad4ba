"""Rows of the interface's description and its decisions that need a request of their own."""

import copy
import io
import re

import httpx
import pikepdf
import pytest
from contract import ENDPOINTS
from served import API, BATCH, CII, DRAFT, GENERATE, UBL, VALIDATE, WRONG, assert_problem, declaring

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


def place(draft, path):
    """The object of a draft that a field stands in, and the field's name there."""
    *parents, name = path.split(".")
    for parent in parents:
        draft = draft[int(parent)] if parent.isdigit() else draft[parent]
    return draft, name


@pytest.mark.parametrize("format", ["UBL", "CII"])
@pytest.mark.parametrize(("field", "value"), FIELDS.items(), ids=FIELDS)
def test_each_field_of_a_draft_is_in_the_invoice(server, format, field, value):
    draft = copy.deepcopy(DRAFT)
    holder, name = place(draft, field)
    holder[name] = value
    answer = server.generate(draft, format=format)
    assert answer.status_code == 200, answer.text
    written = value.replace("-", "") if format == "CII" and name.endswith("_date") else value
    told = re.compile(f'[>"]{re.escape(written)}[<"]')  # a unit is an attribute
    assert told.search(answer.json()["xml"])
    assert not told.search(server.generate(format=format).json()["xml"])


REQUIRED = (
    *("invoice_number", "issue_date", "format", "seller.name", "seller.country_code", "buyer.name"),
    *("buyer.country_code", "lines", "lines.0.name", "lines.0.quantity", "lines.0.unit_price", "lines.0.tax_category"),
)


@pytest.mark.parametrize("field", REQUIRED)
def test_a_required_field_is_missed(server, field):
    draft = copy.deepcopy(DRAFT)
    holder, name = place(draft, field)
    del holder[name]
    answer = server.generate(draft)
    assert_problem(answer, 422, "invalid_draft")
    assert [wrong["pointer"] for wrong in answer.json()["errors"]] == ["/" + field.replace(".", "/")]


def optional_fields():
    parts = {field.rpartition(".")[0] for field in FIELDS} - {"", "seller", "buyer", "lines.0"}
    return [*sorted(set(FIELDS) - set(REQUIRED)), *parts]


@pytest.mark.parametrize("field", optional_fields())
def test_all_others_may_be_missing(server, field):
    draft = copy.deepcopy(DRAFT)
    holder, name = place(draft, field)
    del holder[name]
    assert server.generate(draft).status_code == 200


def test_an_unknown_field_is_told_with_the_nearest_known_name(server):
    answer = server.generate(byer_reference="x")
    (wrong,) = answer.json()["errors"]
    assert wrong["pointer"] == "/byer_reference"
    assert "buyer_reference" in wrong["message"]


def test_numbers_may_be_numbers(server):
    draft = copy.deepcopy(DRAFT)
    draft["lines"][0] |= {"quantity": 3, "unit_price": 0.1, "tax_rate": 19}
    made = server.generate(draft).json()
    assert ">0.3<" in made["xml"].replace(">0.30<", ">0.3<")


def test_the_schema_describes_each_field_in_both_languages(server):
    schema = server.client.get(f"{API}/schemas/invoice-draft.json").json()
    for part in (schema, *schema["$defs"].values()):
        for name, field in part.get("properties", {}).items():
            assert field["title"], name
            assert field["description"], name
            assert field["x-de"].keys() >= {"title", "description"}, name


@pytest.mark.parametrize(
    ("profile", "filename", "told"),
    [
        (None, "factur-x.xml", "Factur-X EN 16931"),
        ("XRECHNUNG", "xrechnung.xml", "XRechnung"),
        ("BASIC", "factur-x.xml", "Factur-X BASIC"),
        ("EXTENDED", "factur-x.xml", "Factur-X EXTENDED"),
        ("BASIC_WL", "factur-x.xml", "Factur-X BASIC WL"),
        ("MINIMUM", "factur-x.xml", "Factur-X MINIMUM"),
    ],
)
def test_profiles_of_a_hybrid(server, profile, filename, told):
    made = server.generate(format="ZUGFERD", **({"profile": profile} if profile else {})).json()
    assert made["embedded_xml"] == {"available": True, "syntax": "CII", "filename": filename}
    assert made["validation"]["validation_profile"] == told
    pdf = server.client.get(made["artifacts"]["zugferd_pdf"]["url"]).content
    answer = server.validate(pdf, lang="en").json()
    assert (answer["validation_profile"], answer["validation_details"]["container"]["is_valid"]) == (told, True)
    if profile in ("MINIMUM", "BASIC_WL"):
        layers = [layer["name"] for layer in answer["validation_details"]["validation_stack"]["layers"]]
        assert "en16931" not in layers
        assert "profile" in layers
        assert "DECL-NO-INVOICE" in {it["code"] for it in answer["warnings"]}


# ---------------------------------------------------------------- 2.2, 2.3 results


@pytest.fixture(scope="module")
def answers(server):
    return [server.validate(content, lang="en").json() for content in (UBL, WRONG, CII)]


def test_valid_means_without_errors(answers):
    assert {answer["is_valid"] for answer in answers} == {True, False}
    for answer in answers:
        assert answer["is_valid"] == (not answer["errors"])
        assert {error["severity"] for error in answer["errors"]} <= {"fatal"}
        assert {it["severity"] for it in answer["warnings"]} <= {"warning", "information"}


def test_a_finding_tells_its_rules_own_severity_and_why_it_was_overridden(server):
    """KoSIT's configuration makes a warning of what BR-CL-23 calls fatal."""
    answer = server.validate(UBL.replace(b'unitCode="', b'unitCode="~')).json()
    found = [it for it in answer["warnings"] if it["code"] == "BR-CL-23"]
    assert answer["is_valid"]
    assert {(it["severity"], it["flag"]) for it in found} == {("warning", "fatal")}
    assert all(it["override_reason"] for it in found)
    plain = server.validate(WRONG).json()["errors"]
    assert {(it["severity"] == it["flag"], it["override_reason"]) for it in plain} == {(True, "")}


def test_what_is_not_schema_valid_is_judged_all_the_same(server):
    broken = WRONG.replace(b"<cbc:ID>", b"<cbc:Unknown/><cbc:ID>", 1)
    answer = server.validate(broken).json()
    assert not answer["is_valid"]
    layers = {error["validation_layer"] for error in answer["errors"]}
    assert layers >= {"schema", "en16931"}
    (sum_of_lines,) = [error for error in answer["errors"] if error["code"] == "BR-CO-10"]
    assert (sum_of_lines["indicative"], sum_of_lines["severity"]) == (True, "fatal")


def test_the_stack_tells_its_layers(answers):
    for answer in answers:
        stack = answer["validation_details"]["validation_stack"]
        assert [layer["name"] for layer in stack["layers"]] == ["schema", "en16931", "cius"]
        for layer in stack["layers"]:
            assert layer["executed"] is True
            assert layer["version"]
            assert len(bytes.fromhex(layer["sha256"])) == 32
            assert (layer["rules"] > 0) == (layer["name"] != "schema")
        assert "1.3.16" in stack["en16931"]
        assert "2.6.0" in stack["xrechnung"]
        assert "3.0.2" in stack["xrechnung"]


def test_what_is_no_xrechnung_has_strings_all_the_same(server):
    core = UBL.replace(b"#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0", b"")
    for document in (core, declaring("urn:example:other")):
        answer = server.validate(document, lang="en").json()
        assert answer["xrechnung_version"] == "3.0.2"
        assert "not applied" in answer["validation_details"]["validation_stack"]["xrechnung"]
    assert server.validate(core).json()["validation_profile"] == "EN 16931"


# ---------------------------------------------------------------- 2.5 links


def test_names_of_the_files(server):
    made = server.generate(format="ZUGFERD").json()
    for answer in (made, server.validate().json()):
        for kind, link in answer["artifacts"].items():
            if kind in KINDS:
                assert link["url"].endswith(f"/{KINDS[kind]}")
                assert link["url"].startswith(f"{server.base}{API[1:]}/artifacts/")


# ---------------------------------------------------------------- 4, 5, 7 endpoints


def pdf_with(content):
    made = io.BytesIO()
    with pikepdf.new() as pdf:
        pdf.add_blank_page()
        pdf.attachments["invoice.xml"] = pikepdf.AttachedFileSpec(pdf, content, filename="invoice.xml")
        pdf.save(made)
    return made.getvalue()


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
def test_what_cannot_be_read_has_a_code_of_its_own(server, content, code):
    de, en = (assert_problem(server.validate(content, lang=lang), 422, code) for lang in ("de", "en"))
    assert de.detail != en.detail


@pytest.mark.parametrize("path", [VALIDATE, BATCH, GENERATE])
def test_problems_come_in_the_language_asked_for(server, path):
    told = {lang: server.client.post(path, params=query) for lang, query in
            {"": {}, "de": {"lang": "de"}, "en": {"lang": "en"}}.items()}  # fmt: skip
    titles = {lang: answer.json()["title"] for lang, answer in told.items()}
    assert titles[""] == titles["de"] != titles["en"]


def test_a_batch_is_german_unless_asked_for_english(server):
    sent = [("files", ("a.xml", WRONG))]
    answers = [server.client.post(BATCH, files=sent, params=query) for query in ({}, {"lang": "de"}, {"lang": "en"})]
    titles = [answer.json()["items"][0]["errors"][0]["title"] for answer in answers]
    assert titles[0] == titles[1] != titles[2]


def test_a_catalog_and_a_generated_invoice_are_german_unless_asked_for_english(server):
    assert server.client.get(f"{API}/errors/catalog").json()["language"] == "de"
    default, english = (server.client.post(GENERATE, params=query, json=DRAFT) for query in ({}, {"lang": "en"}))
    assert default.json()["validation"]["errors"][0]["title"] != english.json()["validation"]["errors"][0]["title"]


@pytest.mark.parametrize("path", [path.replace("{token}", "x" * 32) for path in ENDPOINTS.values()])
def test_a_plan_without_use_of_the_interface(server, path):
    server.add_plan("EINVOICE_PLAN_READER=can_batch,can_generate_invoice")
    key = server.add_key(f"reader-{abs(hash(path)) % 10**9}", "reader")
    for method in ("GET", "POST"):
        answer = httpx.request(method, server.base.join(f"{API}{path}"), headers=key)
        assert_problem(answer, 403, "plan_required")


@pytest.mark.parametrize("name", ["capabilities", "error_catalog", "invoice_draft_schema"])
def test_methods_are_as_documented(server, name):
    path = f"{API}{ENDPOINTS[name]}"
    assert server.client.get(path).status_code == 200
    for method in ("POST", "PUT", "DELETE"):
        assert_problem(server.client.request(method, path), 405, "method_not_allowed")


def test_the_catalog_has_all_layers(server):
    items = server.client.get(f"{API}/errors/catalog").json()["items"]
    layers = {"schema", "en16931", "cius", "extension", "profile", "pdf", "file"}
    assert {item["validation_layer"] for item in items} == layers
    own = [item["code"] for item in items if item["validation_layer"] in ("pdf", "file", "schema")]
    assert not [code for code in own if code.startswith(("BR-", "UBL-", "CII-", "PEPPOL-"))]
