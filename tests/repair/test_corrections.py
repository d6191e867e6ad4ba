"""What to correct where numbers contradict each other: the `fix` of a finding says what its cause says."""

import einvoice
from tests.helpers.faults import faulty, names
from tests.helpers.paths import SAMPLES

INVOICE = (SAMPLES / "ubl-invoice.xml").read_bytes()


def fixes(data, lang="en"):
    return {it.code: it.fix(lang) for it in einvoice.validate(data).findings}


def test_all_findings_name_the_wrong_line():
    found = fixes(INVOICE.replace(b">168.00<", b">186.00<"))
    assert {"BR-CO-10", "BR-S-08", "PEPPOL-EN16931-R120"} <= set(found)
    text = "Change invoice line net amount (BT-131) of line 2 from “186.00” to “168.00”."
    assert {found[it] for it in ("BR-CO-10", "BR-S-08", "PEPPOL-EN16931-R120")} == {text}


def test_a_right_total_is_not_to_be_changed():
    found = fixes(INVOICE.replace(b">369.00<", b">396.00<", 1))
    assert "BT-106) from “396.00” to “369.00”" in found["BR-CO-13"]


def test_one_contradiction_alone_leaves_open_what_is_wrong():
    data = INVOICE.replace(b"</cbc:PayableAmount>", b"1</cbc:PayableAmount>")
    (finding,) = (it for it in einvoice.validate(data).findings if it.code == "BR-CO-16")
    assert finding.fix("en").startswith("If BT-112")


def test_compared_amounts_have_two_decimals():
    text = fixes(INVOICE.replace(b">400.00</cbc:PayableAmount>", b">401.5</cbc:PayableAmount>"))["BR-CO-16"]
    assert "BT-115 is 400.00" in text or "from “401.50” to “400.00”" in text


def test_surplus_zeros_are_no_wrong_amount():
    found = fixes(INVOICE.replace(b">168.00<", b">186.000<"))
    assert found["BR-CO-10"].endswith("to “168.00”.")
    assert found["BR-DEC-23"] == "Leave out the zeros after the second decimal of BT-131."


def test_the_rate_of_a_line_corrects_no_entry_of_other_lines():
    start, end = INVOICE.rsplit(b"<cbc:Percent>7</cbc:Percent>", 1)
    wrong = start.replace(b">49.40<", b">52.40<") + b"<cbc:Percent>5</cbc:Percent>" + end
    found = fixes(wrong)
    assert found["BR-S-08"] == "Change invoiced item VAT rate (BT-152) of line 3 from “5” to “7”."
    assert "BT-152) of line 3" not in found["BR-CO-17"]


def test_both_actions_are_named_where_a_line_seems_to_be_missing():
    start, _, rest = INVOICE.partition(b"<cac:InvoiceLine>")
    found = fixes(start + rest.partition(b"</cac:InvoiceLine>")[2])
    assert "seems to be missing" in found["BR-CO-10"]
    assert found["BR-CO-10"].endswith(" or, if nothing is, correct the totals and the VAT breakdown.")


def test_a_missing_number_keeps_its_own_text():
    data = INVOICE.replace(b">168.00<", b"><")
    assert all("BT-131" not in it or "from" not in it for it in fixes(data).values())


def test_the_stored_finding_has_the_same_text(tmp_path):
    (tmp_path / "a.xml").write_bytes(INVOICE.replace(b">168.00<", b">186.00<"))
    ((stored,), single) = einvoice.validate_many(tmp_path), einvoice.validate(tmp_path / "a.xml")
    for lang in ("de", "en", "fr"):
        assert [it.fix(lang) for it in stored.findings] == [it.fix(lang) for it in single.findings]


def test_corrections_agree_with_the_first_cause():
    count = 0
    for case in faulty(60):
        result = einvoice.validate(case.data)
        advised = [it for it in result.findings if it.advice and it.advice.text("en")]
        if advised:
            first = result.causes()[0]
            assert any(names(first, it) for it in case.faults)
            texts = [it.text("en").rstrip(".") for it in first.changes] or [first.text("en").rstrip(".")]
            texts.append(first.text("en").partition(": ")[2].rstrip(".") or texts[0])
            fixes = [it.fix("en").rstrip(".").casefold() for it in advised]
            assert any(fix in text.casefold() or text.casefold() in fix for fix in fixes for text in texts)
            count += len(advised)
    assert count >= 20


def test_a_slip_beside_a_right_result_is_named():
    found = fixes(INVOICE.replace(b">9.90</cbc:PriceAmount>", b">9.09</cbc:PriceAmount>"))
    assert found["PEPPOL-EN16931-R120"].startswith("Probably wrong: item net price (BT-146) of line ")


def test_what_is_no_number_is_corrected_where_the_others_prove_it():
    found = fixes(INVOICE.replace(b">168.00<", b">DE136695976<"))
    text = "Change invoice line net amount (BT-131) of line 2 from “DE136695976” to “168.00”."
    assert {found["BR-CO-10"], found["BR-S-08"]} == {text}


def split(*amounts):
    """Return the invoice with the first entry of its VAT breakdown split in several."""
    start, end = INVOICE.index(b"<cac:TaxSubtotal>"), INVOICE.index(b"</cac:TaxSubtotal>") + len(b"</cac:TaxSubtotal>")
    entry = INVOICE[start:end]
    parts = [entry.replace(b">260.00<", b">%s<" % base).replace(b">49.40<", b">%s<" % tax) for base, tax in amounts]
    return INVOICE.replace(entry, b"".join(parts))


def test_entries_of_one_category_and_rate_are_to_be_combined():
    found = fixes(split((b"102.00", b"19.38"), (b"158.00", b"30.02")))
    assert "2 entries" in found["BR-S-08"]
    assert "260.00" in found["BR-S-08"]


def test_entries_that_lack_an_amount_together_are_not_to_be_combined():
    found = fixes(split((b"102.00", b"19.38"), (b"102.00", b"19.38")))
    assert "2 entries" not in found["BR-S-08"]


def test_no_correction_is_flat_that_needs_another_one_that_is_not_proven(sample):
    """With BT-110 as it is, BR-CO-15 is still violated by the total of BT-112 that BR-CO-16 demands."""
    text = sample("ubl-invoice.xml").read_text("utf-8")
    wrong = text.replace('<cbc:TaxAmount currencyID="EUR">56.33', '<cbc:TaxAmount currencyID="EUR">69.11')
    wrong = wrong.replace(
        '<cbc:TaxInclusiveAmount currencyID="EUR">415.33', '<cbc:TaxInclusiveAmount currencyID="EUR">425.77'
    )
    findings = einvoice.validate(wrong.encode(), lang="en").findings
    assert {it.code for it in findings} == {"BR-CO-14", "BR-CO-15", "BR-CO-16"}
    assert not any(it.fix().startswith("Change") for it in findings)
