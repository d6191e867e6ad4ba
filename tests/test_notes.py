"""Notes: what findings and the catalog say of a rule itself, where it is known to judge otherwise than the norm."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest

import einvoice
from einvoice.cli import main
from einvoice.errors import RuleError
from einvoice.resources import rules_folder
from einvoice.result import Finding, ValidationResult
from einvoice.rulebook.catalog import catalog, entry
from einvoice.rulebook.catalog.build import entry_of_text
from einvoice.rulebook.files.load import read_definitions, read_file
from einvoice.rulebook.files.notes import Note
from einvoice.rulebook.files.versions import read_ruleset
from einvoice.rulebook.program.engine import rulebook
from einvoice.syntax.severity_overrides import Override

SAMPLES = Path(__file__).parent / "samples"
UBL = (SAMPLES / "ubl-invoice.xml").read_text("utf-8")
CII = (SAMPLES / "cii-invoice.xml").read_text("utf-8")


def judged(document: str) -> ValidationResult:
    return einvoice.validate(document.encode(), lang="en")


def told(document: str, code: str) -> list[tuple[str, str]]:
    """The kinds and texts of the notes of all findings of a code; the finding has to be there."""
    findings = [finding for finding in judged(document).findings if finding.code == code]
    assert findings
    return [(note.kind, note.text) for finding in findings for note in finding.notes()]


def vat_of(category: str, base: str, rate: str, tax: str) -> str:
    """The invoice in UBL with one VAT breakdown."""
    amounts = f'<cbc:TaxableAmount currencyID="EUR">{base}</cbc:TaxableAmount>'
    amounts += f'<cbc:TaxAmount currencyID="EUR">{tax}</cbc:TaxAmount>'
    kind = f"<cbc:ID>{category}</cbc:ID><cbc:Percent>{rate}</cbc:Percent>"
    kind += "<cac:TaxScheme><cbc:ID>VAT</cbc:ID></cac:TaxScheme>"
    breakdown = f"<cac:TaxSubtotal>{amounts}<cac:TaxCategory>{kind}</cac:TaxCategory></cac:TaxSubtotal>"
    return re.sub(r"<cac:TaxSubtotal>.*</cac:TaxSubtotal>", breakdown, UBL, flags=re.DOTALL)


def vat_of_cii(category: str, base: str, rate: str, tax: str) -> str:
    """The same in CII."""
    parts = f"<ram:CalculatedAmount>{tax}</ram:CalculatedAmount><ram:TypeCode>VAT</ram:TypeCode>"
    parts += f"<ram:BasisAmount>{base}</ram:BasisAmount><ram:CategoryCode>{category}</ram:CategoryCode>"
    parts += f"<ram:RateApplicablePercent>{rate}</ram:RateApplicablePercent>"
    breakdown = r"<ram:ApplicableTradeTax>\s*<ram:CalculatedAmount>.*?</ram:ApplicableTradeTax>"
    return re.sub(breakdown, f"<ram:ApplicableTradeTax>{parts}</ram:ApplicableTradeTax>", CII, flags=re.DOTALL)


# ---------------------------------------------------------------- where the artefact is wrong


@pytest.mark.parametrize(
    ("document", "code"),
    [
        (UBL.replace("<cbc:IdentificationCode>DE", "<cbc:IdentificationCode>XK", 1), "BR-CL-14"),
        (CII.replace("<ram:CountryID>DE", "<ram:CountryID>XK", 1), "BR-CL-14"),
        (re.sub(r"DE\d{9}", "XK123456789", UBL, count=1), "BR-CO-09"),
        (re.sub(r"DE\d{9}", "XK123456789", CII, count=1), "BR-CO-09"),
    ],
)
def test_kosovo_has_a_code_that_the_artefacts_do_not_know(document: str, code: str) -> None:
    ((kind, text),) = told(document, code)
    assert kind == "stricter"
    assert "1A" in text
    assert not judged(document).is_valid


def test_any_other_unknown_country_has_no_note() -> None:
    assert told(UBL.replace("<cbc:IdentificationCode>DE", "<cbc:IdentificationCode>ZZ", 1), "BR-CL-14") == []
    assert told(re.sub(r"DE\d{9}", "ZZ123456789", UBL, count=1), "BR-CO-09") == []


def test_a_note_is_told_in_its_syntax_and_situation_only() -> None:
    same = CII.replace(
        "<ram:InvoiceCurrencyCode>", "<ram:TaxCurrencyCode>EUR</ram:TaxCurrencyCode><ram:InvoiceCurrencyCode>"
    )
    ((kind, _),) = told(same, "BR-53")
    assert kind == "stricter"
    assert told(same.replace("TaxCurrencyCode>EUR", "TaxCurrencyCode>USD"), "BR-53") == []
    ((kind, _),) = told(same.replace("TaxCurrencyCode>EUR", "TaxCurrencyCode>USD"), "BR-DEC-15")
    assert kind == "stricter"


@pytest.mark.parametrize(("category", "code"), [("E", "BR-E-01"), ("AE", "BR-AE-01")])
def test_a_breakdown_of_an_unused_category(category: str, code: str) -> None:
    (kind, _), *_ = told(vat_of_cii(category, "0.00", "0", "0.00"), code)
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
def test_what_an_artefact_lets_pass_stands_in_the_catalog(code: str, syntax: str) -> None:
    laxer = [note for note in entry(code).notes if note["kind"] == "laxer" and not note["until"]]
    assert syntax in {note["syntax"] for note in laxer}
    assert all(note["source"] for note in laxer)


def test_what_an_artefact_lets_pass_is_told_with_no_finding() -> None:
    document = re.sub("<ram:IssueDateTime>.*?</ram:IssueDateTime>", "", CII, flags=re.DOTALL)
    assert told(document, "BR-03") == []


def test_every_note_speaks_both_languages_and_fills_in_its_constants() -> None:
    texts = [text for known in catalog().values() for note in known.notes for text in (note["de"], note["en"])]
    assert len(texts) > 100
    assert not [text for text in texts if re.search(r"\{(category|label|reason_term|category_term|name)\}", text)]


# ---------------------------------------------------------------- conflicts and rounding


@pytest.mark.parametrize("document", [vat_of, vat_of_cii])
@pytest.mark.parametrize(("tax", "broken", "kept"), [("0.00", "BR-S-09", "BR-CO-17"), ("4.00", "BR-CO-17", "BR-S-09")])
def test_a_rate_below_a_half_cannot_be_right_for_both_rules(document, tax, broken, kept) -> None:  # type: ignore[no-untyped-def]
    """The official artefacts judge so too: no tax amount between keeps both."""
    result = judged(document("S", "1000.00", "0.4", tax))
    codes = {finding.code for finding in result.findings}
    assert broken in codes
    assert kept not in codes
    ((kind, text),) = told(document("S", "1000.00", "0.4", tax), broken)
    assert kind == "conflict"
    assert "0.4 % to 0 %" in text
    assert "4.00" in text


@pytest.mark.parametrize(("tax", "broken"), [("0.00", "BR-CO-17"), ("190.00", "BR-E-09")])
def test_a_rate_in_an_exempt_category_cannot_be_right_for_both_rules(tax: str, broken: str) -> None:
    for document in (vat_of, vat_of_cii):
        ((kind, _),) = told(document("E", "1000.00", "19", tax), broken)
        assert kind == "conflict"


def test_no_half_cent_breaks_one_rule_and_keeps_the_other() -> None:
    for tax in ("-1446.37", "-1446.38"):
        for document in (vat_of, vat_of_cii):
            codes = {finding.code for finding in judged(document("S", "-7612.50", "19", tax)).findings}
            assert not codes & {"BR-CO-17", "BR-S-09"}


def test_before_1_3_5_a_negative_half_cent_could_not_be_right_in_cii() -> None:
    invoice = einvoice.read(vat_of_cii("S", "-7612.50", "19", "-1446.38").encode())
    program = rulebook().program("CII", ["en16931"], {"en16931": "1.3.3"})
    (fired,) = (it for it in program.run(invoice) if it.rule.code == "BR-CO-17")
    (number,) = fired.note_indices
    assert "issues/74" in entry("BR-CO-17").notes[number]["source"]


def test_what_may_come_from_rounding_says_so_with_its_numbers() -> None:
    document = UBL.replace('"EUR">369.00</cbc:LineExtensionAmount>', '"EUR">{}</cbc:LineExtensionAmount>')
    ((kind, text),) = told(document.replace("{}", "369.01"), "BR-CO-10")
    assert kind == "rounding"
    assert "0.01" in text
    assert told(document.replace("{}", "370.00"), "BR-CO-10") == []


def test_a_price_may_have_been_rounded() -> None:
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
    ((kind, text),) = told(document.replace("{}", "333.33"), "PEPPOL-EN16931-R120")
    assert kind == "rounding"
    assert "3.33" in text
    assert told(document.replace("{}", "340.00"), "PEPPOL-EN16931-R120") == []


def test_a_rounded_amount_to_pay_belongs_into_bt_114() -> None:
    document = re.sub(r"(<cbc:PayableAmount[^>]*>)[^<]*", r"\g<1>400.03", UBL)
    ((kind, text),) = told(document, "BR-CO-16")
    assert kind == "rounding"
    assert "BT-114" in text


# ---------------------------------------------------------------- how it is printed


def test_a_note_is_printed_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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


def test_explain_tells_the_notes_of_today(capsys: pytest.CaptureFixture[str]) -> None:
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
def test_a_severity_in_words(flag: str, severity: str, german: str, english: str) -> None:
    from einvoice.render.text import severity as in_words

    override = Override(severity, "Darum.", "Therefore.") if flag != severity else None  # type: ignore[arg-type]
    finding = Finding("BR-CL-23", severity, flag, "en16931", "lines", override=override)  # type: ignore[arg-type]
    assert in_words(finding, "de") == german
    assert in_words(finding, "en") == english
    assert (f". {german}: Darum." in str(finding)) == (flag != severity)


def test_an_overridden_severity_is_printed_with_its_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
[[valid]]
name = "base"
[[invalid]]
name = "pro forma"
set = {{ type_code = "325" }}
"""
DEVIATION = '[[deviation]]\ndirection = "stricter"\nsource = "s"\nde = "d"\nen = "e"\n'


