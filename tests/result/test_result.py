"""Findings and results: texts, JSON, tables, CSV and HTML."""

import csv
import html.parser
import io
import json
import pickle
import re
from dataclasses import FrozenInstanceError, asdict, replace
from datetime import date
from decimal import Decimal

import pytest

import einvoice
from einvoice.cli.outcome import Outcome
from einvoice.cli.table import format_table
from einvoice.code_catalog import catalog
from einvoice.model.terms import terms
from einvoice.render import text
from einvoice.result import Finding
from einvoice.syntax.severity_overrides import Override
from tests.helpers.paths import SAMPLES

UBL = (SAMPLES / "ubl-invoice.xml").read_bytes()
CII = (SAMPLES / "cii-invoice.xml").read_bytes()
WRONG = UBL.replace(b'"EUR">99.00', b'"EUR">98.99').replace(b"2026-05-04", b"2026-05-32")
SEVERITIES = ("information", "warning", "fatal")
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def valid():
    return einvoice.validate(UBL)


@pytest.fixture(scope="module")
def invalid():
    return einvoice.validate(WRONG, lang="en")


def make_finding(code="BR-CO-10", **content):
    return Finding(code, "fatal", "fatal", "en16931", "totals", **content)


# ---------------------------------------------------------------- a finding


def test_finding_is_immutable_and_hashable():
    finding = make_finding()
    with pytest.raises(FrozenInstanceError):
        finding.severity = "warning"
    assert not hasattr(finding, "__dict__")
    assert finding == make_finding()
    assert {finding, make_finding()} == {finding}
    assert finding != make_finding(terms=("BT-106",))


def test_findings_at_different_locations_are_not_equal(invalid):
    assert len(set(invalid.findings)) == len(invalid.findings) == 2
    restored = einvoice.validate(WRONG, lang="en")
    assert restored.findings == invalid.findings
    assert set(restored.findings) == set(invalid.findings)


@pytest.mark.parametrize(
    ("listed", "leading"),
    [
        ((), ""),
        (("BT-106", "BT-131"), "BT-106"),
        (("BG-25",), "BT-126"),
        (("BG-2",), "BT-23"),
        (("BG-4", "BT-27"), "BT-27"),
        (("BT-DEX-001",), ""),
    ],
)
def test_bt_field_of_a_group_is_its_first_term(listed, leading):
    assert make_finding(terms=listed).bt_field == leading


def test_override_to_information_needs_no_fix():
    allowed = Override("information", {"de": "Erlaubt.", "en": "Allowed."})
    tolerated = Override("warning", {"de": "Geduldet.", "en": "Tolerated."})
    assert make_finding(override=allowed).fix("de") == "Hier ist nichts zu tun."
    assert make_finding(override=allowed).to_dict("en")["fix"] == "No action needed."
    assert make_finding(override=tolerated).fix("en") == make_finding().fix("en")


def test_text_of_a_permitted_finding_does_not_say_that_it_is_forbidden():
    allowed = Override("information", {"de": "Erlaubt.", "en": "Allowed by the extension."})
    finding = make_finding("UBL-CR-470", override=allowed)
    assert finding.title("en").startswith("By EN 16931 alone: ")
    assert finding.explanation("en") == "Allowed by the extension. This rule of EN 16931 does not decide here."
    assert make_finding("UBL-CR-470", override=allowed).fix("en") == "No action needed."


def test_text_of_a_finding_in_a_document_of_another_standard_says_when_it_matters():
    finding = make_finding(standard="Peppol PINT")
    assert finding.title("en") == f"By EN 16931 alone: {make_finding().title('en')}"
    assert finding.fix("en").startswith("If Peppol PINT applies, change nothing. The following applies only if ")
    assert finding.fix("en").endswith(make_finding().fix("en"))


