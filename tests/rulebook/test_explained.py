"""Explanations are limited: each of them may read the whole invoice."""

from __future__ import annotations

import einvoice
from einvoice.rulebook.program import program
from tests.helpers.paths import SAMPLES


def _with_rows(number: int) -> bytes:
    """Return an invoice with further rows of the VAT breakdown, each at another rate that no line has."""
    text = (SAMPLES / "ubl-invoice.xml").read_text(encoding="utf-8")
    start = text.index("<cac:TaxSubtotal>")
    row = text[start : text.index("</cac:TaxSubtotal>") + len("</cac:TaxSubtotal>")]
    percent = row[row.index("<cbc:Percent>") : row.index("</cbc:Percent>")]
    rows = "".join(row.replace(percent, f"<cbc:Percent>{20 + at}") for at in range(number))
    return (text[:start] + rows + text[start:]).encode()


def test_as_many_violations_are_explained_as_are_reported(monkeypatch):
    calls = []
    diagnose = program.diagnose
    monkeypatch.setattr(program, "diagnose", lambda rule, found: calls.append(rule.code) or diagnose(rule, found))
    findings = einvoice.validate(_with_rows(300)).findings
    reported = [it for it in findings if it.code == "BR-S-08"]
    assert len(reported) == program.MAX_EXPLAINED
    assert reported[-1].suppressed == 200
    assert all(it.situation for it in reported)
    assert calls.count("BR-S-08") == program.MAX_EXPLAINED


def test_situations_of_a_total_use_an_index_of_the_breakdown(monkeypatch):
    """A loop over the breakdown in a loop over the breakdown would compare 300 times 300 categories."""
    compared = []
    from einvoice.rulebook.functions import strings

    texts = strings._texts
    monkeypatch.setattr(strings, "_texts", lambda x: compared.append(x) or texts(x))
    (finding,) = (it for it in einvoice.validate(_with_rows(300)).findings if it.code == "BR-CO-14")
    assert finding.title()
    assert len(compared) < 20 * 300