def written(folder: Path, notes: str) -> Path:
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
def test_a_wrong_note_is_explained(tmp_path: Path, old: str, new: str, key: str) -> None:
    ruleset = read_ruleset(rules_folder() / "en16931")
    with pytest.raises(RuleError) as caught:
        read_file(written(tmp_path, DEVIATION.replace(old, new)), ruleset)
    assert caught.value.key == key


@pytest.mark.parametrize("more", ["", 'syntax = "cii"\nvalues = ["XK"]', 'when = "True"', 'until = "1.3.5"'])
def test_without_a_rule_the_text_found_tells_the_note(tmp_path: Path, more: str) -> None:
    folder = tmp_path / "codes"
    folder.mkdir()
    right = (rules_folder() / "codes" / "BR-CL-15.toml").read_text("utf-8")
    assert 'values    = ["XK"]' in right
    (folder / "BR-CL-15.toml").write_text(right.replace('values    = ["XK"]', more), "utf-8")
    with pytest.raises(RuleError):
        entry_of_text(folder / "BR-CL-15.toml", "en16931")


def test_notes_hold_in_their_syntax_and_releases(tmp_path: Path) -> None:
    ruleset = read_ruleset(rules_folder() / "en16931")
    for bounds in ('syntax = "cii"', 'until = "1.3.5"', 'since = "1.3.5"'):
        (definition,) = read_file(
            written(tmp_path, DEVIATION.replace('source = "s"', f'source = "s"\n{bounds}')), ruleset
        )
        there = {
            (syntax, version)
            for syntax in ("UBL", "CII")
            for version in ("1.3.4", "1.3.5")
            if definition.notes_for(syntax, version)
        }
        assert (
            there
            == {
                'syntax = "cii"': {("CII", "1.3.4"), ("CII", "1.3.5")},
                'until = "1.3.5"': {("UBL", "1.3.4"), ("CII", "1.3.4")},
                'since = "1.3.5"': {("UBL", "1.3.5"), ("CII", "1.3.5")},
            }[bounds]
        )


def test_the_differences_of_a_family_name_their_members() -> None:
    ruleset = read_ruleset(rules_folder() / "en16931")
    found = {it.code: it.notes for it in read_definitions(rules_folder() / "en16931", ruleset)}
    never = [note for note in found["BR-AF-09"] if "issues/312" in note.source]
    assert [type(note) for note in never] == [Note]
    assert not [note for note in found["BR-S-09"] if "issues/312" in note.source]


def test_values_stay_plain_numbers() -> None:
    finding = Finding("BR-CO-10", "fatal", "fatal", "en16931", "totals", values={"actual": Decimal("1234.50")})
    assert finding.to_dict("de")["values"] == {"actual": "1234.50"}
    assert "1.234,50" in finding.explanation("de")
