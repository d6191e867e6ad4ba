"""Older releases of the XRechnung rules, compared with the official stylesheet of each release."""

from __future__ import annotations

from typing import Any

import pytest

from einvoice.resources import shipped
from einvoice.rulebook.files.example import Example
from einvoice.rulebook.files.examples import invoice_of
from einvoice.rulebook.program.engine import rulebook
from einvoice.syntax import severity_overrides
from einvoice.syntax.detect import Identity
from einvoice.syntax.reader import read
from einvoice.syntax.specifications import specifications
from einvoice.syntax.writer import write
from einvoice.syntax.xml import parse
from tests.helpers.rule_sets import stack_of

UBL, CREDIT, CII = "Invoice", "CreditNote", "CrossIndustryInvoice"
OLD = "urn:cen.eu:en16931:2017#compliant#urn:xoev-de:kosit:standard:xrechnung_"
EXTENSION = "#conformant#urn:xoev-de:kosit:extension:xrechnung_"
IBAN = {"payment_means[0]": {"code": "58", "credit_transfer": {"identifier": "DE02 1203 0000 0000 2020 51"}}}
NO_IBAN = {"payment_means[0]": {"code": "58", "credit_transfer": {"identifier": "DE03120300000000202051"}}}
CARD_TOO = {"payment_means[1]": {"code": "48", "card": {"number": "1234"}}}
DEBIT = {"payment_means[0]": {"code": "59", "direct_debit": {"debited_account": "DE02120300000000202051"}}}
INTEREST = {"payment_terms[0].note": "#VERZUG#TAGE=14#PROZENT=9.00#\n"}
NO_LINE_END = {"payment_terms[0].note": "#SKONTO#TAGE=14#PROZENT=2.00#"}
TEXT_BEHIND = {"payment_terms[0].note": "#SKONTO#TAGE=14#PROZENT=2.00#\nText"}
ADDRESSED = {"seller.contact.email": "ä@muster.example"}
RATED_TWICE = {"lines[0].taxes[1]": {"category": "S", "rate": "19"}}

#: Changes, rule code, and by root element and release the expected flag ('' if the rule does not fire).
CASES: list[tuple[dict[str, Any], str, dict[str, dict[str, str]]]] = [
    ({"buyer_reference": " "}, "BR-DE-15", {root: {"1.3.0": "fatal", "2.6.0": "fatal"} for root in (UBL, CREDIT, CII)}),
    (CARD_TOO, "BR-DE-13", {root: {"1.3.0": "fatal", "1.5.0": "fatal", "1.6.0": ""} for root in (UBL, CREDIT, CII)}),
    (INTEREST, "BR-DE-18", {UBL: {"1.4.0": "", "1.5.0": "", "1.8.2": "", "2.0.0": "fatal", "2.6.0": "fatal"}}),
    (NO_LINE_END, "BR-DE-18", {CII: {"1.3.0": "", "1.4.0": "", "1.5.0": "fatal", "1.6.1": "fatal"}}),
    (TEXT_BEHIND, "BR-DE-18", {UBL: {"1.4.0": "", "1.5.0": "fatal", "1.6.0": "fatal", "1.6.1": "", "2.6.0": ""}}),
    (IBAN, "BR-DE-19", {UBL: {"1.4.0": "", "2.6.0": ""}, CREDIT: {"1.3.0": "warning", "1.4.0": ""}}),
    (NO_IBAN, "BR-DE-19", {CII: {"1.3.0": "warning", "1.4.0": "fatal", "1.5.0": "warning"}, UBL: {"1.4.0": "warning"}}),
    (DEBIT, "BR-DE-29", {UBL: {"1.7.3": "", "1.8.0": "fatal", "1.8.2": "fatal", "2.0.0": ""}}),
    (DEBIT, "PEPPOL-EN16931-R061", {UBL: {"1.8.2": "", "2.0.0": "fatal"}, CII: {"2.0.0": "warning", "2.2.0": "fatal"}}),
    (ADDRESSED, "BR-DE-28", {UBL: {"1.6.1": "", "1.7.1": "warning", "2.2.0": "warning", "2.3.0": ""}}),
    (RATED_TWICE, "BR-TMP-1", {CII: {"1.8.2": "", "2.0.0": "warning", "2.0.1": "warning", "2.0.2": ""}}),
    ({}, "BR-DE-18-a", {CII: {"1.7.0": "", "2.0.1": ""}, UBL: {"1.7.0": ""}}),
    (
        {"type_code": "384"},
        "BR-DE-26",
        {UBL: {"1.5.0": "", "1.6.0": "warning"}, CREDIT: {"1.7.1": "", "1.7.2": "warning"}},
    ),
    (
        {"specification": OLD + "2.0"},
        "BR-DE-21",
        {UBL: {"1.3.0": "warning", "1.4.0": "", "1.6.0": "warning"}, CREDIT: {"1.5.0": ""}},
    ),
    (
        {"specification": OLD + "1.2"},
        "BR-DE-21",
        {UBL: {"1.3.0": "", "1.4.0": "fatal"}, CREDIT: {"1.4.0": ""}, CII: {"1.4.0": "warning"}},
    ),
    (
        {"specification": OLD + "2.2" + EXTENSION + "2.2"},
        "BR-DE-21",
        {UBL: {"1.7.2": ""}, CII: {"1.7.2": "warning", "1.7.3": ""}},
    ),
]
ROWS = [
    pytest.param(changed, code, root, release, flag, id=f"{code}-{root}-{release}-{number}")
    for number, (changed, code, flags) in enumerate(CASES)
    for root, releases in flags.items()
    for release, flag in releases.items()
]


