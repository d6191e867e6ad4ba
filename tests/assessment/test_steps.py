"""What the recipient has to do: steps, the deduction of input VAT, and what is contested, by invoice."""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from itertools import product

import pytest
from lxml import etree

import einvoice
from einvoice.assessment import Assessment, law
from tests.assessment.cases import DRAFT, INVALID, LARGE, LINE, NO_DATE, SMALL, VALID, Case, Edit, put, remove

REVERSE_CHARGE = {
    "lines": [{**LINE, "quantity": "10", "tax_category": "AE", "tax_rate": "0"}],
    "vat_breakdown": [{"tax_category": "AE", "tax_rate": "0", "exemption_reason": "Steuerschuldnerschaft"}],
}
NO_REASON = Case("", REVERSE_CHARGE, (remove("//cac:TaxSubtotal/cac:TaxCategory/cbc:TaxExemptionReason"),))
CURRENCY = Case("", LARGE, (put("//cbc:DocumentCurrencyCode", "EURO"),))
NO_NUMBER = Case("", LARGE, (remove("//cac:AccountingSupplierParty//cac:PartyTaxScheme/cbc:CompanyID"),))
LINE_RATE = Case("", LARGE, (put("//cac:ClassifiedTaxCategory/cbc:Percent", "0"),))
SUBTOTAL = Case("", LARGE, (put("//cac:TaxSubtotal/cac:TaxCategory/cbc:ID", "E"),))
CREDIT_NOTE = Case("", {**LARGE, "type_code": "381"}, (put("//cac:TaxSubtotal/cbc:TaxAmount", "195.00"),))

TODAY = datetime.date(2026, 11, 27)


def _unit(root: etree._Element) -> None:
    root.find(".//{*}InvoicedQuantity").set("unitCode", "Stunde")


UNIT = Case("", LARGE, (_unit,))


def named(name: str) -> Case:
    return next(it for it in (*VALID, *INVALID) if it.name == name)


def assessed(case: Case) -> Assessment:
    found = einvoice.validate(case.xml(), lang="en").assessment()
    assert found is not None
    return found


def step(found: Assessment, topic: str) -> str:
    return next((it for it in found.steps("en") if it.startswith(f"{topic}:")), "")


ASK, TELL, NOTHING = "Ask for a correction: from Werkstatt am Kanal GmbH;", "Issuer: tell", "Issuer: nothing"
ASK_E_INVOICE = "Ask for an e-invoice: from"
ANSWERS = {
    "complete": ("yes.", "39.14 EUR is deductible", "yes, 264.04 EUR, due on 2026-12-20", NOTHING),
    "no date of supply": ("yes, but without", "Missing: date of supply (§ 14 Abs. 4 Nr. 6", "yes,", ASK),
    "no number": (
        "yes, but without",
        "Missing: invoice number (§ 14 Abs. 4 Nr. 4 UStG)",
        "yes, 1,190.00 EUR, due on 2026-12-20",  # in CII, the payment terms have the day
        ASK,
    ),
    "a wrong amount of tax": ("not yet", "VAT stated in excess is never deductible", "not yet", ASK),
    "a wrong amount due": ("yes.", "190.00 EUR is deductible", "not yet", "Ask: Werkstatt"),
    "no buyer reference": ("yes.", "190.00 EUR is deductible. The errors affect no item", "yes,", TELL),
    "no reason of an exemption": ("yes.", "none. The invoice states no VAT", "yes,", ASK),
    "a due date that is none, 2026": ("if all required items", "yes, if all items", "yes,", "Issuer: for VAT, nothing"),
    "a due date that is none, 2027": (
        "if all",
        "Deductible if the turnover of the issuer in 2026",
        "yes,",
        ASK_E_INVOICE,
    ),
    "a due date that is none, 2028": ("without", "For this supply an e-invoice is required", "yes,", ASK_E_INVOICE),
    "a due date that is none, small amount of 2028": ("if all", "no e-invoice is required", "yes,", "Issuer: for VAT"),
    "self-billing as invoice": ("the buyer without", "at risk", "by the buyer", "Correction: by the party"),
    "a prepayment": ("as a prepayment", "190.00 EUR is deductible when it is paid", "if the prepayment is as", NOTHING),
    "self-billing": (
        "yes.",
        "only the buyer can deduct it",
        "by the buyer",
        "Issuer: nothing has to be asked of Bezirksamt",
    ),
    "no reason of reverse charge": ("VAT that the recipient owes", "without a proper invoice (§ 15 (1)", "yes,", ASK),
    "a wrong credit note": ("not yet", "(§ 17 (1) UStG)", "Set off: not yet", ASK),
    "a currency that is none": ("not yet", "not certain. Whether a required item is affected", "not yet", ASK),
    "a unit that is none": ("yes, but without", "not certain. Whether a required item is affected", "yes,", ASK),
}
OTHERS = {
    "no reason of reverse charge": NO_REASON,
    "a wrong credit note": CREDIT_NOTE,
    "a currency that is none": CURRENCY,
    "a unit that is none": UNIT,
}


