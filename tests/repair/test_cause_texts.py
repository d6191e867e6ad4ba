"""What the sentences of causes say: the place at fault, what the finding says about it, the lines, and the grammar."""

import re

import pytest

import einvoice
from einvoice.causes.change import Row, Step, clauses
from einvoice.editing.edits import apply
from tests.helpers.paths import SAMPLES

UBL, CII = ((SAMPLES / name).read_text("utf-8") for name in ("ubl-invoice.xml", "cii-invoice.xml"))
XRECHNUNG = "urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0"
QUANTITY = r"<cbc:InvoicedQuantity[^>]*>[^<]*</cbc:InvoicedQuantity>"


def changed(document, pattern, text, count=1):
    found = re.sub(pattern, text, document, count=count, flags=re.DOTALL)
    assert found != document
    return found


def causes_of(document, lang="de"):
    return einvoice.validate(document.encode(), lang=lang).causes()


def repaired(document, change):
    return einvoice.validate(apply(document.encode(), change.edits))


# ---------------------------------------------------------------- removals


@pytest.mark.parametrize(
    ("document", "code", "removed", "other"),
    [
        (
            changed(UBL, "(?=</cac:Delivery>)", "<cac:DeliveryTerms><cbc:ID>x</cbc:ID></cac:DeliveryTerms>"),
            "UBL-CR-406", "cac:DeliveryTerms", "BG-13",
        ),
        (changed(UBL, "(<cac:ClassifiedTaxCategory>\\s*<cbc:ID)", r'\1 schemeID="x"'), "UBL-CR-679", "schemeID", ""),
        (
            changed(UBL, "(?<=</cac:PartyTaxScheme>)", 2 * "<cac:PartyTaxScheme><cbc:CompanyID>1</cbc:CompanyID>"
                    "<cac:TaxScheme><cbc:ID>FC</cbc:ID></cac:TaxScheme></cac:PartyTaxScheme>"),
            "UBL-SR-42", "(BT-32)", "BT-31",
        ),
    ],
)  # fmt: skip
def test_removal_names_what_is_removed_and_why(document, code, removed, other):
    (cause,) = causes_of(document)
    (change,) = cause.changes
    finding = next(it for it in cause.findings if it.code == code)
    assert cause.text().startswith(finding.title())
    assert removed in change.text()
    assert other not in {*change.terms, *cause.terms} - {""}
    assert not repaired(document, change).findings


def test_sub_line_that_may_not_be_there_is_in_the_line_around_it():
    sub_line = """<cac:SubInvoiceLine><cbc:ID>1</cbc:ID><cbc:InvoicedQuantity unitCode="C62">1</cbc:InvoicedQuantity>
      <cbc:LineExtensionAmount currencyID="EUR">1.00</cbc:LineExtensionAmount>
      <cac:Item><cbc:Name>x</cbc:Name></cac:Item></cac:SubInvoiceLine>"""
    document = changed(UBL, "(?=</cac:InvoiceLine>(?!.*</cac:InvoiceLine>))", sub_line)
    (cause,) = causes_of(document, "en")
    assert cause.lines == ("3",)


def test_what_a_rule_forbids_in_several_lines_is_removed_in_all():
    document = changed(UBL, "(<cac:ClassifiedTaxCategory>\\s*<cbc:ID)", r'\1 schemeID="x"', count=0)
    (cause,) = causes_of(document)
    assert cause.text().endswith("(Positionen 1, 2, 3).")
    assert not repaired(document, cause.changes[0]).findings


def test_nothing_is_called_forbidden_that_is_not():
    name = r"<ram:PersonName>(.*?)</ram:PersonName>"
    document = changed(CII, f"({name})", r"\1<ram:DepartmentName>\2</ram:DepartmentName>")
    (cause,) = causes_of(document)
    (finding,) = cause.findings
    assert finding.code == "CII-SR-465"
    assert cause.text() == f"{finding.title()}."


def test_repeated_and_empty_terms():
    repeated = changed(UBL, "(<cbc:BuyerReference>.*?</cbc:BuyerReference>)", r"\1\1")
    empty = changed(UBL, "(?=<cbc:BuyerReference>)", "<cbc:AccountingCost></cbc:AccountingCost>")
    assert "BT-10" in causes_of(repeated)[0].changes[0].text()
    (cause,) = causes_of(empty)
    assert cause.text() == "Kontierungsangabe des Käufers (BT-19) ist leer."
    assert cause.changes[0].text() == "Leere Angabe entfernen: Kontierungsangabe des Käufers (BT-19)."