@pytest.mark.parametrize(
    ("code", "found", "expected"),
    [("BR-CL-16", "58.000", "found “58.000”"), ("BR-CL-16", "", ""), ("BR-CL-03", "17.94", ""), ("BR-E-01", 0, "")],
)
def test_compared_text_quotes_the_invalid_value(code, found, expected):
    assert text.compared_text(make_finding(code, values={"found": found}), "en") == expected


def test_compared_text_does_not_repeat_the_quoted_value():
    finding = make_finding("BR-CL-16", values={"found": "CAO", "actual": "CAO", "expected": "30"})
    assert text.compared_text(finding, "en") == "found “CAO”, expected 30"


def test_value_that_a_text_beside_it_quotes_is_not_repeated():
    finding = make_finding("BR-CL-16", values={"found": "CAO", "expected": "30"})
    assert text.compared_text(finding, "en", "The code “CAO” is unknown") == "expected 30"
    assert text.compared_text(finding, "en", "The code CAO is unknown", "Enter “30”") == ""
    assert text.compared_text(finding, "en", "The code “CAOS” of line 30 is wrong") == "found “CAO”, expected 30"


def test_amounts_with_a_difference_are_shown_together():
    values = {"expected": Decimal("369.00"), "actual": Decimal("368.99"), "difference": Decimal("0.01")}
    shown = text.compared_text(make_finding(values=values), "en", "Found: 368.99, calculated: 369.00.")
    assert shown == "expected 369.00, found 368.99, difference 0.01"


def test_date_is_quoted_in_the_form_of_its_syntax():
    finding = make_finding(values={"actual": date(2026, 4, 1)})
    assert text.compared_text(finding, "en", "The issue date is 2026-04-01") == ""
    assert text.compared_text(finding, "de", "Als Rechnungsdatum ist „20260401“ angegeben.") == ""
    assert text.compared_text(finding, "en", "The issue date is wrong") == "found 2026-04-01"


def test_findings_are_displayed_by_severity(invalid):
    findings = [replace(make_finding(f"BR-0{number}"), severity=each) for number, each in enumerate(SEVERITIES, 1)]
    ordered = [each.code for each in text.by_severity([*findings, make_finding("BR-09")])]
    assert ordered == ["BR-03", "BR-09", "BR-02", "BR-01"]
    many = replace(invalid, findings=(findings[0],) * 300 + (findings[2],))
    for printed in (str(many), many._repr_html_(), "".join(format_table(iter([Outcome("a", many)]), "en"))):
        codes = re.findall(r"BR-0\d", printed)
        assert codes[0] == "BR-03"
        assert "BR-01" in codes


def test_amounts_calculated_from_doubles_have_two_decimals(sample):
    allowance = b"""
      <ram:SpecifiedTradeAllowanceCharge>
        <ram:ChargeIndicator><udt:Indicator>false</udt:Indicator></ram:ChargeIndicator>
        <ram:ActualAmount>10.00</ram:ActualAmount>
      </ram:SpecifiedTradeAllowanceCharge>
      <ram:SpecifiedTradePaymentTerms>"""
    content = sample("cii-invoice.xml").read_bytes().replace(b"<ram:SpecifiedTradePaymentTerms>", allowance, 1)
    finding = next(it for it in einvoice.validate(content).findings if it.code == "BR-CO-11")
    assert "Errechnet: 10,00." in finding.explanation("de")


def test_every_group_has_a_leading_term():
    groups = [number for number in terms() if re.fullmatch(r"BG-\d+", number)]
    assert len(groups) > 30
    for group in groups:
        assert re.fullmatch(r"BT-\d+", make_finding(terms=(group,)).bt_field)


def test_texts_use_the_requested_language_and_quote_values():
    finding = make_finding(values={"expected": Decimal("369.00"), "actual": Decimal("368.99")})
    assert "369,00" in finding.fix("de")
    assert "369.00" in finding.fix("en")
    assert finding.title("de") != finding.title("en")
    assert finding.title() == finding.title("de")
    assert replace(finding, lang="en").title() == finding.title("en")