@pytest.mark.parametrize("name", ANSWERS)
def test_the_recipient_is_answered(name: str) -> None:
    found = einvoice.validate((OTHERS.get(name) or named(name)).xml(), lang="en").assessment(when=TODAY)
    assert found is not None
    checked, *steps, kept = found.steps("en")
    assert [it.partition(":")[0] for it in steps[:3]] in (
        ["Book", "Input VAT", "Pay"],
        ["Book", "Input VAT", "Set off"],
    )
    assert [text for text, said in zip(steps, ANSWERS[name], strict=False) if said not in text] == []
    assert kept.startswith("Keep: at least until 2034-12-31 (8 years from the end of the year of issue, § 14b (1) UStG")
    assert checked.startswith("Check yourself, before booking and paying: ")


def test_an_invoice_that_is_not_issued_yet_is_asked_about() -> None:
    found = einvoice.validate(named("complete").xml()).assessment(when=datetime.date(2026, 11, 1))
    assert found is not None
    assert step(found, "Date of issue").startswith(
        "Date of issue: 2026-11-20 is after the day of this validation (2026-11-01)."
    )
    assert found.case("head", "en") == "an item has to be clarified"
    assert step(found, "Ask").startswith("Ask: Werkstatt am Kanal GmbH;")


def test_vat_stated_under_reverse_charge_is_owed_by_the_issuer() -> None:
    found = assessed(Case("", REVERSE_CHARGE, (put("//cac:TaxSubtotal/cbc:TaxAmount", "190.00"),)))
    assert "do not deduct the VAT that is stated (190.00 EUR)" in step(found, "Input VAT")
    assert "the issuer owes what is stated (§ 14c (1) UStG)" in step(found, "Input VAT")


def test_the_pages_of_a_pdf_are_the_invoice_if_its_data_are_none() -> None:
    draft = {**DRAFT, "profile": "MINIMUM", "format": "ZUGFERD"}
    found = einvoice.validate(einvoice.generate(draft).pdf, lang="en").assessment(when=TODAY)
    assert found is not None
    assert (found.kind, found.items) == ("other_invoice", ())
    assert step(found, "Book") == "Book: yes, by the PDF. The PDF is the invoice; the data (XML) in it are not."
    assert "yes, if the supply took place by 2026-12-31 and the PDF shows all items" in step(found, "Input VAT")
    assert "the turnover of the issuer in 2026 was at most EUR 800,000" in step(found, "Input VAT")
    check = step(found, "Check yourself, before booking and paying")
    assert "whether the PDF shows all required items" in check
    assert "If a required item is missing in the PDF, do not deduct input VAT yet" in check
    assert "if the PDF shows the same amount and the supply is as ordered" in step(found, "Pay")
    asked = step(found, "Ask for an e-invoice")
    assert "supplies until 2027-12-31 not even then if the turnover of the issuer in 2026 was at most" in asked


@pytest.mark.parametrize(
    ("name", "head", "says"),
    [
        ("no number", "a required item is missing", "Missing: invoice number ("),
        ("no name of the seller", "a required item is incomplete", "Incomplete: name and address of the seller ("),
        ("a wrong amount of tax", "a required item is not right", "Not right: VAT rate and VAT amount ("),
        (
            "self-billing as invoice",
            "an item that § 14 UStG requires is missing",
            "Missing: designation as “Gutschrift”",
        ),
        (
            "several gaps",
            "items that § 14 UStG requires are missing or incomplete",
            "Missing: date of supply (§ 14 Abs. 4 Nr. 6 UStG). Incomplete: name and address of the buyer (",
        ),
    ],
)
def test_what_is_missing_is_not_called_wrong(name: str, head: str, says: str) -> None:
    found = assessed(named(name))
    assert found.case("head", "en") == head
    assert says in step(found, "Input VAT")