def test_repeated_group():
    (cause,) = causes_of(changed(UBL, "(<cac:Delivery>.*?</cac:Delivery>)", r"\1\1"))
    assert [finding.code for finding in cause.findings] == ["UBL-SR-24"]
    assert cause.changes[0].text() == "Überzählige Angabe entfernen: Angaben zur Lieferung (BG-13)."


@pytest.mark.parametrize(("wrong", "said"), [("EURO", "ist „EURO“ statt „EUR“"), ("", "fehlt (zu ergänzen: „EUR“)")])
def test_currency_of_an_amount_is_not_the_amount(wrong, said):
    document = changed(UBL, '(<cbc:PriceAmount currencyID=)"EUR"', rf'\1"{wrong}"')
    (cause,) = causes_of(document)
    assert cause.text() == f"Währung (currencyID) von „Nettopreis des Artikels (BT-146)“ in Position 1 {said}."
    assert cause.changes[0].copy_text("de").startswith(f"BT-146/@currencyID (1): {wrong or '–'} -> EUR\n")


# ---------------------------------------------------------------- one cause for one mistake


def test_incomplete_tax_registrations_are_different_facts():
    scheme = "<cac:PartyTaxScheme><cac:TaxScheme><cbc:ID>FC</cbc:ID></cac:TaxScheme></cac:PartyTaxScheme>"
    document = changed(UBL, r"(<cac:PartyTaxScheme>\s*)<cbc:CompanyID>.*?</cbc:CompanyID>(.*?</cac:PartyTaxScheme>)",
                       rf"\1\2{scheme}")  # fmt: skip
    causes = causes_of(document)
    codes = [[finding.code for finding in cause.findings] for cause in causes]
    # BR-S-03, about an allowance (BT-95), is satisfied by either number.
    assert [cause.terms[0] for cause in causes] == ["BT-31", "BT-32"]
    assert codes[0].count("UBL-SR-53") == codes[1].count("UBL-SR-53") == 1
    assert {"BR-S-02", "BR-S-03"} <= set(codes[0])


def test_rounding_error_that_is_carried_to_the_next_total():
    document = UBL.replace(">369.00<", ">369.01<").replace(">359.00<", ">359.01<")
    (cause,) = causes_of(document)
    assert {finding.code for finding in cause.findings} == {"BR-CO-10", "BR-CO-15"}
    assert cause.terms == ("BT-106", "BT-109")
    assert apply(document.encode(), cause.changes[0].edits) == UBL.encode()


def test_equal_errors_of_totals_that_do_not_follow_from_each_other():
    document = UBL.replace(">369.00<", ">369.01<").replace(">415.33<", ">415.34<")
    assert {cause.terms for cause in causes_of(document)} == {("BT-106",), ("BT-112",)}


@pytest.mark.parametrize(
    ("lang", "said"),
    [
        ("de", "Nettobetrag (BT-131) in Position 1 ist „121,38“, also „102,00“ zuzüglich Umsatzsteuer (brutto)."),
        ("en", "Invoice line net amount (BT-131) of line 1 is “121.38”, which is “102.00” plus VAT (gross)."),
    ],
)
def test_net_amount_with_vat_is_called_gross(lang, said):
    (cause,) = causes_of(UBL.replace(">102.00<", ">121.38<"), lang)
    assert cause.text() == said


def test_other_wrong_net_amounts_are_not_called_gross():
    (cause,) = causes_of(UBL.replace(">102.00<", ">121.39<"), "en")
    assert "gross" not in cause.text()


@pytest.mark.parametrize("left", ["", "<cbc:InvoicedQuantity/>"])
def test_quantity_is_asked_without_the_unit_of_the_other_lines(left):
    same = re.sub('unitCode="[^"]*"', 'unitCode="C62"', UBL)
    document = changed(same, QUANTITY, left)
    (cause,) = causes_of(document)
    assert (cause.missing, cause.changes) == ("BT-129", ())
    assert einvoice.validate(document.encode()).fixed(unsafe=True).xml == document.encode()