def flags_of(example: Example, root: str, release: str, **replaced: str) -> dict[str, str]:
    """Return the flags by code under a release of the XRechnung rules; ``replaced`` overrides texts of elements."""
    document = parse(write(invoice_of(example, shipped()), root)).getroot()
    for name, text in replaced.items():
        next(document.iter(f"{{*}}{name}")).text = text
    stack = stack_of(release, "xrechnung", "xrechnung-extension")
    program = rulebook().program("CII" if root == CII else "UBL", stack)
    return {fired.rule.code: fired.rule.severity for fired in program.run(read(document))}


@pytest.mark.parametrize(("changed", "code", "root", "release", "flag"), ROWS)
def test_flag_equals_that_of_the_official_stylesheet(
    changed: dict[str, Any], code: str, root: str, release: str, flag: str
) -> None:
    assert flags_of(Example("", changed), root, release).get(code, "") == flag


@pytest.mark.parametrize(("release", "fires"), [("1.3.0", True), ("2.2.0", True), ("2.3.0", False)])
def test_whitespace_in_type_codes_depends_on_the_release(release: str, fires: bool) -> None:
    assert ("BR-DE-17" in flags_of(Example(""), UBL, release, InvoiceTypeCode=" 380")) == fires
    assert ("BR-DE-17" in flags_of(Example(""), CII, release, TypeCode="380\n")) == fires


@pytest.mark.parametrize(("release", "fires"), [("1.5.0", False), ("1.6.0", True), ("2.2.0", True), ("2.3.0", False)])
def test_numeric_payment_means_codes_depend_on_the_release(release: str, fires: bool) -> None:
    assert ("BR-DE-24-a" in flags_of(Example(""), UBL, release, PaymentMeansCode="048.0")) == fires


def test_missing_payment_terms_violate_only_cii_1_7() -> None:
    no_due_date = Example("", drop=("due_date",))
    assert flags_of(no_due_date, CII, "1.7.0")["BR-DE-18-a"] == "fatal"
    assert "BR-DE-18-a" not in flags_of(no_due_date, CII, "2.0.2") | flags_of(no_due_date, UBL, "1.7.0")


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2", "2.3"])
def test_release_applies_extension_rules_of_its_own_specification(version: str) -> None:
    releases = {"1.5.0": "2.0", "1.6.1": "2.1", "1.7.3": "2.2", "1.8.2": "2.3"}
    document = Example(
        "",
        {
            "specification": OLD + version + EXTENSION + version,
            "documents[0]": {"identifier": "A", "attachment": ATTACHED},
        },
    )
    for release, own in releases.items():
        assert ("BR-DEX-01" in flags_of(document, UBL, release)) == (own == version), release
        assert "BR-DEX-01" not in flags_of(document, CII, release)


ATTACHED = {"raw": "QQ==", "mimeCode": "text/plain", "filename": "a.txt"}


def test_severity_override_applies_to_credit_notes_only() -> None:
    specification = specifications()["xrechnung-2.0"]
    for root, severities in ((CREDIT, ["warning"]), (UBL, [])):
        published = severity_overrides.overrides(Identity("UBL", root, None, None, specification), stack_of("1.5.0"))
        assert [published[code].severity for code in ("BR-DE-21",) if code in published] == severities
    credit_note = Identity("UBL", CREDIT, None, None, specification)
    assert "BR-DE-21" not in severity_overrides.overrides(credit_note, stack_of("1.6.0"))