def test_findings_with_an_override_are_hashable():
    override = Override("warning", {"de": "darum", "en": "therefore"})
    same = Override("warning", {"de": "darum", "en": "therefore"})
    assert {make_finding(override=override): 1}[make_finding(override=same)] == 1


def test_override_has_a_reason():
    override = Override("warning", {"de": "darum", "en": "therefore"})
    finding = replace(make_finding(), severity="warning", override=override)
    assert (finding.override_reason(), finding.override_reason("en")) == ("darum", "therefore")
    assert make_finding().override_reason() == ""


def test_finding_without_a_location():
    finding = make_finding()
    assert (finding.line, finding.column, finding.xpath) == (None, None, "")


def test_text_of_a_finding():
    (schema, rule) = einvoice.validate(WRONG).findings
    assert str(schema) == "SCHEMA-VALUE-DATE (Zeile 8, BT-2): „2026-05-32“ ist kein gültiges Datum"
    assert str(rule) == "BR-CO-10 (Zeile 113, BT-106): Die Summe der Positionsbeträge stimmt nicht"
    assert repr(rule) == "<Finding BR-CO-10: fatal, line 113>"
    assert str(make_finding(code="FILE-EMPTY")).startswith("FILE-EMPTY: ")


# ---------------------------------------------------------------- JSON of the HTTP interface

TEXT, BOOLEAN, INTEGER = str, bool, int
FINDING_SHAPE = {
    "code": TEXT, "severity": TEXT, "validation_layer": TEXT, "section": TEXT, "title": TEXT, "explanation": TEXT,
    "fix": TEXT, "bt_field": TEXT, "xpath": TEXT,
}  # fmt: skip
RESULT_SHAPE = {
    "status": TEXT,
    "validation_mode": TEXT,
    "is_valid": BOOLEAN,
    "xrechnung_version": TEXT,
    "validation_profile": TEXT,
    "validation_format": TEXT,
    "processing_time_ms": INTEGER,
    "errors": [FINDING_SHAPE],
    "warnings": [FINDING_SHAPE],
    "validation_details": {
        "invoice_identity": {"syntax": TEXT, "declared_profile": TEXT, "declared_version": TEXT},
        "validation_stack": {"mode": TEXT, "scenario_id": TEXT, "status": TEXT, "en16931": TEXT, "xrechnung": TEXT},
        "compatibility": {"status": TEXT, "message": (str, type(None))},
    },
}
UNKNOWN_SPECIFICATION = CII.replace(
    b"urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0", b"urn:example:none"
)


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


@pytest.mark.parametrize(
    "data", [UBL, CII, WRONG, UNKNOWN_SPECIFICATION, b"<Invoice xmlns='%s'/>" % einvoice.NAMESPACES["ubl"].encode()]
)
@pytest.mark.parametrize("lang", ["de", "en"])
def test_json_has_the_documented_shape(data, lang):
    answer = einvoice.validate(data).to_dict(lang)
    assert_shape(answer, RESULT_SHAPE)
    assert json.loads(json.dumps(answer)) == answer


def test_json_describes_invoice_and_validation_stack(valid):
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
    assert [layer["name"] for layer in stack["layers"]] == ["schema", "en16931", "xrechnung", "plausibility"]
    assert [layer["kind"] for layer in stack["layers"]] == ["schema", "en16931", "cius", "plausibility"]
    assert [layer["version"] for layer in stack["layers"]] == ["2.1", "1.3.16", "2.6.0", "1.0"]
    assert [layer["rules"] > 0 for layer in stack["layers"]] == [False, True, True, True]
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


def test_each_schema_has_its_own_digest():
    samples = ("ubl-invoice.xml", "ubl-credit-note.xml", "cii-invoice.xml")
    results = [einvoice.validate(SAMPLES / name) for name in samples for _ in range(2)]
    digests = [result.stack.layer("schema").sha256 for result in results]
    assert digests[::2] == digests[1::2]
    assert len(set(digests)) == 3


