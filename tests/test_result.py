"""Findings and results as values: what they say, and the shapes they take."""

import csv
import html.parser
import io
import json
import pickle
import re
from dataclasses import FrozenInstanceError, asdict, replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

import einvoice
from einvoice.cli.outcome import Outcome
from einvoice.cli.table import format_table
from einvoice.model.terms import terms
from einvoice.render import text
from einvoice.result import Finding
from einvoice.rulebook.catalog import catalog
from einvoice.syntax.severity_overrides import Override

SAMPLES = Path(__file__).parent / "samples"
UBL = (SAMPLES / "ubl-invoice.xml").read_bytes()
CII = (SAMPLES / "cii-invoice.xml").read_bytes()
WRONG = UBL.replace(b'"EUR">99.00', b'"EUR">98.99').replace(b"2026-05-04", b"2026-05-32")
SEVERITIES = ("information", "warning", "fatal")
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def valid():
    return einvoice.validate(UBL)


@pytest.fixture(scope="module")
def wrong():
    return einvoice.validate(WRONG, lang="en")


def made(code="BR-CO-10", **content):
    return Finding(code, "fatal", "fatal", "en16931", "totals", **content)


# ---------------------------------------------------------------- a finding


def test_a_finding_is_a_small_value_that_nobody_changes():
    finding = made()
    with pytest.raises(FrozenInstanceError):
        finding.severity = "warning"
    assert not hasattr(finding, "__dict__")
    assert finding == made()
    assert {finding, made()} == {finding}
    assert finding != made(terms=("BT-106",))


def test_findings_at_different_places_are_different(wrong):
    assert len(set(wrong.findings)) == len(wrong.findings) == 2
    again = einvoice.validate(WRONG, lang="en")
    assert again.findings == wrong.findings
    assert set(again.findings) == set(wrong.findings)


@pytest.mark.parametrize(
    ("listed", "leading"),
    [
        ((), ""),
        (("BT-106", "BT-131"), "BT-106"),
        (("BG-25",), "BT-126"),
        (("BG-2",), "BT-23"),
        (("BG-4", "BT-27"), "BT-27"),
        (("BT-DEX-001",), "BT-DEX-001"),
    ],
)
def test_the_leading_term_of_a_group_is_its_first_one(listed, leading):
    assert made(terms=listed).bt_field == leading


def test_nothing_is_to_be_done_about_what_the_declared_extension_allows():
    allowed = Override("information", "Erlaubt.", "Allowed.")
    tolerated = Override("warning", "Geduldet.", "Tolerated.")
    assert made(override=allowed).fix("de") == "Hier ist nichts zu tun."
    assert made(override=allowed).to_dict("en")["fix"] == "No action needed."
    assert made(override=tolerated).fix("en") == made().fix("en")


@pytest.mark.parametrize(
    ("code", "found", "told"),
    [("BR-CL-16", "58.000", "found “58.000”"), ("BR-CL-16", "", ""), ("BR-CL-03", "17.94", ""), ("BR-E-01", 0, "")],
)
def test_a_text_that_is_wrong_is_told_with_the_numbers(code, found, told):
    assert text.compared_text(made(code, values={"found": found}), "en") == told


def test_errors_are_told_before_what_is_for_information(wrong):
    kinds = [replace(made(f"BR-0{number}"), severity=it) for number, it in enumerate(SEVERITIES, 1)]
    ordered = [it.code for it in text.by_severity([*kinds, made("BR-09")])]
    assert ordered == ["BR-03", "BR-09", "BR-02", "BR-01"]
    many = replace(wrong, findings=(kinds[0],) * 300 + (kinds[2],))
    for shown in (str(many), many._repr_html_(), "".join(format_table(iter([Outcome("a", many)]), "en"))):
        codes = re.findall(r"BR-0\d", shown)
        assert codes[0] == "BR-03"
        assert "BR-01" in codes


def test_every_group_has_a_leading_term():
    groups = [number for number in terms() if re.fullmatch(r"BG-\d+", number)]
    assert len(groups) > 30
    for group in groups:
        assert re.fullmatch(r"BT-\d+", made(terms=(group,)).bt_field)