@pytest.mark.parametrize(
    ("document", "quantity"),
    [(changed(UBL, QUANTITY, ""), 12), (changed(CII, "<ram:BilledQuantity[^>]*>[^<]*</ram:BilledQuantity>", ""), 4)],
)
def test_quantity_whose_unit_is_unknown_is_one_question(document, quantity):
    (cause,) = causes_of(document)
    assert {"BR-22", "BR-23"} <= {finding.code for finding in cause.findings}
    assert cause.missing == "BT-129"
    derived = f"Die übrigen Angaben ergeben {quantity}."
    assert cause.text() == f"Menge (BT-129) in Position 1 fehlt. Was ist anzugeben? {derived}"


def test_vat_accounting_currency_that_is_the_invoice_currency():
    document = changed(UBL, "(</cbc:DocumentCurrencyCode>)", r"\1<cbc:TaxCurrencyCode>EUR</cbc:TaxCurrencyCode>")
    (cause,) = causes_of(document)
    assert {finding.code for finding in cause.findings} == {"PEPPOL-EN16931-R005", "PEPPOL-EN16931-R054"}
    assert cause.text() == "Währung der Umsatzsteuer und der Rechnung sind gleich."
    assert not repaired(document, cause.changes[0]).findings


# ---------------------------------------------------------------- specification


def test_identifiers_of_specifications_are_not_cut():
    wrong = XRECHNUNG.replace("compliant", "complaint")
    (cause,) = causes_of(UBL.replace(XRECHNUNG, wrong))
    assert f"„{wrong}“ statt „{XRECHNUNG}“" in cause.text()


WITHOUT = changed(UBL, "<cbc:CustomizationID>.*?</cbc:CustomizationID>", "")
PROCESS = "<cbc:ProfileID>.*?</cbc:ProfileID>"
REFERENCE = "04011000-12345-34"


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (WITHOUT, {"urn:cen.eu:en16931:2017", XRECHNUNG}),
        (changed(WITHOUT, PROCESS, ""), set()),
        (changed(WITHOUT, PROCESS, "").replace(REFERENCE, "Stadtgarten"), set()),
    ],
    ids=["process and Leitweg-ID", "Leitweg-ID, but no XRechnung", "nothing"],
)
def test_missing_specification_is_a_question_if_the_invoice_suggests_another(document, expected):
    (cause,) = causes_of(document)
    assert {edit.text for change in cause.changes for edit in change.edits} == expected
    assert cause.is_question == (len(expected) > 1)
    assert "BT-24" in cause.terms


@pytest.mark.parametrize(
    ("lang", "question"),
    [("de", "Welcher Spezifikation folgt die Rechnung?"), ("en", "Which specification does the invoice follow?")],
)
def test_specification_is_asked_for(lang, question):
    (cause,) = causes_of(changed(WITHOUT, PROCESS, "").replace(REFERENCE, "Stadtgarten"), lang)
    assert cause.missing == "BT-24"
    assert cause.text().endswith(f". {question}")


# ---------------------------------------------------------------- added groups

ENTRIES = r"\s*<cac:TaxSubtotal>.*?</cac:TaxSubtotal>"


@pytest.mark.parametrize(
    ("lang", "count", "cause", "content"),
    [
        ("de", 1, "In der Aufschlüsselung der Umsatzsteuer (BG-23) fehlt ein Eintrag für Kategorie S, 19 %.",
         "Kategorie S, 19 %, Bemessungsgrundlage 260,00, Umsatzsteuer 49,40"),
        ("en", 1, "The VAT breakdown (BG-23) has no entry for category S at 19 %.",
         "category S, 19 %, taxable amount 260.00, VAT 49.40"),
        ("en", 2, "VAT breakdown (BG-23) is missing.",
         "category S, 19 %, taxable amount 260.00, VAT 49.40; category S, 7 %, taxable amount 99.00, VAT 6.93"),
    ],
)  # fmt: skip
def test_added_vat_breakdown_says_its_content(lang, count, cause, content):
    document = changed(UBL, ENTRIES, "", count=count)
    (found,) = causes_of(document, lang)
    (change,) = found.changes
    assert found.text() == cause
    assert change.text().endswith(f"(BG-23){' ergänzen' if lang == 'de' else ''}: {content}.")
    assert content in change.copy_text(lang)
    assert not repaired(document, change).findings


# ---------------------------------------------------------------- lines


def test_questions_name_the_lines_they_are_about():
    document = changed(UBL, r"\s*<cac:Price>.*?</cac:Price>", "", count=2)
    (cause,) = causes_of(document)
    assert cause.lines == ("1", "2")
    assert cause.text() == "Preisangaben (BG-29) in den Positionen 1, 2 fehlen. Was ist anzugeben?"
    assert cause.text("en") == "Price details (BG-29) of lines 1, 2 are missing. What should be entered?"


