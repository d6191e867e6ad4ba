"""Causes of findings, measured on mutants: invoices with known edits."""

import itertools
import pickle
import re
from collections import Counter

import pytest

import einvoice
from einvoice.causes.applicability import QUESTION
from einvoice.editing.edits import Insert, apply
from einvoice.localization import languages
from einvoice.repair.api import Diagnosis
from einvoice.repair.search import MAX_VALIDATIONS, compare
from tests.benchmarks.invoices import long
from tests.helpers import mutants as mutations


def places(cause):
    """The XPaths that a cause names: where it is, and what its changes edit."""
    edits = [edit for change in cause.changes for edit in change.edits]
    return {cause.location.xpath, *(edit.parent if isinstance(edit, Insert) else edit.xpath for edit in edits)}


def names(cause, edit):
    """Whether a cause names the edited place or its term, in a change or as the leading term of the cause."""
    leading = {term for change in cause.changes for term in change.terms} if cause.changes else {*cause.terms[:1]}
    return edit.place in places(cause) or bool(edit.term and edit.term in leading)


def diagnosed(mutant):
    """The result of a mutant and its causes, with what holds for every document verified."""
    result = einvoice.validate(mutant.data, lang="en")
    diagnosis = Diagnosis(result)
    causes = diagnosis.causes()
    assert diagnosis.search.validations <= MAX_VALIDATIONS
    explained = [id(finding) for cause in causes for finding in cause.findings]
    assert sorted(explained) == sorted(map(id, result.findings)), "every finding belongs to exactly one cause"
    for change in (change for cause in causes for change in cause.changes):
        after = einvoice.validate(apply(mutant.data, change.edits), lang="en")
        resolved, added = compare(result.findings, after.findings)
        assert not added, f"{change.text()} adds {added[0].code}"
        assert [id(result.findings[it]) for it in sorted(resolved)] == sorted(
            map(id, change.resolves), key=[*map(id, result.findings)].index
        )
    return result, causes


def share(count):
    """The shares of one-edit mutants whose first cause names the edit, and whose edit is undone."""
    named, undone = Counter(), Counter()
    for mutant in mutations.mutants(count):
        _, causes = diagnosed(mutant)
        (edit,) = mutant.edits
        named[names(causes[0], edit)] += 1
        if edit.can_be_undone:
            results = (einvoice.validate(apply(mutant.data, change.edits)) for change in causes[0].changes)
            undone[any(not result.findings for result in results)] += 1
    return named[True] / named.total(), undone[True] / undone.total()


@pytest.mark.slow
@pytest.mark.parametrize("count", [200, pytest.param(1000, marks=pytest.mark.live)])
def test_one_edit(count):
    named, undone = share(count)
    assert named >= 0.9
    assert undone >= 0.95


def separated(mutant):
    """Whether each edit has a cause of its own that names it."""
    _, causes = diagnosed(mutant)
    chosen = itertools.permutations(causes[:8], len(mutant.edits))
    return any(all(map(names, order, mutant.edits)) for order in chosen)


@pytest.mark.slow
@pytest.mark.parametrize("count", [60, pytest.param(300, marks=pytest.mark.live)])
def test_three_edits(count):
    assert sum(map(separated, mutations.mutants(count, edits=3))) >= 0.7 * count


# ---------------------------------------------------------------- single documents


@pytest.fixture
def ubl(sample):
    return sample("ubl-invoice.xml").read_text(encoding="utf-8")


def causes_of(text, **options):
    return einvoice.validate(text.encode(), lang="en", **options).causes()


def test_valid_invoice_has_no_causes(ubl):
    assert causes_of(ubl) == ()


def test_one_wrong_category_explains_all_findings(ubl):
    head, _, tail = ubl.rpartition("<cbc:ID>S</cbc:ID>")
    text = f"{head}<cbc:ID>Z</cbc:ID>{tail}"
    result = einvoice.validate(text.encode(), lang="en")
    (cause,) = result.causes()
    (change,) = cause.changes
    assert len(result.findings) > 1
    assert cause.findings == change.resolves == tuple(result.findings)
    assert cause.remaining == change.remaining == ()
    assert "BT-151" in cause.text()
    assert "line 3" in cause.text()
    assert apply(text.encode(), change.edits) == ubl.encode()


def test_safe_change_restores_the_document_byte_for_byte(ubl):
    text = ubl.replace(">56.33<", ">57.33<")
    (cause,) = causes_of(text)
    assert cause.terms == ("BT-110",)
    assert cause.changes[0].safe
    assert not cause.is_question
    assert apply(text.encode(), cause.changes[0].edits) == ubl.encode()