def test_texts_come_in_the_language_asked_for_and_quote_the_values():
    finding = made(values={"expected": Decimal("369.00"), "actual": Decimal("368.99")})
    assert "369,00" in finding.fix("de")
    assert "369.00" in finding.fix("en")
    assert finding.title("de") != finding.title("en")
    assert finding.title() == finding.title("de")
    assert replace(finding, lang="en").title() == finding.title("en")


def test_an_override_gives_its_reason():
    finding = replace(made(), severity="warning", override=Override("warning", "darum", "therefore"))
    assert (finding.override_reason(), finding.override_reason("en")) == ("darum", "therefore")
    assert made().override_reason() == ""


def test_a_finding_without_a_place_says_so():
    finding = made()
    assert (finding.line, finding.column, finding.xpath) == (None, None, "")


def test_words_of_a_finding():
    (schema, rule) = einvoice.validate(WRONG).findings
    assert str(schema) == "SCHEMA-VALUE-DATE (Zeile 8, BT-2): „2026-05-32“ ist kein Datum"
    assert str(rule) == "BR-CO-10 (Zeile 113, BT-106): Die Summe der Positionsbeträge stimmt nicht"
    assert repr(rule) == "<Finding BR-CO-10: fatal, line 113>"
    assert str(made(code="FILE-EMPTY")).startswith("FILE-EMPTY: ")


# ---------------------------------------------------------------- the answer of the HTTP interface

TEXT, TRUTH, WHOLE = str, bool, int
ITEM = {
    "code": TEXT, "severity": TEXT, "validation_layer": TEXT, "section": TEXT, "title": TEXT, "explanation": TEXT,
    "fix": TEXT, "bt_field": TEXT, "xpath": TEXT,
}  # fmt: skip
ANSWER = {
    "status": TEXT,
    "validation_mode": TEXT,
    "is_valid": TRUTH,
    "xrechnung_version": TEXT,
    "validation_profile": TEXT,
    "validation_format": TEXT,
    "processing_time_ms": WHOLE,
    "errors": [ITEM],
    "warnings": [ITEM],
    "validation_details": {
        "invoice_identity": {"syntax": TEXT, "declared_profile": TEXT, "declared_version": TEXT},
        "validation_stack": {"mode": TEXT, "scenario_id": TEXT, "status": TEXT, "en16931": TEXT, "xrechnung": TEXT},
        "compatibility": {"status": TEXT, "message": (str, type(None))},
    },
}
ODD = CII.replace(b"urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0", b"urn:example:none")


def assert_shape(content, shape):
    if isinstance(shape, dict):
        assert shape.keys() <= content.keys()
        for name, inner in shape.items():
            assert_shape(content[name], inner)
    elif isinstance(shape, list):
        for item in content:
            assert_shape(item, shape[0])
    else:
        assert isinstance(content, shape)


@pytest.mark.parametrize("data", [UBL, CII, WRONG, ODD, b"<Invoice xmlns='%s'/>" % einvoice.NAMESPACES["ubl"].encode()])
@pytest.mark.parametrize("lang", ["de", "en"])
def test_the_answer_has_the_promised_shape(data, lang):
    answer = einvoice.validate(data).to_dict(lang)
    assert_shape(answer, ANSWER)
    assert json.loads(json.dumps(answer)) == answer


def test_the_answer_says_what_was_judged_and_by_what(valid):
    answer = valid.to_dict("en")
    assert (answer["status"], answer["validation_mode"], answer["is_valid"]) == ("done", "current", True)
    assert (answer["validation_profile"], answer["validation_format"]) == ("XRechnung", "UBL")
    assert answer["xrechnung_version"] == "3.0.2"
    details = answer["validation_details"]
    assert details["invoice_identity"] == {
        "syntax": "UBL",
        "root": "Invoice",
        "declared_profile": "XRechnung",
        "declared_version": "3.0",
        "customization_id": "urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0",
    }
    stack = details["validation_stack"]
    assert (stack["mode"], stack["status"], stack["scenario_id"]) == ("current", "current", "xrechnung-3.0-ubl")
    assert "1.3.16" in stack["en16931"]
    assert "2.6.0" in stack["xrechnung"]
    assert [layer["name"] for layer in stack["layers"]] == ["schema", "en16931", "cius"]
    assert [layer["version"] for layer in stack["layers"]] == ["2.1", "1.3.16", "2.6.0"]
    assert [layer["rules"] > 0 for layer in stack["layers"]] == [False, True, True]
    for layer in stack["layers"]:
        assert layer["executed"] is True
        assert layer["title"]
        assert re.fullmatch("[0-9a-f]{64}", layer["sha256"])
    assert details["compatibility"] == {"status": "current", "message": None, "differences": []}
    assert asdict(valid.summary) == {
        "invoice_number": "LG-2026-0417",
        "invoice_date": "2026-05-04",
        "format": "UBL",
        "seller": "Lindenhof Gartenbau GmbH",
        "buyer": "Stadt Hohenau",
        "currency": "EUR",
        "amount_due": "400.00",
    }