def test_title_of_a_finding_about_a_line_names_the_line():
    document = changed(UBL, 'unitCode="C62"', 'unitCode="Sack Erde"')
    (cause,) = causes_of(document)
    assert cause.changes == ()
    assert cause.text() == f"{cause.findings[0].title()} (Position 1)"
    assert cause.text("en") == f"{cause.findings[0].title('en')} (line 1)"


# ---------------------------------------------------------------- grammar


@pytest.mark.parametrize(
    ("lang", "cause", "change"),
    [
        ("de", "Umsatzsteuerkategorie (BT-151) in Position 000004 fehlt (zu ergänzen: „S“).",
         "Umsatzsteuerkategorie (BT-151) in Position 000004 ergänzen: „S“."),
        ("en", "Invoiced item VAT category code (BT-151) of line 000004 is missing (add “S”).",
         "Add invoiced item VAT category code (BT-151) of line 000004: “S”."),
    ],
)  # fmt: skip
def test_sentence_of_an_addition(lang, cause, change):
    document = UBL.replace("<cbc:ID>1</cbc:ID>", "<cbc:ID>000004</cbc:ID>")
    document = changed(document, r"(?<=<cac:ClassifiedTaxCategory>)\s*<cbc:ID>S</cbc:ID>", "")
    (found,) = causes_of(document, lang)
    assert (found.text(), found.changes[0].text()) == (cause, change)


def test_abbreviations_keep_their_capital_letters():
    document = changed(UBL, "(</cbc:DocumentCurrencyCode>)", r"\1<cbc:TaxCurrencyCode>EUR</cbc:TaxCurrencyCode>")
    (cause,) = causes_of(document, "en")
    assert cause.changes[0].text() == "Remove VAT accounting currency code (BT-6)."


# ---------------------------------------------------------------- unreadable values, content without a term


def test_findings_about_a_date_that_does_not_exist_are_one_cause():
    period = (
        "<cac:InvoicePeriod><cbc:StartDate>2026-02-01</cbc:StartDate><cbc:EndDate>{}</cbc:EndDate></cac:InvoicePeriod>"
    )
    document = changed(UBL, "(?=<cac:OrderReference>)", period.format("2026-02-31"))
    document = changed(document, "(?=<cac:Item>)", period.format("2026-02-28"))
    (cause,) = causes_of(document)
    assert {"SCHEMA-VALUE-DATE", "PEPPOL-EN16931-R111"} <= {finding.code for finding in cause.findings}
    assert cause.text("en") == "“2026-02-31” is not a valid date"


PROFILE = "urn:cen.eu:en16931:2017#conformant#urn:factur-x.eu:1p0:extended"
COPY = "<ram:CopyIndicator><udt:Indicator>false</udt:Indicator></ram:CopyIndicator>"
PERIOD = '<ram:EffectiveSpecifiedPeriod><ram:CompleteDateTime><udt:DateTimeString format="102">20260504\
</udt:DateTimeString></ram:CompleteDateTime></ram:EffectiveSpecifiedPeriod>'


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ("", ["{name}"]),
        (PERIOD, ["{name} (likewise one other element)"]),
        (COPY, ["{name}", "Copy indicator (CopyIndicator in ExchangedDocument) is not part of EN 16931"]),
    ],
    ids=["one element", "of the profile", "of the profile, and about the file"],
)
def test_content_without_a_term_is_one_cause_for_each_reason(content, texts):
    name = "Document name (Name in ExchangedDocument) belongs to the profile EXTENDED, not to EN 16931"
    document = changed(CII, "urn:cen.eu:en16931:2017[^<]*", PROFILE)
    document = changed(document, "(?=<ram:TypeCode>380)", "<ram:Name>Rechnung</ram:Name>")
    document = document.replace("</ram:IssueDateTime>", f"</ram:IssueDateTime>{content}", 1)
    causes = causes_of(document, "en")
    assert {finding.code for cause in causes for finding in cause.findings} == {"CONTENT-UNCOVERED"}
    assert [cause.text() for cause in causes] == [it.format(name=name) for it in texts]


