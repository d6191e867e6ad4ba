"""Validation: sources, options, findings and layers."""

import gc
import io
import logging
import re
import threading
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from lxml import etree

import einvoice
from einvoice import errors
from einvoice.rulebook.program.program import Program
from einvoice.rulebook.syntax_rules.collector import Collector
from einvoice.syntax import severity_overrides
from einvoice.syntax.severity_overrides import Override
from einvoice.validation import selection
from tests.cases import corpus
from tests.helpers.paths import SAMPLES
from tests.helpers.properties import examples
from tests.helpers.rule_sets import IDENTIFIER, SPECIFICATIONS, write_rule_set
from tests.helpers.sampling import sampled

UBL = (SAMPLES / "ubl-invoice.xml").read_bytes()
CREDIT = (SAMPLES / "ubl-credit-note.xml").read_bytes()
CII = (SAMPLES / "cii-invoice.xml").read_bytes()
XRECHNUNG = b"urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0"

# Line total one cent too low; no payment instructions; nonexistent date.
WRONG_SUM = UBL.replace(b'"EUR">99.00', b'"EUR">98.99')
NO_PAYMENT = re.sub(rb"\s*<cac:PaymentMeans>.*?</cac:PaymentMeans>", b"", UBL, flags=re.DOTALL)
BAD_DATE = UBL.replace(b"2026-05-04", b"2026-05-32")


def codes(result):
    return [finding.code for finding in result.findings]


def selected(document, finding):
    return document.xpath(finding.xpath, namespaces=einvoice.NAMESPACES)


# ---------------------------------------------------------------- sources and options


@pytest.mark.parametrize(
    ("data", "syntax", "root"),
    [(UBL, "UBL", "Invoice"), (CREDIT, "UBL", "CreditNote"), (CII, "CII", "CrossIndustryInvoice")],
)
def test_samples_are_valid(data, syntax, root):
    result = einvoice.validate(data)
    assert (result.is_valid, codes(result)) == (True, [])
    assert (result.identity.syntax, result.identity.root, result.identity.profile) == (syntax, root, "XRechnung")
    assert [(layer.name, layer.executed) for layer in result.stack.layers] == [
        ("schema", True),
        ("en16931", True),
        ("xrechnung", True),
        ("plausibility", True),
    ]


def test_supported_sources(tmp_path):
    path = tmp_path / "invoice.xml"
    path.write_bytes(WRONG_SUM)
    with path.open("rb") as opened:
        for source, name in (
            (WRONG_SUM, ""),
            (bytearray(WRONG_SUM), ""),
            (io.BytesIO(WRONG_SUM), ""),
            (path, "invoice.xml"),
            (str(path), "invoice.xml"),
            (opened, "invoice.xml"),
        ):
            result = einvoice.validate(source)
            assert (codes(result), result.filename) == (["BR-CO-10"], name)


def test_finding_has_values_and_location():
    (finding,) = einvoice.validate(WRONG_SUM).findings
    assert (finding.code, finding.severity, finding.layer, finding.bt_field) == (
        "BR-CO-10",
        "fatal",
        "en16931",
        "BT-106",
    )
    assert finding.values["expected"] == Decimal("368.99")
    assert finding.values["actual"] == Decimal("369.00")
    assert finding.values["difference"] == Decimal("0.01")
    lines = WRONG_SUM.splitlines()
    assert b"369.00" in lines[finding.line - 1]
    assert lines[finding.line - 1][finding.column - 1 :].startswith(b"<cbc:LineExtensionAmount")
    assert finding.xpath == "/ubl:Invoice/cac:LegalMonetaryTotal/cbc:LineExtensionAmount"
    assert "368,99" in finding.fix("de")
    assert "368.99" in finding.fix("en")


def test_missing_element_is_located_at_its_parent():
    (finding,) = einvoice.validate(NO_PAYMENT).findings
    assert (finding.code, finding.layer, finding.section) == ("BR-DE-1", "xrechnung", "payment")
    assert finding.terms == ("BG-16",)
    assert finding.bt_field == "BT-81"
    assert finding.xpath == "/ubl:Invoice"


def test_inconsistent_values_are_located_at_their_group():
    document = UBL.replace(b'"EUR">260.00</cbc:TaxableAmount>', b'"EUR">250.00</cbc:TaxableAmount>')
    finding = next(it for it in einvoice.validate(document).findings if it.code == "BR-S-08")
    assert finding.values["actual"] == Decimal("250.00")
    assert finding.xpath == "/ubl:Invoice/cac:TaxTotal/cac:TaxSubtotal[1]"