def test_each_schema_has_a_digest_of_its_own():
    kinds = ("ubl-invoice.xml", "ubl-credit-note.xml", "cii-invoice.xml")
    results = [einvoice.validate(SAMPLES / name) for name in kinds for _ in range(2)]
    digests = [result.stack.layer("schema").sha256 for result in results]
    assert digests[::2] == digests[1::2]
    assert len(set(digests)) == 3


def test_the_date_of_a_cii_invoice_is_an_iso_date():
    assert einvoice.validate(CII).summary.invoice_date == "2026-05-11"


def test_fields_are_texts_for_documents_that_are_no_xrechnung():
    answer = einvoice.validate(ODD).to_dict("en")
    stack = answer["validation_details"]["validation_stack"]
    assert answer["validation_profile"] == "unknown"
    assert answer["xrechnung_version"] == "3.0.2"
    assert stack["xrechnung"].startswith("not applied")
    assert stack["status"] == answer["validation_details"]["compatibility"]["status"] == "unknown"
    assert answer["validation_details"]["compatibility"]["message"]


def test_items_of_the_answer(wrong):
    answer = wrong.to_dict("en")
    schema, rule = answer["errors"]
    assert answer["warnings"] == []
    assert (schema["validation_layer"], schema["indicative"]) == ("schema", False)
    assert (rule["validation_layer"], rule["indicative"], rule["flag"]) == ("en16931", True, "fatal")
    assert rule["values"]["difference"] == "0.01"
    assert (rule["line"], rule["column"], rule["terms"][0]) == (113, 5, "BT-106")
    assert "doc_url" not in rule
    assert rule["title"] == "The line net amounts do not add up"


def test_values_of_every_type_are_ready_for_json():
    values = {"amount": Decimal("1E+3"), "day": date(2026, 2, 1), "truth": True, "text": "x", "number": 3}
    assert made(values=values).to_dict()["values"] == {
        "amount": "1000", "day": "2026-02-01", "truth": True, "text": "x", "number": 3,
    }  # fmt: skip


# ---------------------------------------------------------------- the result


def test_raise_for_findings(valid, wrong):
    assert valid.raise_for_findings() is valid
    with pytest.raises(einvoice.FindingsError, match="BR-CO-10") as raised:
        wrong.raise_for_findings()
    assert raised.value.result is wrong


def test_errors_and_warnings_are_all_findings(wrong):
    softer = replace(wrong.findings[1], severity="information")
    result = replace(wrong, findings=(wrong.findings[0], softer))
    assert result.errors == (wrong.findings[0],)
    assert result.warnings == (softer,)


def test_words_of_a_result_are_the_same_every_time(valid, wrong):
    assert str(valid) == "LG-2026-0417, XRechnung 3.0 (UBL): gültig, keine Befunde"
    assert repr(valid) == "<ValidationResult XRechnung (UBL): valid, 0 errors, 0 warnings>"
    assert repr(wrong) == "<ValidationResult XRechnung (UBL): not valid, 2 errors, 0 warnings>"
    first, *rows = str(wrong).splitlines()
    assert first == "LG-2026-0417, XRechnung 3.0 (UBL): not valid, 2 errors"
    assert [row.split()[0] for row in rows] == ["SCHEMA-VALUE-DATE", "BR-CO-10"]


def test_a_long_list_is_cut_in_words_only(wrong):
    many = replace(wrong, findings=wrong.findings * 30)
    assert len(str(many).splitlines()) < 30
    assert str(many).endswith("… + 40")


