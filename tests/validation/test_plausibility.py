"""The layer `plausibility`: what the official rules do not check, as information only."""

import re
from pathlib import Path

import pytest

import einvoice
from einvoice.rulebook.functions.plausibility import _VAT_NUMBERS, is_plausible_vat_number
from tests.helpers.corpora import CII, UBL
from tests.helpers.rule_sets import write_rule_set

XRECHNUNG = re.compile(rb"#compliant#urn:xeinkauf\.de:kosit:xrechnung_3\.0")
WRONG_NUMBER = UBL.replace(b"DE123456789", b"DE136695967")
WRONG_PRICE = re.compile(rb"(<cbc:PriceAmount[^>]*>)[^<]*")


def codes(result: einvoice.ValidationResult) -> list[str]:
    return [it.code for it in result.findings]


def own(data: bytes, **options: object) -> list[str]:
    """Return the codes of the layer."""
    return [it.code for it in einvoice.validate(data, **options).findings if it.layer == "plausibility"]


def core(data: bytes) -> bytes:
    """Return the document as one that declares EN 16931 alone."""
    return XRECHNUNG.sub(b"", data)


def test_the_verdict_stays_that_of_the_rules() -> None:
    result = einvoice.validate(WRONG_NUMBER)
    assert (result.is_valid, codes(result)) == (True, ["PLAUS-VAT-NUMBER"])
    (finding,) = result.information
    assert (finding.layer, finding.validation_layer, finding.severity) == ("plausibility",) * 2 + ("information",)
    assert (finding.terms[0], finding.values["found"]) == ("BT-31", "DE136695967")
    assert "DE136695967" in finding.title("de")
    assert "DE136695967" in finding.title("en")


@pytest.mark.parametrize("mode", ["current", "compatibility"])
def test_the_argument_switches_it_off(mode: str) -> None:
    result = einvoice.validate(WRONG_NUMBER, mode=mode, plausibility=False)
    assert codes(result) == []
    assert "plausibility" not in [layer.name for layer in result.stack.layers]


def test_the_environment_switches_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EINVOICE_PLAUSIBILITY", "off")
    assert own(WRONG_NUMBER) == []
    assert own(WRONG_NUMBER, plausibility=True) == ["PLAUS-VAT-NUMBER"]
    monkeypatch.setenv("EINVOICE_PLAUSIBILITY", "no")
    with pytest.raises(ValueError, match="EINVOICE_PLAUSIBILITY must be 'on' or 'off', not 'no'"):
        einvoice.validate(UBL)


def test_many_files(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(**options: object) -> list[str]:
        results = einvoice.validate_many([("a.xml", WRONG_NUMBER)], workers=0, progress=False, **options)
        return list(results.to_frame("findings")["code"])

    assert found() == ["PLAUS-VAT-NUMBER"]
    assert found(plausibility=False) == []


def test_releases_do_not_differ_in_it() -> None:
    older = WRONG_NUMBER.replace(b"xeinkauf.de:kosit:xrechnung_3.0", b"xoev-de:kosit:standard:xrechnung_2.3")
    result = einvoice.validate(older, mode="compatibility")
    assert "PLAUS-VAT-NUMBER" in codes(result)
    assert not [it for it in result.differences if it.finding.layer == "plausibility"]


def test_no_document_can_be_validated_by_it_alone() -> None:
    with pytest.raises(ValueError, match="argument 'profile'"):
        einvoice.validate(UBL, profile="plausibility")
    with pytest.raises(ValueError, match="unknown rule set"):
        einvoice.validate(UBL, ruleset="plausibility-1.0")


def test_what_an_official_rule_reports_is_not_reported_twice() -> None:
    data = WRONG_PRICE.sub(rb"\g<1>7777.00", UBL, count=1)
    official = codes(einvoice.validate(data))
    assert "PEPPOL-EN16931-R120" in official
    assert "PLAUS-LINE-AMOUNT" not in official
    assert own(core(data)) == ["PLAUS-LINE-AMOUNT"]


def test_an_iban_of_a_sepa_transfer_is_reported_by_xrechnung_alone() -> None:
    data = UBL.replace(b"DE02120300000000202051", b"DE03120300000000202051")
    assert codes(einvoice.validate(data)) == ["BR-DE-19"]
    assert own(core(data)) == ["PLAUS-IBAN-SEPA"]


def test_a_day_that_does_not_exist() -> None:
    data = re.sub(rb'(<ram:IssueDateTime>\s*<udt:DateTimeString format="102">)[0-9]{8}', rb"\g<1>20260230", CII)
    (finding,) = (it for it in einvoice.validate(data).information if it.layer == "plausibility")
    assert (finding.code, finding.terms[0]) == ("PLAUS-NO-SUCH-DATE", "BT-2")
    assert finding.values["day"] == "20260230"


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "windows-1252", "UTF-16"])
def test_an_xrechnung_in_another_encoding(encoding: str) -> None:
    text = re.sub(r"^<\?xml[^>]*\?>", f'<?xml version="1.0" encoding="{encoding}"?>', UBL.decode())
    (finding,) = einvoice.validate(text.encode(encoding, "xmlcharrefreplace")).findings
    assert (finding.code, finding.values["encoding"].lower()) == ("PLAUS-ENCODING", encoding.lower())
    assert own(core(text.encode()).decode().encode(encoding, "xmlcharrefreplace")) == []


@pytest.mark.parametrize(("value", "expected"), [("true", ["PLAUS-TEST-DOCUMENT"]), ("1", ["PLAUS-TEST-DOCUMENT"]),
                                                 ("false", [])])  # fmt: skip
def test_a_test_document(value: str, expected: list[str]) -> None:
    mark = f"<ram:TestIndicator><udt:Indicator>{value}</udt:Indicator></ram:TestIndicator>"
    context = b"<rsm:ExchangedDocumentContext>"
    assert CII.count(context) == 1
    assert own(CII.replace(context, context + mark.encode())) == expected


def test_utf_8_without_declaration_is_utf_8() -> None:
    assert own(re.sub(rb"^<\?xml[^>]*\?>", b"", UBL)) == []


def test_rules_of_this_kind_only_inform(tmp_path: Path) -> None:
    write_rule_set(tmp_path, "own")
    file = tmp_path / "own" / "ruleset.toml"
    file.write_text(file.read_text().replace('kind = "cius"', 'kind = "plausibility"'))
    with pytest.raises(einvoice.RuleError, match="must be information in this kind of rule set"):
        einvoice.validate(UBL, rules=tmp_path)


VALID = (
    "ATU13585627 BE0403019261 DE136695976 EL094259216 ESB58378431 FI20774740 FR40303265045 HR33392005961 HU12892312 "
    "IT00743110157 LU15027442 NL004495445B01 PL8567346215 PT501964843 SI50223054"
)
"""Numbers of the documentation of `stdnum`, or of the rules of Peppol."""


def test_each_country_is_tested() -> None:
    assert {number[:2] for number in VALID.split()} == set(_VAT_NUMBERS)


@pytest.mark.parametrize("number", VALID.split())
def test_vat_numbers(number: str) -> None:
    assert is_plausible_vat_number(number)
    digit = next(place for place in reversed(range(len(number))) if number[place].isdigit() and place < 11)
    assert not is_plausible_vat_number(f"{number[:digit]}{(int(number[digit]) + 1) % 10}{number[digit + 1 :]}")