def test_finding_is_located_inside_the_context_of_its_rule():
    discount = b"<cac:AllowanceCharge><cbc:ChargeIndicator>false</cbc:ChargeIndicator>"
    amounts = b'<cbc:Amount currencyID="EUR">1</cbc:Amount><cbc:BaseAmount currencyID="EUR">1</cbc:BaseAmount>'
    document = UBL.replace(b"</cac:Price>", discount + amounts + b"</cac:AllowanceCharge></cac:Price>", 1)
    (finding,) = einvoice.validate(document).findings
    assert (finding.code, finding.bt_field) == ("PEPPOL-EN16931-R046", "BT-146")
    assert finding.xpath == "/ubl:Invoice/cac:InvoiceLine[1]/cac:Price/cac:AllowanceCharge"


def test_default_language_is_german():
    german = einvoice.validate(WRONG_SUM).findings[0]
    english = einvoice.validate(WRONG_SUM, lang="en").findings[0]
    assert german.title() == english.title("de") != english.title() == german.title("en")


@pytest.mark.parametrize(
    ("arguments", "message", "valid_values"),
    [
        ({"lang": "xx"}, "argument 'lang'", ["'de'", "'en'"]),
        ({"mode": "latest"}, "argument 'mode'", ["'current'", "'compatibility'"]),
        ({"profile": "unknown"}, "argument 'profile'", ["'xrechnung'", "'facturx'"]),
        ({"ruleset": "xrechnung-1.9"}, "unknown rule set 'xrechnung-1.9'", ["'xrechnung-3.0.2'"]),
    ],
)
def test_unknown_argument_error_lists_the_valid_values(arguments, message, valid_values):
    with pytest.raises(ValueError, match=message) as raised:
        einvoice.validate(UBL, **arguments)
    for name in valid_values:
        assert name in str(raised.value)


def layers(data, **options):
    return [layer.name for layer in einvoice.validate(data, **options).stack.layers]


@pytest.mark.parametrize("options", [{"profile": "xrechnung"}, {"ruleset": "xrechnung-3.0.2"}])
def test_xrechnung_rules_apply_on_request(options):
    core = NO_PAYMENT.replace(XRECHNUNG, b"urn:cen.eu:en16931:2017")
    assert einvoice.validate(core).is_valid
    assert layers(core) == ["schema", "en16931", "plausibility"]
    forced = einvoice.validate(core, **options)
    assert not forced.is_valid
    assert [layer.name for layer in forced.stack.layers] == ["schema", "en16931", "xrechnung", "plausibility"]
    assert forced.identity.profile == "EN 16931"
    minimum = CII.replace(XRECHNUNG, b"urn:factur-x.eu:1p0:minimum")
    assert layers(minimum, **options) == ["schema", "en16931", "xrechnung", "plausibility"]