def test_whether_an_item_is_missing_stays_open_if_the_finding_does_not_tell() -> None:
    found = assessed(SUBTOTAL)
    assert "Missing or not right: net amounts by VAT rate and exemption (" in step(found, "Input VAT")
    assert "Not right: VAT rate and VAT amount (" in step(found, "Input VAT")


def test_an_invoice_with_errors_is_not_called_right() -> None:
    assert assessed(named("a wrong amount due")).sentences("de")[0] == (
        "Das Dokument ist eine E-Rechnung, aber eine fehlerhafte."
    )
    assert assessed(named("complete")).sentences("de") == [
        "Das Dokument ist nach den geprüften Regeln eine E-Rechnung."
    ]


def test_own_message_and_answer_are_kept_and_a_correction_longer() -> None:
    (kept,) = (it for it in assessed(named("a wrong amount due")).steps("de") if it.startswith("Aufbewahren"))
    assert "die eigene Nachricht an den Aussteller und seine Antwort" in kept
    assert "8 Jahre ab Ende des Jahres, in dem sie ausgestellt ist" in kept


@pytest.mark.parametrize(
    ("lang", "day", "limit"),
    [
        ("de", "15.10.2025", "spätere Änderungen sind nicht berücksichtigt"),
        ("en", "2025-10-15", "later changes are not included"),
        ("fr", "15/10/2025", "les changements ultérieurs ne sont pas pris en compte"),
    ],
)
def test_the_note_claims_no_newer_law_than_its_source(lang: str, day: str, limit: str) -> None:
    note = assessed(named("complete")).note(lang)
    assert day in note
    assert limit in note
    assert tomllib.loads((law("de").folder / "law.toml").read_text("utf-8"))["as_of"] == "2025-10-15"


@pytest.mark.parametrize(
    ("case", "code", "error_class", "others"),
    [
        (SUBTOTAL, "BR-S-01", "content", ()),
        (NO_REASON, "BR-AE-10", "content", ()),
        (NO_REASON, "BR-AE-02", "business_rule", ()),  # the buyer has no VAT identifier
        (CURRENCY, "BR-CL-04", "content", ("format", "business_rule")),
        (UNIT, "BR-CL-23", "content", ("format", "business_rule")),
        (LINE_RATE, "BR-S-05", "content", ("business_rule",)),
        (NO_NUMBER, "UBL-SR-53", "format", ("business_rule",)),
        (named("a wrong amount of tax"), "BR-CO-14", "business_rule", ("content",)),
    ],
)
def test_class_and_what_else_is_possible(case: Case, code: str, error_class: str, others: tuple[str, ...]) -> None:
    found = assessed(case)
    error = next(it for it in found.errors if it.finding.code == code)
    assert (error.error_class, error.classification.other_classes) == (error_class, others)
    assert any(text.startswith(code) for text in found.remarks("en")) == bool(others)


@pytest.mark.parametrize(
    ("edit", "codes", "error_class", "others"),
    [
        (remove("//ram:SellerTradeParty/ram:Name"), "FX-SCH-*", "format", ("business_rule",)),
        (put("//ram:InvoiceCurrencyCode", "EURO"), "FX-SCH-*", "content", ("format", "business_rule")),
    ],
)
def test_a_fault_has_the_same_class_in_a_hybrid_invoice(
    edit: Edit, codes: str, error_class: str, others: tuple[str, ...]
) -> None:
    found = einvoice.validate(Case("", LARGE, (edit,), "CII").xml(), profile="facturx").assessment()
    assert found is not None
    known = {
        (it.error_class, it.classification.other_classes) for it in found.errors if fnmatch(it.finding.code, codes)
    }
    assert known == {(error_class, others)}


def test_reverse_charge_has_a_basis_of_its_own() -> None:
    sources = {it.finding.code: it.classification.source for it in assessed(NO_REASON).errors}
    assert sources["BR-AE-10"] == "§ 14a Abs. 5 UStG"