def test_a_table_has_a_row_for_each_finding_and_exact_numbers(wrong, valid):
    frame = wrong.to_frame()
    assert list(frame["code"]) == ["SCHEMA-VALUE-DATE", "BR-CO-10"]
    assert list(frame["line"]) == [8, 113]
    assert frame["actual"][1] == Decimal("369.00")
    assert isinstance(frame["difference"][1], Decimal)
    assert list(frame["indicative"]) == [False, True]
    assert frame["title"][1] == "The line net amounts do not add up"
    empty = valid.to_frame(lang="en")
    assert len(empty) == 0
    assert list(empty.columns) == list(frame.columns)


def test_csv_can_be_read_back(wrong, tmp_path):
    path = tmp_path / "findings.csv"
    text = wrong.to_csv(path)
    assert path.read_bytes().decode("utf-8") == text
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["code"] for row in rows] == ["SCHEMA-VALUE-DATE", "BR-CO-10"]
    assert (rows[1]["expected"], rows[1]["actual"], rows[1]["difference"]) == ("368.99", "369.00", "0.01")
    assert rows[0]["expected"] == ""


@pytest.mark.parametrize("text", ["=HYPERLINK(1)", "+1", "-x", "@SUM(A1)", "\t=1"])
def test_no_cell_is_taken_for_a_formula(wrong, text):
    result = replace(wrong, findings=(made(values={"actual": text}),))
    (row,) = csv.DictReader(io.StringIO(result.to_csv(), newline=""))
    assert row["actual"] == f"'{text}"


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.open, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_a_notebook_shows_it_without_running_what_a_document_says():
    data = WRONG.replace(b"LG-2026-0417</cbc:ID>", b"&lt;script&gt;alert(1)&lt;/script&gt;</cbc:ID>", 1)
    data = data.replace(b"2026-05-32", b"&lt;img src=x onerror=alert(2)&gt;")
    result = einvoice.validate(data, lang="en")
    page = Page()
    page.feed(result._repr_html_())
    assert page.open == []
    assert not {"script", "img", "link", "iframe"} & set(page.tags)
    text = " ".join(page.text)
    assert HOSTILE in text
    assert "onerror=alert(2)" in text
    assert "BR-CO-10" in text
    assert "not valid" in text
    assert "expected 368.99, found 369.00, difference 0.01" in text


def test_a_notebook_shows_a_valid_invoice_without_a_table(valid):
    page = Page()
    page.feed(valid._repr_html_())
    assert "table" not in page.tags
    assert "gültig" in " ".join(page.text)


def test_a_notebook_is_not_flooded(wrong):
    page = Page()
    page.feed(replace(wrong, findings=wrong.findings * 5000)._repr_html_())
    assert page.tags.count("tr") < 300
    assert "… + 9800" in page.text


def test_every_text_of_the_catalog_that_a_result_needs_is_there():
    codes = {"LAYER-MISSING", "LAYER-FAILED", "FILE-PDF", "DECL-MISSING", "SCHEMA-VALUE-DATE"}
    assert codes <= set(catalog())


def test_an_error_with_a_result_tells_which_codes():
    error = einvoice.FindingsError(einvoice.validate(WRONG))
    assert str(error) == "The invoice is not valid: SCHEMA-VALUE-DATE, BR-CO-10"
    assert isinstance(error, einvoice.EinvoiceError)


def test_an_unreadable_document_travels_with_its_texts():
    with pytest.raises(einvoice.UnreadableDocument) as raised:
        einvoice.validate(b"<a><b></a>")
    again = pickle.loads(pickle.dumps(raised.value))
    assert einvoice.explain_error(again, "de") == einvoice.explain_error(raised.value, "de")
    title, detail = einvoice.explain_error(again, "en")
    assert title == "An element is closed with the wrong name"
    assert "<b>" in detail


def test_a_place_is_where_a_start_tag_begins():
    """libxml2 says where it ends, and nothing beyond line 65,535."""
    missing = WRONG.replace(b"<cbc:BuyerReference>", b"<!--").replace(b"</cbc:BuyerReference>", b"-->")
    (root,) = [finding for finding in einvoice.validate(missing).findings if finding.code == "BR-DE-15"]
    assert (root.line, root.column) == (missing[: missing.index(b"<Invoice")].count(b"\n") + 1, 1)
    long = b"<?xml version='1.0'?>" + b"\n" * 70_000 + missing.partition(b"?>")[2]
    (far,) = [finding for finding in einvoice.validate(long).findings if finding.code == "BR-DE-15"]
    assert far.line == 70_000 + root.line
