"""What the recipient has to do: steps, the deduction of input VAT, and what is contested, by invoice."""

from __future__ import annotations

import tomllib
from itertools import product

import pytest
from lxml import etree

import einvoice
from einvoice.assessment import Assessment, law
from tests.assessment.cases import INVALID, LARGE, LINE, NO_DATE, SMALL, VALID, Case, put, remove

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


@pytest.mark.parametrize(
    ("case", "book", "pay"),
    [
        (named("complete"), "yes.", "no obstacle"),
        (named("no date of supply"), "yes, but without input VAT", "no obstacle"),
        (named("no number"), "yes, but without input VAT", "no obstacle"),
        (named("a wrong amount of tax"), "not yet", "not yet"),
        (named("a wrong amount due"), "yes, with input VAT", "not yet"),
        (named("no buyer reference"), "yes, with input VAT", "no obstacle"),
        (named("no reason of an exemption"), "yes. The invoice has no input VAT", "no obstacle"),
        (named("a due date that is none, 2026"), "yes, like any other invoice", "no obstacle"),
        (named("a due date that is none, 2028"), "without input VAT if an e-invoice is required", "no obstacle"),
        (named("self-billing as invoice"), "the buyer without input VAT", "no obstacle"),
        (NO_REASON, "who then declares it", "no obstacle"),
        (CURRENCY, "not yet", "not yet"),
    ],
    ids=lambda it: it.name if isinstance(it, Case) else "",
)
def test_book_and_pay(case: Case, book: str, pay: str) -> None:
    found = assessed(case)
    assert book in step(found, "Book")
    assert pay in step(found, "Pay")


@pytest.mark.parametrize(
    ("case", "says", "never"),
    [
        (named("no date of supply"), "at risk", "§ 13b"),
        (NO_REASON, "§ 15 (1) sentence 1 no. 4 UStG", "at risk"),
        (named("no reason of an exemption"), "states no VAT", "at risk"),
        (CREDIT_NOTE, "§ 17 (1) UStG", "at risk"),
        (UNIT, "contested; until a correction", "at risk"),
        (named("no buyer reference"), "do not put the deduction", "correct"),
        (named("complete"), "nothing that prevents", "at risk"),
    ],
)
def test_deduction_of_input_vat(case: Case, says: str, never: str) -> None:
    statement = assessed(case).statement("en")
    assert says in statement
    assert never not in statement


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


def test_reverse_charge_has_a_basis_of_its_own() -> None:
    sources = {it.finding.code: it.classification.source for it in assessed(NO_REASON).errors}
    assert sources["BR-AE-10"] == "§ 14a Abs. 5 UStG"


def test_without_a_date_of_supply_the_date_of_issue_decides_only_if_it_is_that_day() -> None:
    statement = assessed(named("a due date that is none, no date of supply")).statement("de")
    assert "richtet sich nach dem Tag der Leistung, nicht nach dem Rechnungsdatum" in statement
    assert (
        "Ist die Leistung am Rechnungsdatum (20.11.2026) erbracht, gilt: Für Leistungen bis zum 31.12.2026" in statement
    )


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
    assert found.missing_count("en") == ""
    assert "USTG14" not in einvoice.validate(NO_NUMBER.xml()).letter("de", items=True)


def test_a_period_without_dates_is_no_date_of_supply() -> None:
    draft = {**LARGE, **NO_DATE, "invoicing_period": {"start": "2026-11-01", "end": "2026-11-30"}}
    edits = (remove("//cac:InvoicePeriod/cbc:StartDate"), remove("//cac:InvoicePeriod/cbc:EndDate"))
    assert "USTG14-SUPPLY-DATE" in {it.code for it in assessed(Case("", draft, edits)).items}


def test_every_document_has_steps() -> None:
    known = law("de")
    kinds, classes = ("e_invoice", "other_invoice", "open"), ("", "content", "content_possible", "business_rule")
    for kind, name, *others in product(kinds, classes, ("", "items"), ("", "vat", "AE"), ("", "credit_note")):
        texts = [known.case(topic, {kind, name, *others}, "de") for topic in ("book", "check", "keep")]
        assert all(texts), (kind, name, others)
        must_ask = name.startswith("content") or "items" in others
        assert bool(known.case("ask", {kind, name, *others}, "de")) >= must_ask


def test_each_text_is_in_both_languages() -> None:
    for table in tomllib.loads((law("de").folder / "cases.toml").read_text("utf-8"))["cases"]:
        assert set(table["text"]) == {"de", "en"}
        assert table["text"]["de"].count("§") == table["text"]["en"].count("§"), table


def test_a_small_amount_needs_fewer_items() -> None:
    number = put("/ubl:Invoice/cbc:ID", "")
    small, large = (assessed(Case("", fields, (number,))) for fields in (SMALL, LARGE))
    classes = [next(it for it in found.errors if it.finding.code == "BR-02") for found in (small, large)]
    assert [it.error_class for it in classes] == ["business_rule", "content"]
    assert "with input VAT" in step(small, "Book")


@pytest.mark.parametrize("amount", ["-1190.00", "1190.00"])
def test_a_large_credit_is_no_small_amount(amount: str) -> None:
    fields = {"lines": [{**LINE, "quantity": "-10" if amount.startswith("-") else "10"}], **NO_DATE}
    found = assessed(Case("", fields, (put("//cbc:DueDate", "soon"),)))
    assert found.follows["key"] == "no_date"
    assert [it.code for it in found.items] == ["USTG14-SUPPLY-DATE"]