def test_amount_due_and_paid_amount_are_a_question(ubl):
    (cause,) = causes_of(ubl.replace(">400.00<", ">390.00<"))
    assert cause.is_question
    assert {"BT-113", "BT-115"} <= set(cause.terms)
    assert cause.text().endswith("?")
    assert all(change.resolves == cause.findings for change in cause.changes)
    assert not any(change.safe for change in cause.changes), "only the issuer knows which is right"


def test_finding_of_an_overridden_severity_belongs_to_the_cause_of_the_others(ubl):
    """The extension of XRechnung calculates the amount due by a rule of its own, so BR-CO-16 is information."""
    extension = "#conformant#urn:xeinkauf.de:kosit:extension:xrechnung_3.0</cbc:CustomizationID>"
    text = ubl.replace("</cbc:CustomizationID>", extension)
    assert causes_of(text) == ()
    (cause,) = causes_of(text.replace(">400.00<", ">390.00<"))
    assert {it.code: it.severity for it in cause.findings} == {"BR-DEX-09": "fatal", "BR-CO-16": "information"}


def test_missing_facts_are_not_invented(ubl):
    text = ubl.replace("<cbc:BuyerReference>04011000-12345-34</cbc:BuyerReference>", "")
    (cause,) = causes_of(text)
    assert cause.changes == ()
    assert cause.text() == cause.findings[0].title("en")
    assert cause.terms == ("BT-10",)


@pytest.mark.parametrize("version", ["2.0", "2.3", "9.9"])
def test_specification_is_not_replaced_by_one_with_fewer_rules(ubl, version):
    text = ubl.replace("xrechnung_3.0", f"xrechnung_{version}").replace("04011000-12345-34", "")
    edits = [edit for cause in causes_of(text) for change in cause.changes for edit in change.edits]
    specifications = [edit.text for edit in edits if "CustomizationID" in getattr(edit, "xpath", "")]
    assert all(it.endswith("kosit:xrechnung_3.0") for it in specifications)


def test_gravest_cause_comes_first(ubl):
    text = ubl.replace(">56.33<", ">57.33<").replace(
        'InvoicedQuantity unitCode="C62">12', 'InvoicedQuantity unitCode="C62">13'
    )
    severities = [cause.findings[0].severity for cause in causes_of(text)]
    assert severities == ["fatal", "warning"]


def test_options_of_the_result_apply(ubl):
    text = ubl.replace("<cbc:BuyerReference>04011000-12345-34</cbc:BuyerReference>", "")
    assert [cause.findings[0].code for cause in causes_of(text)] == ["BR-DE-15"]
    assert causes_of(text, profile="en16931") == ()


def test_copied_result_has_the_same_causes(ubl):
    result = einvoice.validate(ubl.replace(">56.33<", ">57.33<").encode())
    copied = pickle.loads(pickle.dumps(result))
    assert [cause.text() for cause in copied.causes()] == [cause.text() for cause in result.causes()]


def test_plain_data_on_request(ubl):
    result = einvoice.validate(ubl.replace(">56.33<", ">57.33<").encode())
    assert "causes" not in result.to_dict()
    data = result.to_dict("en", causes=True)
    (cause,) = data["causes"]
    listed = [*data["errors"], *data["warnings"]]
    assert [listed[position]["code"] for position in cause["findings"]] == ["BR-CO-14", "BR-CO-15"]
    assert cause["codes"] == ["BR-CO-14", "BR-CO-15"]
    assert cause["changes"][0]["proof"] == "With this change, both findings disappear."
    assert result.to_dict("en", causes=result.causes()) == data
    assert cause["changes"][0]["edits"] == [
        {"edit": "set_text", "xpath": "/ubl:Invoice/cac:TaxTotal/cbc:TaxAmount", "text": "56.33"}
    ]


def test_every_language_has_texts(ubl):
    (cause,) = causes_of(ubl.replace(">400.00<", ">390.00<"))
    texts = {lang: (cause.text(lang), cause.changes[0].text(lang)) for lang in languages()}
    assert texts["de"] != texts["en"]
    assert all("BT-115" in text for pair in texts.values() for text in pair)


def test_invoice_in_a_hybrid_pdf(sample):
    pytest.importorskip("pikepdf")
    invoice = einvoice.read(sample("cii-invoice.xml"))
    invoice.totals.due = invoice.totals.due.number + 1
    pdf = einvoice.embed(einvoice.invoice_pdf(invoice), einvoice.write(invoice, "CrossIndustryInvoice")).pdf
    result = einvoice.validate(pdf, lang="en")
    (cause,) = [cause for cause in result.causes() if cause.changes]
    assert result.container is not None
    assert "BT-115" in cause.terms
    assert apply(result.document.data, cause.changes[0].edits) != result.document.data