@pytest.mark.parametrize(
    ("declared", "code", "status", "severity"),
    [
        (b"urn:example:what-is-this", "DECL-UNKNOWN", "unknown", "warning"),
        (b" ", "DECL-MISSING", "unknown", "warning"),
        (XRECHNUNG.replace(b"xeinkauf.de:kosit", b"xoev-de:kosit:standard").replace(b"3.0", b"2.3"), "DECL-OUTDATED",
         "outdated", "information"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("data", [UBL, CII])
def test_declaration_findings_do_not_change_the_verdict(data, declared, code, status, severity):
    data = data.replace(XRECHNUNG, declared)
    result = einvoice.validate(data)
    finding = next(found for found in result.findings if found.code == code)
    assert (finding.layer, finding.severity, finding.bt_field) == ("file", severity, "BT-24")
    assert result.findings[0] is finding
    assert result.stack.status == status
    assert einvoice.validate(data, mode="compatibility").stack.mode == "compatibility"
    (element,) = selected(etree.fromstring(data), finding)
    assert (element.text or "").strip() == declared.decode().strip()


def test_missing_declaration_is_located_at_its_parent():
    ubl = re.sub(rb"<cbc:CustomizationID>.*?>", b"", UBL)
    parameter = rb"<ram:GuidelineSpecifiedDocumentContextParameter>.*?</ram:GuidelineSpecifiedDocumentContextParameter>"
    cii = re.sub(parameter, b"", CII, flags=re.DOTALL)
    for data, name in ((ubl, "Invoice"), (cii, "ExchangedDocumentContext")):
        finding = einvoice.validate(data).findings[0]
        assert finding.code == "DECL-MISSING"
        (element,) = selected(etree.fromstring(data), finding)
        assert etree.QName(element).localname == name


def test_unmapped_content_is_reported_as_information():
    data = UBL.replace(b"<cbc:CustomizationID>", b"<cbc:UBLVersionID>2.1</cbc:UBLVersionID><cbc:CustomizationID>")
    result = einvoice.validate(data)
    (finding,) = (found for found in result.findings if found.code == "CONTENT-UNCOVERED")
    assert (finding.severity, finding.layer) == ("information", "file")
    assert finding.xpath == "/ubl:Invoice/cbc:UBLVersionID"
    assert finding.title("en").startswith("UBL version (UBLVersionID in Invoice) ")
    assert result.is_valid


def test_number_of_unmapped_content_findings_is_limited():
    response = b"<cac:DiscrepancyResponse><cbc:ReferenceID>7</cbc:ReferenceID></cac:DiscrepancyResponse>"
    result = einvoice.validate(CREDIT.replace(b"<cac:Item>", response * 30 + b"<cac:Item>", 1))
    assert codes(result) == ["CONTENT-UNCOVERED"] * 20
    assert [finding.suppressed for finding in result.findings] == [0] * 19 + [10]


def test_forbidden_content_is_reported_once():
    result = einvoice.validate(UBL.replace(b"<cbc:DueDate>", b"<cbc:IssueTime>12:00:00</cbc:IssueTime><cbc:DueDate>"))
    assert codes(result) == ["UBL-CR-006"]


def test_repeated_syntax_findings_are_limited_and_counted():
    registration = b"<cac:PartyTaxScheme><cac:TaxScheme><cbc:ID>VAT</cbc:ID></cac:TaxScheme></cac:PartyTaxScheme>"
    result = einvoice.validate(UBL.replace(b"<cac:PartyTaxScheme>", registration * 130 + b"<cac:PartyTaxScheme>", 1))
    findings = [finding for finding in result.findings if finding.code == "UBL-SR-53"]
    assert [finding.suppressed for finding in findings] == [0] * 99 + [30]
    (note,) = findings[-1].notes("en")
    assert (note.kind, note.text.endswith(": 30."), note.source) == ("more", True, "")
    assert findings[0].notes() == ()


# ---------------------------------------------------------------- layers


def test_rules_run_on_schema_invalid_documents_with_indicative_findings():
    result = einvoice.validate(BAD_DATE.replace(b'"EUR">99.00', b'"EUR">98.99'))
    found = {finding.code: finding for finding in result.findings}
    assert codes(result) == ["SCHEMA-VALUE-DATE", "BR-CO-10"]
    assert (found["SCHEMA-VALUE-DATE"].indicative, found["BR-CO-10"].indicative) == (False, True)
    assert found["BR-CO-10"].severity == "fatal"
    assert not einvoice.validate(WRONG_SUM).findings[0].indicative


def test_schema_violation_makes_the_document_invalid():
    result = einvoice.validate(BAD_DATE)
    assert codes(result) == ["SCHEMA-VALUE-DATE"]
    assert not result.is_valid
    assert result.findings[0].terms == ("BT-2",)


@pytest.mark.slow
def test_rule_set_without_rules_for_the_syntax_is_an_error(tmp_path):
    """A specification for both syntaxes, with a rule set for CII only."""
    write_rule_set(tmp_path, "regional", 'syntaxes = ["CII"]', SPECIFICATIONS)
    identifier = IDENTIFIER.format("regional").encode()
    result = einvoice.validate(UBL.replace(XRECHNUNG, identifier), rules=tmp_path)
    assert [(finding.code, finding.layer) for finding in result.errors] == [("LAYER-MISSING", "regional")]
    assert [(layer.name, layer.executed) for layer in result.stack.layers] == [
        ("schema", True),
        ("en16931", True),
        ("plausibility", True),
        ("regional", False),
    ]
    assert not result.is_valid
    other = einvoice.validate(CII.replace(XRECHNUNG, identifier), rules=tmp_path)
    assert [(finding.code, finding.layer) for finding in other.errors] == [("REGIONAL-01", "regional")]
    assert other.stack.layer("regional").executed is True


@pytest.mark.parametrize("failure", [ArithmeticError, MemoryError, RecursionError])
def test_failed_layer_is_an_error_and_other_layers_are_reported(monkeypatch, caplog, failure):
    def fail(self, invoice, groups):
        raise failure("a rule went wrong")

    monkeypatch.setattr(Program, "run", fail)
    with caplog.at_level(logging.ERROR, "einvoice"):
        result = einvoice.validate(BAD_DATE)
    assert codes(result) == ["SCHEMA-VALUE-DATE", "LAYER-FAILED", "LAYER-FAILED"]
    assert [layer.executed for layer in result.stack.layers] == [True, False, False]
    assert not result.is_valid
    assert failure.__name__ in result.findings[1].explanation()
    assert "a rule went wrong" in caplog.text


def test_syntax_rules_that_run_out_of_memory_fail_their_layers(monkeypatch):
    def fail(self):
        raise MemoryError

    monkeypatch.setattr(Collector, "violations", fail)
    result = einvoice.validate(UBL)
    assert codes(result) == ["LAYER-FAILED", "LAYER-FAILED"]
    assert not result.is_valid


def test_skipped_layer_makes_the_result_invalid():
    result = einvoice.validate(UBL)
    assert result.stack.complete
    skipped = replace(result.stack, layers=tuple(replace(layer, executed=False) for layer in result.stack.layers))
    assert not replace(result, stack=skipped).is_valid


def test_published_override_changes_the_severity_with_a_reason(monkeypatch):
    reasons = {"de": "weil es so veröffentlicht ist", "en": "because it is published so"}
    published = {"BR-CO-10": Override("warning", reasons)}
    monkeypatch.setattr(severity_overrides, "overrides", lambda *_: published)
    selection._select.cache_clear()
    result = einvoice.validate(WRONG_SUM)
    (finding,) = result.findings
    assert (finding.severity, finding.flag) == ("warning", "fatal")
    assert finding.override_reason("en") == "because it is published so"
    assert result.is_valid
    assert result.warnings == (finding,)
    monkeypatch.undo()
    selection._select.cache_clear()
    (finding,) = einvoice.validate(WRONG_SUM).findings
    assert (finding.severity, finding.override_reason()) == ("fatal", "")


def test_findings_are_ordered_by_layer_position_and_code():
    lines = UBL.replace(b">8.50<", b">x<").replace(b">48.00<", b">y<").replace(b'"EUR">369.00', b'"EUR">1.00')
    everything = re.sub(rb"\s*<cac:PaymentMeans>.*?</cac:PaymentMeans>", b"", lines, flags=re.DOTALL)
    for data in (everything, everything.replace(b"\n", b" ")):
        result = einvoice.validate(data)
        order = {
            element: number for number, element in enumerate(etree.fromstring(data).getroottree().getroot().iter())
        }
        assert len(result.findings) >= 4
        names = ["file", "schema", "en16931", "xrechnung"]
        document = etree.fromstring(data)
        order = {element: number for number, element in enumerate(document.iter())}
        keys = [(names.index(f.layer), order[selected(document, f)[0]], f.code) for f in result.findings]
        assert keys == sorted(keys)
        assert len({key[0] for key in keys}) == 3


def test_quoted_document_text_is_bounded_and_escaped():
    note = "a\x85b\u009b31m" + "long " * 1000
    result = einvoice.validate(UBL.replace(b"2026-05-04", note.encode()))
    for finding in result.findings:
        for text in (*(str(value) for value in finding.values.values()), finding.title(), finding.explanation()):
            assert len(text) < 2000
            assert text.isprintable()


def test_concurrent_validation_in_threads():
    found = []

    def validate_repeatedly(data, expected):
        found.extend(codes(einvoice.validate(data)) == expected for _ in range(20))

    jobs = [(UBL, []), (WRONG_SUM, ["BR-CO-10"]), (BAD_DATE, ["SCHEMA-VALUE-DATE"]), (CII, [])]
    threads = [threading.Thread(target=validate_repeatedly, args=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 80


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_collection_state_is_restored(enabled):
    try:
        gc.enable() if enabled else gc.disable()
        einvoice.validate(UBL)
        assert gc.isenabled() is enabled
        with pytest.raises(errors.UnreadableDocument):
            einvoice.validate(b"<a><b></a>")
        assert gc.isenabled() is enabled
    finally:
        gc.enable()


@pytest.fixture
def nothing_frozen():
    """Undo that the tests are left out of garbage collection, as a program that does so itself is left alone."""
    enabled, threshold = gc.isenabled(), gc.get_threshold()
    gc.unfreeze()
    gc.set_threshold(700)  # of Python; with that of the tests, dropped objects of earlier ones decide
    gc.enable()
    yield
    gc.set_threshold(*threshold)
    gc.freeze()
    if not enabled:
        gc.disable()


def test_parsed_invoice_is_in_the_oldest_garbage_collection_generation(nothing_frozen):
    line = re.search(rb"<cac:InvoiceLine>.*?</cac:InvoiceLine>", UBL, re.DOTALL)[0]
    result = einvoice.validate(UBL.replace(line, line * 500))
    assert any(tracked is result.invoice for tracked in gc.get_objects(generation=2))
    assert gc.get_freeze_count() == 0
    assert len(result.invoice.lines) == 502


# ---------------------------------------------------------------- read and write


@pytest.mark.parametrize("name", ["ubl-invoice.xml", "ubl-credit-note.xml", "cii-invoice.xml"])
def test_read_returns_the_invoice_of_the_result(name, sample):
    invoice = einvoice.read(sample(name))
    assert invoice == einvoice.validate(sample(name)).invoice
    assert einvoice.read(einvoice.write(invoice, invoice.root)) == invoice


# ---------------------------------------------------------------- property tests


ELEMENTS = [len(list(etree.fromstring(data).iter())) for data in (UBL, CREDIT, CII)]
EDITS = st.tuples(
    st.sampled_from(["drop", "double", "empty", "text", "rename", "move", "attribute"]),
    st.integers(1, min(ELEMENTS) - 1),
    st.sampled_from(["", " ", "x", "-1", "1e9", "2026-02-30", "=1+1", "\u00a0", "9" * 60, "S", "0.005", "{x}", "💶"]),
)


def edited(data, edits):
    root = etree.fromstring(data)
    for kind, position, text in edits:
        elements = list(root.iter())[1:]
        if not elements:
            break
        element = elements[position % len(elements)]
        parent = element.getparent()
        if kind == "drop":
            parent.remove(element)
        elif kind == "double":
            parent.append(etree.fromstring(etree.tostring(element)))
        elif kind == "empty":
            element.clear()
        elif kind == "text":
            element.text = text
        elif kind == "rename":
            element.tag = "{urn:it's}other"
        elif kind == "move":
            root.append(element)
        else:
            element.set("schemeID", text)
    return etree.tostring(root)


@pytest.mark.slow
@examples(150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2), st.lists(EDITS, min_size=1, max_size=4))
def test_edited_invoices_are_validated_with_resolvable_locations(which, edits):
    data = edited((UBL, CREDIT, CII)[which], edits)
    assert_sound(data, einvoice.validate(data, profile="xrechnung"))


_PADDED_DATE = re.compile(rb">(\s+\d{4}-\d\d-\d\d|\d{4}-\d\d-\d\d\s+<)")


def assert_sound(data, result):
    document = etree.fromstring(data, etree.XMLParser(remove_comments=True, remove_pis=True, huge_tree=True))
    answer = result.to_dict("en")
    assert len(answer["errors"]) + len(answer["warnings"]) == len(result.findings)
    assert result.is_valid == (not answer["errors"])
    for finding in result.findings:
        assert len(selected(document, finding)) == 1, f"{finding.code} {finding.xpath}"
        assert finding.line
        assert finding.code != "LAYER-FAILED"


@pytest.mark.slow
@pytest.mark.cases
@sampled(5)
@pytest.mark.parametrize("folder", corpus.available(*corpus.UBL, *corpus.BESIDE))
def test_comparison_cases_are_validated_with_resolvable_locations(cases, folder, step):
    validated, schema_differs = 0, []
    for case, data in cases(folder, every=step):
        result = einvoice.validate(data, profile="xrechnung")
        assert_sound(data, result)
        validated += 1
        if _PADDED_DATE.search(data):
            continue  # the cases were made with libxml2, which rejects what XML Schema allows
        if bool(case["xsd"]) is any(finding.layer == "schema" for finding in result.findings):
            schema_differs.append(case["case"])
    assert validated
    assert len(schema_differs) <= validated // 1000, schema_differs