def test_without_a_date_of_supply_both_periods_are_stated() -> None:
    statement = assessed(named("a due date that is none, no date of supply")).statement("de")
    assert "für Leistungen bis zum 31.12.2026" in statement
    assert "wenn der Aussteller 2026 höchstens 800.000 € umgesetzt hat" in statement
    assert "Es zählt der Tag der Leistung, nicht das Rechnungsdatum" in statement


def test_a_contested_format_error_has_both_consequences() -> None:
    found = assessed(named("no number"))
    assert "Für Leistungen bis zum 31.12.2026" in found.statement("de")
    found = assessed(NO_NUMBER)
    assert found.kind == "other_invoice"
    assert "keine Formatfehler; dann ist das Dokument eine E-Rechnung" in found.statement("de")


def test_an_item_that_an_error_names_is_not_stated_again() -> None:
    found = assessed(named("no tax number with standard rate"))
    assert [it.code for it in found.items] == ["USTG14-TAX-NUMBER"]
    assert found.further_items == ()
    assert "USTG14" not in einvoice.validate(NO_NUMBER.xml()).letter("de", items=True)


def test_a_period_without_dates_is_no_date_of_supply() -> None:
    draft = {**LARGE, **NO_DATE, "invoicing_period": {"start": "2026-11-01", "end": "2026-11-30"}}
    edits = (remove("//cac:InvoicePeriod/cbc:StartDate"), remove("//cac:InvoicePeriod/cbc:EndDate"))
    assert "USTG14-SUPPLY-DATE" in {it.code for it in assessed(Case("", draft, edits)).items}


def test_every_document_has_steps() -> None:
    known = law("de")
    kinds, classes = ("e_invoice", "other_invoice", "open"), ("", "content", "content_possible", "business_rule")
    for kind, name, *others in product(kinds, classes, ("", "items"), ("", "vat", "AE"), ("", "credit_note")):
        texts = [
            known.case(topic, {kind, name, *others}, "de")
            for topic in ("book", "deduction", "pay", "ask", "keep", "check")
        ]
        assert all(texts), (kind, name, others)


def test_each_text_is_in_all_languages() -> None:
    for table in tomllib.loads((law("de").folder / "cases.toml").read_text("utf-8"))["cases"]:
        assert set(table["text"]) == {"de", "en", "fr"}
        german, *others = (table["text"][lang] for lang in ("de", "en", "fr"))
        assert all(german.count("§") == it.count("§") for it in others), table
        assert all(set(re.findall(r"{\w+}", german)) == set(re.findall(r"{\w+}", it)) for it in others), table


def _tables(data: object) -> Iterator[dict[str, object]]:
    """Yield the tables of texts by language."""
    values = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    if isinstance(data, dict) and "de" in data:
        yield data
    for value in values:
        yield from _tables(value)


def test_the_law_has_its_texts_in_all_languages() -> None:
    tables = list(_tables(tomllib.loads((law("de").folder / "law.toml").read_text("utf-8"))))
    assert len(tables) > 40
    for table in tables:
        assert set(table) == {"de", "en", "fr"}, table
        if isinstance(table["de"], dict):
            assert all(set(table["de"]) == set(it) for it in table.values() if isinstance(it, dict))


def test_a_small_amount_needs_fewer_items() -> None:
    number = put("/ubl:Invoice/cbc:ID", "")
    small, large = (assessed(Case("", fields, (number,))) for fields in (SMALL, LARGE))
    classes = [next(it for it in found.errors if it.finding.code == "BR-02") for found in (small, large)]
    assert [it.error_class for it in classes] == ["business_rule", "content"]
    assert "up to EUR 250, the law requires fewer items" in step(small, "Input VAT")


@pytest.mark.parametrize("amount", ["-1190.00", "1190.00"])
def test_a_large_credit_is_no_small_amount(amount: str) -> None:
    fields = {"lines": [{**LINE, "quantity": "-10" if amount.startswith("-") else "10"}], **NO_DATE}
    found = assessed(Case("", fields, (put("//cbc:DueDate", "soon"),)))
    assert found.follows["key"] == "no_date"
    assert [it.code for it in found.items] == ["USTG14-SUPPLY-DATE"]