def test_one_cause_for_the_same_fault_in_all_lines():
    data = long(130).replace(b'unitCode="C62"', b'unitCode="c62"')
    result = einvoice.validate(data, lang="en")
    assert result.omitted
    (cause,) = result.causes()
    assert len(cause.changes[0].edits) == 129
    assert "(BT-130) of lines 10, 11, 12, 13, 14 and 124 more" in cause.text()
    assert einvoice.validate(apply(data, cause.changes[0].edits)).findings == ()


def test_findings_of_the_official_artefacts(ubl):
    pytest.importorskip("saxonche", exc_type=ImportError)
    text = ubl.replace(">56.33<", ">57.33<").replace("xrechnung_3.0", "xrechnung_9.9")
    result = einvoice.validate(text.encode(), lang="en", engine="reference")
    explained = [cause for cause in result.causes() if cause.changes]
    assert any(finding.code == "BR-CO-14" for cause in explained for finding in cause.findings)


def test_all_totals_that_do_not_follow_from_the_lines(ubl):
    stale = {"369.00": "267.00", "359.00": "257.00", "415.33": "293.95", "400.00": "278.62", "56.33": "36.95"}
    text = ubl
    for amount, wrong in stale.items():
        text = text.replace(f">{amount}<", f">{wrong}<")
    changes = [cause.changes[0] for cause in causes_of(text)]
    edits = [edit for change in changes for edit in change.edits]
    assert {change.applicability for change in changes} == {QUESTION}, "the totals agree with each other"
    assert apply(text.encode(), edits) == ubl.encode()


@pytest.mark.parametrize(
    ("file", "element", "term", "codes"),
    [
        ("ubl", "cac:AccountingSupplierParty", "BG-4", {"BR-06", "BR-08", "BR-S-02", "BR-DE-16"}),
        ("ubl", "cac:AccountingCustomerParty", "BG-7", {"SCHEMA-MISSING-ELEMENT", "BR-07", "BR-10"}),
        ("ubl", "cac:PayeeFinancialAccount", "BG-17", {"BR-61", "BR-DE-19", "BR-DE-23-a"}),
        ("ubl", "cac:PartyTaxScheme", "BT-31", {"BR-S-02", "BR-S-03", "BR-DE-16"}),
        ("cii", "ram:SellerTradeParty", "BG-4", {"BR-06", "BR-08", "BR-09", "BR-S-02", "BR-DE-16"}),
        ("cii", "ram:BuyerTradeParty", "BG-7", {"BR-07", "BR-10", "BR-11"}),
    ],
)
def test_findings_about_the_same_missing_fact_are_one_question(sample, file, element, term, codes):
    text = sample(f"{file}-invoice.xml").read_text(encoding="utf-8")
    without = re.sub(rf"\s*<{element}>.*?</{element}>", "", text, flags=re.DOTALL)
    (cause,) = (it for it in causes_of(without) if it.missing)
    assert cause.missing == cause.terms[0] == term
    assert codes <= {finding.code for finding in cause.findings}
    assert cause.changes == ()
    assert f"({term}) is missing" in cause.text()
    assert cause.text().endswith("?")
    assert cause.to_dict()["missing"] == term


@pytest.mark.parametrize(
    ("code", "group"),
    [
        ("58", "<cac:PayeeFinancialAccount><cbc:ID>DE02120300000000202051</cbc:ID></cac:PayeeFinancialAccount>"),
        (
            "48",
            "<cac:CardAccount><cbc:PrimaryAccountNumberID>1234</cbc:PrimaryAccountNumberID>"
            "<cbc:NetworkID>VISA</cbc:NetworkID></cac:CardAccount>",
        ),
    ],
    ids=["credit transfer", "card"],
)
def test_details_of_a_direct_debit_beside_another_payment_are_one_question(ubl, code, group):
    stated = f"<cbc:PaymentMeansCode>{code}</cbc:PaymentMeansCode>{group}"
    mandate = "<cac:PaymentMandate><cbc:ID>M-1</cbc:ID></cac:PaymentMandate>"
    parts = re.compile("<cac:PaymentMeans>.*</cac:PaymentMeans>", re.DOTALL)
    only, both = (parts.sub(f"<cac:PaymentMeans>{it}</cac:PaymentMeans>", ubl) for it in (stated, stated + mandate))
    (cause,) = causes_of(both)
    assert {"BR-DE-30", "BR-DE-31"} < {finding.code for finding in cause.findings}
    (change,) = cause.changes
    assert change.applicability is QUESTION
    assert apply(both.encode(), change.edits) == only.encode()


def test_different_missing_facts_are_different_causes(ubl):
    without = re.sub(r"\s*<cac:PostalAddress>.*?</cac:PostalAddress>", "", ubl, flags=re.DOTALL)
    assert [cause.missing for cause in causes_of(without)] == ["BG-5", "BG-8"]