def test_date_of_a_cii_invoice_is_an_iso_date():
    assert einvoice.validate(CII).summary.invoice_date == "2026-05-11"


@pytest.mark.parametrize("date", [b"31.12.2026", b"2026-02-30", b""])
def test_summary_has_no_date_if_it_cannot_be_read(date):
    document = re.sub(rb"(<cbc:IssueDate>)[^<]*", rb"\g<1>" + date, UBL, count=1)
    assert document != UBL
    assert einvoice.validate(document).summary.invoice_date == ""


def test_bt_field_of_every_rule_is_the_number_of_a_term():
    items = einvoice.catalog().to_dict()["items"]
    assert [item["code"] for item in items if not re.fullmatch(r"(BT-\d+)?", item["bt_field"])] == []
    fields = {item["code"]: item["bt_field"] for item in items}
    assert (fields["BR-CL-10"], fields["UBL-DT-07"], fields["BR-DEX-10"]) == ("BT-29", "BT-125", "")
    assert make_finding(terms=("BT-29-1", "BT-46-1")).bt_field == "BT-29"


def test_json_of_a_document_with_unknown_specification():
    answer = einvoice.validate(UNKNOWN_SPECIFICATION).to_dict("en")
    stack = answer["validation_details"]["validation_stack"]
    assert answer["validation_profile"] == "unknown"
    assert answer["xrechnung_version"] == "3.0.2"
    assert stack["xrechnung"].startswith("not applied")
    assert stack["status"] == answer["validation_details"]["compatibility"]["status"] == "unknown"
    assert answer["validation_details"]["compatibility"]["message"]


def test_findings_in_json(invalid):
    answer = invalid.to_dict("en")
    schema, rule = answer["errors"]
    assert answer["warnings"] == []
    assert (schema["validation_layer"], schema["indicative"]) == ("schema", False)
    assert (rule["validation_layer"], rule["indicative"], rule["flag"]) == ("en16931", True, "fatal")
    assert rule["values"]["difference"] == "0.01"
    assert (rule["line"], rule["column"], rule["terms"][0]) == (113, 5, "BT-106")
    assert "doc_url" not in rule
    assert rule["title"] == "The line net amounts do not add up"


def test_values_are_serializable():
    values = {"amount": Decimal("1E+3"), "day": date(2026, 2, 1), "truth": True, "text": "x", "number": 3}
    assert make_finding(values=values).to_dict()["values"] == {
        "amount": "1000", "day": "2026-02-01", "truth": True, "text": "x", "number": 3,
    }  # fmt: skip


# ---------------------------------------------------------------- the result


def test_raise_for_findings(valid, invalid):
    assert valid.raise_for_findings() is valid
    with pytest.raises(einvoice.FindingsError, match="BR-CO-10") as raised:
        invalid.raise_for_findings()
    assert raised.value.result is invalid


def test_findings_are_split_into_errors_and_warnings(invalid):
    error, other = invalid.findings
    warning, information = (replace(other, severity=severity) for severity in ("warning", "information"))
    result = replace(invalid, findings=(error, warning, information))
    assert (result.errors, result.warnings, result.information) == ((error,), (warning,), (information,))
    assert [item["severity"] for item in result.to_dict()["warnings"]] == ["warning", "information"]


def test_text_of_a_result(valid, invalid):
    assert str(valid) == "LG-2026-0417, XRechnung 3.0 (UBL): gültig, keine Befunde"
    assert repr(valid) == "<ValidationResult XRechnung (UBL): valid, 0 errors, 0 warnings>"
    assert repr(invalid) == "<ValidationResult XRechnung (UBL): not valid, 2 errors, 0 warnings>"
    first, *rows = str(invalid).splitlines()
    assert first == "LG-2026-0417, XRechnung 3.0 (UBL): not valid, 2 errors"
    assert [row.split()[0] for row in rows] == ["SCHEMA-VALUE-DATE", "BR-CO-10"]