# ---------------------------------------------------------------- which of several values


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("en", "Specification identifier (BT-24) is missing. Which specification does the invoice follow: "
               f"“{XRECHNUNG}” or “urn:cen.eu:en16931:2017”?"),
        ("de", "Kennung der Spezifikation (BT-24) fehlt. Welcher Spezifikation folgt die Rechnung: "
               f"„{XRECHNUNG}“ oder „urn:cen.eu:en16931:2017“?"),
    ],
)  # fmt: skip
def test_question_for_a_missing_value_lists_the_values(lang, text):
    (cause,) = causes_of(WITHOUT, lang)
    assert cause.text(lang) == text


# ---------------------------------------------------------------- a category without tax that is charged


@pytest.mark.parametrize("category", ["K", "AE", "Z"])
def test_category_without_tax_that_has_a_rate_everywhere_is_the_standard_rate(category):
    document = UBL.replace("<cbc:ID>S</cbc:ID>", f"<cbc:ID>{category}</cbc:ID>")
    cause = causes_of(document, "en")[0]
    (change,) = cause.changes
    assert not change.safe
    assert apply(document.encode(), change.edits).decode() == UBL
    assert f"is “{category}” instead of “S”" in cause.text("en")


# ---------------------------------------------------------------- changes with several parts


def filled(*numbers, rows=()):
    return [Step("fill", number, "", after=number[-1], rows=rows) for number in numbers]


@pytest.mark.parametrize(
    ("steps", "lang", "text"),
    [(filled("BT-1", "BT-2"), "de", "Rechnungsnummer (BT-1) ausfüllen: „1“ und Rechnungsdatum (BT-2) ausfüllen: „2“"),
     (filled("BT-1", "BT-2", "BT-3"), "en", "fill in invoice number (BT-1): “1”; fill in invoice issue date (BT-2): "
      "“2”; fill in invoice type code (BT-3): “3”"),
     (filled("BT-116", "BT-117", rows=(Row(1, "S", None), Row(2, "E", None))), "de",
      "in den Zeilen 1 (S) und 2 (E) der Aufschlüsselung ausfüllen: „6,00“; ")],
)  # fmt: skip
def test_many_parts_or_parts_with_and_are_separated_by_semicolons(steps, lang, text):
    assert text in clauses(steps, lang)


@pytest.mark.parametrize(
    ("before", "after", "lang", "shown"),
    [
        ("20251231", "20261231", "de", ("31.12.2025", "31.12.2026")),
        ("2025-12-31", "2026-12-31", "de", ("31.12.2025", "31.12.2026")),
        ("20251231", "20261231", "en", ("2025-12-31", "2026-12-31")),
        ("2026-12-31", "20261231", "de", ("2026-12-31", "20261231")),  # only the form changes
        ("20261131", "20261130", "de", ("20261131", "20261130")),  # not a day
        ("31.12.2026", "2026-12-31", "de", ("31.12.2026", "2026-12-31")),
    ],
)
def test_dates_are_written_as_the_language_does_unless_their_form_is_what_changes(before, after, lang, shown):
    step = Step("set", "BT-9", "", before=before, after=after)
    for table in ("change", "cause"):
        text = step.text(lang, table)
        assert all(it in text for it in shown)
    assert step.copy_text(lang) == f"BT-9: {before} -> {after}"


def test_blanks_of_a_formatted_number_have_no_marks_and_those_of_the_document_have():
    step = Step("set", "BT-115", "cbc:PayableAmount", before="1190.50", after="1190.00")
    assert "« 1\u202f190,00 » au lieu de « 1\u202f190,50 »" in step.text("fr")
    step = Step("set", "BT-115", "cbc:PayableAmount", before="1\u202f190 €", after="1190.00")
    assert "« 1␣190 € »" in step.text("fr")


def test_what_is_in_an_element_that_the_profile_does_not_use_has_its_cause():
    """MINIMUM knows no address of the buyer, so neither its post code; that of the seller is another matter."""
    document = changed(CII, "urn:cen.eu:en16931:2017[^<]*", "urn:factur-x.eu:1p0:minimum")
    causes = einvoice.validate(document.encode(), lang="en").causes()
    explained = [[it.code for it in cause.findings] for cause in causes if "Address" in cause.location.xpath]
    assert ["PROFILE-NOT-USED", "PROFILE-HIGHER-ELEMENT"] in [it[:2] for it in explained]
    assert not any("Buyer" in cause.location.xpath and "Postcode" in cause.location.xpath for cause in causes)
