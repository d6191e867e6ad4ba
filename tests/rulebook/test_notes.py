"""Notes on rules: known deviations from the standard, shown on findings and in the catalog."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest

import einvoice
from einvoice.cli import main
from einvoice.code_catalog import catalog, entry
from einvoice.code_catalog.build import entries_of_text
from einvoice.errors import RuleError
from einvoice.resources import rules_folder, shipped
from einvoice.result import Finding, ValidationResult
from einvoice.rulebook.files.load import read_definitions, read_file
from einvoice.rulebook.files.notes import Note
from einvoice.rulebook.files.versions import read_ruleset
from einvoice.rulebook.program.engine import rulebook
from einvoice.syntax.severity_overrides import Override
from tests.helpers.paths import SAMPLES

UBL = (SAMPLES / "ubl-invoice.xml").read_text("utf-8")
CII = (SAMPLES / "cii-invoice.xml").read_text("utf-8")


def validate(document: str) -> ValidationResult:
    return einvoice.validate(document.encode(), lang="en")


def notes_of(document: str, code: str) -> list[tuple[str, str]]:
    """Return kind and text of the notes on the findings with this code; at least one finding must exist."""
    findings = [finding for finding in validate(document).findings if finding.code == code]
    assert findings
    return [(note.kind, note.text) for finding in findings for note in finding.notes()]


def with_vat(category: str, base: str, rate: str, tax: str) -> str:
    """Return the UBL sample with a single VAT breakdown."""
    amounts = f'<cbc:TaxableAmount currencyID="EUR">{base}</cbc:TaxableAmount>'
    amounts += f'<cbc:TaxAmount currencyID="EUR">{tax}</cbc:TaxAmount>'
    kind = f"<cbc:ID>{category}</cbc:ID><cbc:Percent>{rate}</cbc:Percent>"
    kind += "<cac:TaxScheme><cbc:ID>VAT</cbc:ID></cac:TaxScheme>"
    breakdown = f"<cac:TaxSubtotal>{amounts}<cac:TaxCategory>{kind}</cac:TaxCategory></cac:TaxSubtotal>"
    return re.sub(r"<cac:TaxSubtotal>.*</cac:TaxSubtotal>", breakdown, UBL, flags=re.DOTALL)


def with_vat_cii(category: str, base: str, rate: str, tax: str) -> str:
    """Return the CII sample with a single VAT breakdown."""
    parts = f"<ram:CalculatedAmount>{tax}</ram:CalculatedAmount><ram:TypeCode>VAT</ram:TypeCode>"
    parts += f"<ram:BasisAmount>{base}</ram:BasisAmount><ram:CategoryCode>{category}</ram:CategoryCode>"
    parts += f"<ram:RateApplicablePercent>{rate}</ram:RateApplicablePercent>"
    breakdown = r"<ram:ApplicableTradeTax>\s*<ram:CalculatedAmount>.*?</ram:ApplicableTradeTax>"
    return re.sub(breakdown, f"<ram:ApplicableTradeTax>{parts}</ram:ApplicableTradeTax>", CII, flags=re.DOTALL)


# ---------------------------------------------------------------- deviations of the official Schematron


@pytest.mark.parametrize(
    ("document", "code"),
    [
        (UBL.replace("<cbc:IdentificationCode>DE", "<cbc:IdentificationCode>XK", 1), "BR-CL-14"),
        (CII.replace("<ram:CountryID>DE", "<ram:CountryID>XK", 1), "BR-CL-14"),
        (re.sub(r"DE\d{9}", "XK123456789", UBL, count=1), "BR-CO-09"),
        (re.sub(r"DE\d{9}", "XK123456789", CII, count=1), "BR-CO-09"),
    ],
)
def test_kosovo_code_missing_in_the_official_schematron_has_a_note(document: str, code: str) -> None:
    ((kind, text),) = notes_of(document, code)
    assert kind == "stricter"
    assert "1A" in text
    assert not validate(document).is_valid


def test_other_unknown_country_codes_have_no_note() -> None:
    assert notes_of(UBL.replace("<cbc:IdentificationCode>DE", "<cbc:IdentificationCode>ZZ", 1), "BR-CL-14") == []
    assert notes_of(re.sub(r"DE\d{9}", "ZZ123456789", UBL, count=1), "BR-CO-09") == []


def test_note_applies_only_to_its_syntax_and_condition() -> None:
    with_tax_currency = CII.replace(
        "<ram:InvoiceCurrencyCode>", "<ram:TaxCurrencyCode>EUR</ram:TaxCurrencyCode><ram:InvoiceCurrencyCode>"
    )
    ((kind, _),) = notes_of(with_tax_currency, "BR-53")
    assert kind == "stricter"
    assert notes_of(with_tax_currency.replace("TaxCurrencyCode>EUR", "TaxCurrencyCode>USD"), "BR-53") == []
    ((kind, _),) = notes_of(with_tax_currency.replace("TaxCurrencyCode>EUR", "TaxCurrencyCode>USD"), "BR-DEC-15")
    assert kind == "stricter"


@pytest.mark.parametrize(("category", "code"), [("E", "BR-E-01"), ("AE", "BR-AE-01")])
def test_breakdown_of_an_unused_category_has_a_deviation_note(category: str, code: str) -> None:
    (kind, _), *_ = notes_of(with_vat_cii(category, "0.00", "0", "0.00"), code)
    assert kind == "stricter"


@pytest.mark.parametrize(
    ("code", "syntax"),
    [
        ("BR-03", "CII"),
        ("BR-CO-15", "CII"),
        ("BR-CO-23", ""),
        ("BR-CO-25", ""),
        ("CII-SR-030", "CII"),
        ("BR-DEC-13", "UBL"),
    ],
)
def test_laxer_deviations_are_listed_in_the_catalog(code: str, syntax: str) -> None:
    laxer = [note for note in entry(code).notes if note["kind"] == "laxer" and not note["until"]]
    assert syntax in {note["syntax"] for note in laxer}
    assert all(note["source"] for note in laxer)


def test_laxer_deviations_are_not_attached_to_findings() -> None:
    document = re.sub("<ram:IssueDateTime>.*?</ram:IssueDateTime>", "", CII, flags=re.DOTALL)
    assert notes_of(document, "BR-03") == []


def test_note_texts_have_no_unfilled_placeholders() -> None:
    texts = [text for known in catalog().values() for note in known.notes for text in note["texts"].values()]
    assert len(texts) > 100
    assert not [text for text in texts if re.search(r"\{(category|label|reason_term|category_term|name)\}", text)]


# ---------------------------------------------------------------- copies in the Schematron of Factur-X


def of_profile(document: str, code: str, profile: str | None = "facturx") -> list[tuple[str, str]]:
    """Return the notes on a finding in the profile EN 16931, or on the same invoice outside of Factur-X."""
    document = re.sub("<ram:ID>urn:cen[^<]*", "<ram:ID>urn:cen.eu:en16931:2017", document, count=1)
    result = einvoice.validate(document.encode(), profile=profile, lang="en")
    (finding,) = [finding for finding in result.findings if finding.code == code]
    return [(note.kind, note.text) for note in finding.notes()]


BLANK_SELLER = re.sub("(<ram:SellerTradeParty>.*?<ram:Name>)[^<]*", r"\1 ", CII, count=1, flags=re.DOTALL)
NO_SELLER = re.sub("(<ram:SellerTradeParty>.*?)<ram:Name>[^<]*</ram:Name>", r"\1", CII, count=1, flags=re.DOTALL)


def test_the_copy_of_a_profile_replaces_the_rule() -> None:
    """A seller whose name is a space: an older release of BR-06 accepts it."""
    document = re.sub("<ram:ID>urn:cen[^<]*", "<ram:ID>urn:cen.eu:en16931:2017", BLANK_SELLER, count=1)
    for profile, is_violated in (("facturx", False), ("en16931", True)):
        found = {it.code for it in einvoice.validate(document.encode(), profile=profile).findings}
        assert ("BR-06" in found) is is_violated
    assert of_profile(NO_SELLER, "BR-06") == []


def test_finding_of_an_element_rule_says_what_its_copy_does_otherwise() -> None:
    department = "<ram:DepartmentName>Einkauf</ram:DepartmentName>"
    document = re.sub("(</ram:PersonName>)", rf"\1{department}", CII, count=1)
    ((kind, text),) = of_profile(document, "CII-SR-465")
    assert (kind, "this is an error" in text) == ("stricter", True)
    assert of_profile(document, "CII-SR-465", None) == []


def test_deviations_of_a_context_are_those_of_its_rules() -> None:
    for code in ("BR-S-05", "BR-S-06", "BR-S-07", "BR-S-09"):
        copies = [note for note in entry(code).notes if note["ruleset"] == "facturx"]
        assert "not vat.is_vat" in {note["when"] for note in copies}, code
    assert not any(note["ruleset"] for note in entry("BR-CO-10").notes)


# ---------------------------------------------------------------- conflicts and rounding


@pytest.mark.parametrize("document", [with_vat, with_vat_cii])
@pytest.mark.parametrize(
    ("tax", "violated", "satisfied"), [("0.00", "BR-S-09", "BR-CO-17"), ("4.00", "BR-CO-17", "BR-S-09")]
)
def test_vat_rate_below_half_a_percent_has_a_conflict_note(document, tax, violated, satisfied) -> None:  # type: ignore[no-untyped-def]
    """No tax amount satisfies both rules; the official Schematron reports the same."""
    result = validate(document("S", "1000.00", "0.4", tax))
    codes = {finding.code for finding in result.findings}
    assert violated in codes
    assert satisfied not in codes
    ((kind, text),) = notes_of(document("S", "1000.00", "0.4", tax), violated)
    assert kind == "conflict"
    assert "0.4 % to 0 %" in text
    assert "4.00" in text


@pytest.mark.parametrize(("tax", "violated"), [("0.00", "BR-CO-17"), ("190.00", "BR-E-09")])
def test_vat_rate_in_an_exempt_category_has_a_conflict_note(tax: str, violated: str) -> None:
    for document in (with_vat, with_vat_cii):
        ((kind, _),) = notes_of(document("E", "1000.00", "19", tax), violated)
        assert kind == "conflict"


def test_half_cents_are_rounded_alike_by_both_rules() -> None:
    for tax in ("-1446.37", "-1446.38"):
        for document in (with_vat, with_vat_cii):
            codes = {finding.code for finding in validate(document("S", "-7612.50", "19", tax)).findings}
            assert not codes & {"BR-CO-17", "BR-S-09"}


def test_cii_releases_before_1_3_5_note_negative_half_cents() -> None:
    invoice = einvoice.read(with_vat_cii("S", "-7612.50", "19", "-1446.38").encode())
    program = rulebook().program("CII", (("en16931", "1.3.3"),))
    (fired,) = (it for it in program.run(invoice) if it.rule.code == "BR-CO-17")
    (number,) = fired.note_indices
    assert "issues/74" in entry("BR-CO-17").notes[number]["source"]


def test_difference_within_rounding_has_a_rounding_note() -> None:
    document = UBL.replace('"EUR">369.00</cbc:LineExtensionAmount>', '"EUR">{}</cbc:LineExtensionAmount>')
    ((kind, text),) = notes_of(document.replace("{}", "369.01"), "BR-CO-10")
    assert kind == "rounding"
    assert "0.01" in text
    assert notes_of(document.replace("{}", "370.00"), "BR-CO-10") == []


def test_rounded_price_has_a_rounding_note() -> None:
    price = '<cbc:PriceAmount currencyID="EUR">0.33</cbc:PriceAmount>'
    document = re.sub("<cbc:PriceAmount.*?</cbc:PriceAmount>", price, UBL, count=1)
    document = re.sub(r"(<cbc:InvoicedQuantity[^>]*>)[^<]*", r"\g<1>1000", document, count=1)
    document = re.sub(
        r'(<cac:InvoiceLine>.*?<cbc:LineExtensionAmount currencyID="EUR">)[^<]*',
        r"\g<1>{}",
        document,
        count=1,
        flags=re.DOTALL,
    )
    ((kind, text),) = notes_of(document.replace("{}", "333.33"), "PEPPOL-EN16931-R120")
    assert kind == "rounding"
    assert "3.33" in text
    assert notes_of(document.replace("{}", "340.00"), "PEPPOL-EN16931-R120") == []


def test_rounded_payable_amount_note_names_bt_114() -> None:
    document = re.sub(r"(<cbc:PayableAmount[^>]*>)[^<]*", r"\g<1>400.03", UBL)
    ((kind, text),) = notes_of(document, "BR-CO-16")
    assert kind == "rounding"
    assert "BT-114" in text


# ---------------------------------------------------------------- output


def test_notes_appear_in_every_output_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "kosovo.xml"
    file.write_text(UBL.replace("<cbc:IdentificationCode>DE", "<cbc:IdentificationCode>XK", 1), "utf-8")
    main(["validate", str(file)])
    assert "Hinweis: Für Kosovo" in capsys.readouterr().out
    result = einvoice.validate(file)
    (finding,) = (it for it in result.findings if it.code == "BR-CL-14")
    (note,) = finding.to_dict("en")["notes"]
    assert note["kind"] == "stricter"
    assert note["source"].startswith("https://")
    assert "Hinweis: Für Kosovo" in result._repr_html_()
    assert "Für Kosovo" in result.to_csv()
    main(["validate", "--format", "github", str(file)])
    assert "Hinweis: Für Kosovo" in capsys.readouterr().out


def test_explain_prints_current_notes_only(capsys: pytest.CaptureFixture[str]) -> None:
    main(["explain", "BR-CO-25", "--lang", "en"])
    printed = capsys.readouterr().out
    assert "issues/500" in printed
    assert "cii-br-co-25.xml" not in printed


@pytest.mark.parametrize(
    ("flag", "severity", "german", "english"),
    [
        ("fatal", "warning", "Warnung (in EN 16931 ein Fehler, hier herabgestuft)",
         "warning (an error in EN 16931, lowered here)"),
        ("warning", "fatal", "Fehler (in EN 16931 eine Warnung, hier heraufgestuft)",
         "error (a warning in EN 16931, raised here)"),
        ("fatal", "fatal", "Fehler", "error"),
    ],
)  # fmt: skip
def test_severity_label_names_the_override(flag: str, severity: str, german: str, english: str) -> None:
    from einvoice.render.text import severity as severity_label

    override = Override(severity, {"de": "Darum.", "en": "Therefore."}) if flag != severity else None  # type: ignore[arg-type]
    finding = Finding("BR-CL-23", severity, flag, "en16931", "lines", override=override)  # type: ignore[arg-type]
    assert severity_label(finding, "de") == german
    assert severity_label(finding, "en") == english
    assert (f". {german}: Darum." in str(finding)) == (flag != severity)


def test_overridden_severity_is_printed_with_its_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "unit.xml"
    file.write_text(re.sub('unitCode="[^"]*"', 'unitCode="XYZQ"', UBL), "utf-8")
    main(["validate", str(file)])
    printed = " ".join(capsys.readouterr().out.split())
    assert "Warnung (in EN 16931 ein Fehler, hier herabgestuft):" in printed
    assert "nicht abgewiesen" in printed
    html = einvoice.validate(file)._repr_html_()
    assert "Warnung (in EN 16931 ein Fehler, hier herabgestuft)" in html


# ---------------------------------------------------------------- rule files

RULE = """
code = "X"
severity = "fatal"
terms = ["BT-3"]
assert = "invoice.type_code == '380'"
{notes}
[de]
title = "t"
explanation = "e"
fix = "f"
[en]
title = "t"
explanation = "e"
fix = "f"
[valid]
"base" = {{}}
[invalid]
"pro forma" = {{ type_code = "325" }}
"""
DEVIATION = '[[deviation]]\ndirection = "stricter"\nsource = "s"\nde = "d"\nen = "e"\n'


def write_rule(folder: Path, notes: str) -> Path:
    path = folder / "X.toml"
    path.write_text(RULE.format(notes=notes), "utf-8")
    return path


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('source = "s"', "", "[[deviation]].source"),
        ('de = "d"', 'de = " "', "[[deviation]].de"),
        ('"stricter"', '"wrong"', "[[deviation]].direction"),
        ('source = "s"', 'source = "s"\nsyntax = "xml"', "[[deviation]].syntax"),
        ('"stricter"', '"laxer"\nwhen = "True"', "[[deviation]].when"),
        ('source = "s"', 'source = "s"\nuntil = "0.1"', "notes.until"),
        ('source = "s"', 'source = "s"\nwhy = "x"', "deviation.why"),
        ('[[deviation]]\ndirection = "stricter"', '[[notes]]\nkind = "joke"', "[[notes]].kind"),
    ],
)
def test_invalid_note_is_rejected_with_its_key(tmp_path: Path, old: str, new: str, key: str) -> None:
    ruleset = read_ruleset(rules_folder() / "en16931")
    with pytest.raises(RuleError) as caught:
        read_file(write_rule(tmp_path, DEVIATION.replace(old, new)), ruleset)
    assert caught.value.key == key


@pytest.mark.parametrize("replacement", ["", 'syntax = "cii"\nvalues = ["XK"]', 'when = "True"', 'until = "1.3.5"'])
def test_invalid_note_in_a_code_entry_is_rejected(tmp_path: Path, replacement: str) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    content = (rules_folder() / "en16931" / "texts" / "BR-CL-15.toml").read_text("utf-8")
    assert 'values    = ["XK"]' in content
    (folder / "BR-CL-15.toml").write_text(content.replace('values    = ["XK"]', replacement), "utf-8")
    with pytest.raises(RuleError):
        list(entries_of_text(folder / "BR-CL-15.toml", "en16931"))


def test_notes_apply_to_their_syntax_and_releases(tmp_path: Path) -> None:
    ruleset = read_ruleset(rules_folder() / "en16931")
    for bounds in ('syntax = "cii"', 'until = "1.3.5"', 'since = "1.3.5"'):
        (definition,) = read_file(
            write_rule(tmp_path, DEVIATION.replace('source = "s"', f'source = "s"\n{bounds}')), ruleset
        )
        applicable = {
            (syntax, version)
            for syntax in ("UBL", "CII")
            for version in ("1.3.4", "1.3.5")
            if definition.notes_for(syntax, version)
        }
        assert (
            applicable
            == {
                'syntax = "cii"': {("CII", "1.3.4"), ("CII", "1.3.5")},
                'until = "1.3.5"': {("UBL", "1.3.4"), ("CII", "1.3.4")},
                'since = "1.3.5"': {("UBL", "1.3.5"), ("CII", "1.3.5")},
            }[bounds]
        )


def test_deviations_of_a_rule_family_apply_to_the_named_variants() -> None:
    ruleset = read_ruleset(rules_folder() / "en16931")
    notes_by_code = {it.code: it.notes for it in read_definitions(shipped().sets, ruleset)}
    notes = [note for note in notes_by_code["BR-AF-09"] if "issues/312" in note.source]
    assert [type(note) for note in notes] == [Note]
    assert not [note for note in notes_by_code["BR-S-09"] if "issues/312" in note.source]


def test_values_in_json_are_not_formatted() -> None:
    finding = Finding("BR-CO-10", "fatal", "fatal", "en16931", "totals", values={"actual": Decimal("1234.50")})
    assert finding.to_dict("de")["values"] == {"actual": "1234.50"}
    assert "1.234,50" in finding.explanation("de")