def test_text_of_many_findings_is_truncated(invalid):
    many = replace(invalid, findings=invalid.findings * 30)
    assert len(str(many).splitlines()) < 30
    assert str(many).endswith("… + 40")


def test_table_has_one_row_per_finding_with_exact_numbers(invalid, valid):
    frame = invalid.to_frame()
    assert list(frame["code"]) == ["SCHEMA-VALUE-DATE", "BR-CO-10"]
    assert list(frame["line"]) == [8, 113]
    assert frame["actual"][1] == Decimal("369.00")
    assert isinstance(frame["difference"][1], Decimal)
    assert list(frame["indicative"]) == [False, True]
    assert frame["title"][1] == "The line net amounts do not add up"
    empty = valid.to_frame(lang="en")
    assert len(empty) == 0
    assert list(empty.columns) == list(frame.columns)


def test_csv_round_trip(invalid, tmp_path):
    path = tmp_path / "findings.csv"
    assert invalid.to_csv(path) is None
    content = invalid.to_csv()
    assert path.read_bytes().decode("utf-8") == content
    rows = list(csv.DictReader(io.StringIO(content, newline="")))
    assert [row["code"] for row in rows] == ["SCHEMA-VALUE-DATE", "BR-CO-10"]
    assert (rows[1]["expected"], rows[1]["actual"], rows[1]["difference"]) == ("368.99", "369.00", "0.01")
    assert rows[0]["expected"] == ""


@pytest.mark.parametrize("text", ["=HYPERLINK(1)", "+1", "-x", "@SUM(A1)", "\t=1"])
def test_csv_cells_are_protected_from_formula_injection(invalid, text):
    result = replace(invalid, findings=(make_finding(values={"actual": text}),))
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


def test_html_escapes_document_text():
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


def test_html_of_a_valid_invoice_has_no_table(valid):
    page = Page()
    page.feed(valid._repr_html_())
    assert "table" not in page.tags
    assert "gültig" in " ".join(page.text)


def test_html_of_many_findings_is_truncated(invalid):
    page = Page()
    page.feed(replace(invalid, findings=invalid.findings * 5000)._repr_html_())
    assert page.tags.count("tr") < 300
    assert "… + 9800" in page.text


def test_catalog_contains_codes_outside_the_rule_layers():
    codes = {"LAYER-MISSING", "LAYER-FAILED", "FILE-PDF", "DECL-MISSING", "SCHEMA-VALUE-DATE"}
    assert codes <= set(catalog())


def test_findings_error_lists_the_codes():
    error = einvoice.FindingsError(einvoice.validate(WRONG))
    assert str(error) == "The invoice is not valid: SCHEMA-VALUE-DATE, BR-CO-10"
    assert isinstance(error, einvoice.EinvoiceError)


def test_unreadable_document_error_survives_pickling():
    with pytest.raises(einvoice.UnreadableDocument) as raised:
        einvoice.validate(b"<a><b></a>")
    restored = pickle.loads(pickle.dumps(raised.value))
    assert einvoice.explain_error(restored, "de") == einvoice.explain_error(raised.value, "de")
    title, detail = einvoice.explain_error(restored, "en")
    assert title == "An element is closed with the wrong name"
    assert "<b>" in detail


def test_location_is_the_beginning_of_the_start_tag():
    """libxml2 reports the end of the tag, and no line beyond 65,535."""
    missing = WRONG.replace(b"<cbc:BuyerReference>", b"<!--").replace(b"</cbc:BuyerReference>", b"-->")
    (root,) = [finding for finding in einvoice.validate(missing).findings if finding.code == "BR-DE-15"]
    assert (root.line, root.column) == (missing[: missing.index(b"<Invoice")].count(b"\n") + 1, 1)
    long = b"<?xml version='1.0'?>" + b"\n" * 70_000 + missing.partition(b"?>")[2]
    (distant,) = [finding for finding in einvoice.validate(long).findings if finding.code == "BR-DE-15"]
    assert distant.line == 70_000 + root.line
