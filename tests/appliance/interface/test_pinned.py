"""An appliance whose operator has pinned a release: that one is current, wherever it says so."""

import pytest
from served import CII, UBL, declaring, serving

PINNED = "xrechnung-3.0.2-2.4.0"


@pytest.fixture(scope="module")
def pinned(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("pinned") / "data", workers=1, ruleset=PINNED) as running:
        yield running


@pytest.mark.parametrize("mode", ["current", "compatibility"])
@pytest.mark.parametrize("document", [UBL, CII])
def test_its_specification_is_the_current_one(pinned, mode, document):
    answer = pinned.validate(document, validation_mode=mode).json()
    details = answer["validation_details"]
    assert (answer["is_valid"], answer["xrechnung_version"]) == (True, "3.0.2")
    assert details["validation_stack"]["status"] == details["compatibility"]["status"] == "current"
    assert details["compatibility"]["message"] is None
    assert details["compatibility"]["differences"] == []
    assert "2.4.0" in details["validation_stack"]["xrechnung"]
    assert "1.3.14.2" in details["validation_stack"]["en16931"]


def test_in_a_batch_too(pinned):
    files = ("a.xml", UBL), ("b.xml", declaring("2.3")), ("c.xml", b"<none/>")
    items = pinned.batch(*files).json()["items"]
    standing = [item["validation_details"]["compatibility"]["status"] for item in items]
    assert standing == ["current", "outdated", "unknown"]
    assert {item["xrechnung_version"] for item in items} == {"3.0.2"}


def test_capabilities_mark_it(pinned, server):
    for one, name in ((pinned, PINNED), (server, "xrechnung-3.0.2")):
        told = one.client.get("/api/external/capabilities").json()["rule_sets"]
        assert [it["name"] for it in told if it["current"]] == [name]


def test_the_catalog_is_its_own(pinned, server):
    answers = [one.client.get("/api/external/errors/catalog?lang=en") for one in (pinned, server)]
    ours, newest = (answer.json() for answer in answers)
    assert (ours["xrechnung_version"], ours["rule_set"]) == ("3.0.2", PINNED)
    assert newest["rule_set"] == "xrechnung-3.0.2"
    assert ours["catalog_version"] != newest["catalog_version"]
    assert answers[0].headers["etag"] != answers[1].headers["etag"]
    of = {told["rule_set"]: {item["code"]: item for item in told["items"]} for told in (ours, newest)}
    assert of[PINNED]["PEPPOL-EN16931-R120"]["severity"] == "fatal"
    assert of["xrechnung-3.0.2"]["PEPPOL-EN16931-R120"]["severity"] == "warning"
    assert not of[PINNED]["CII-SR-464"]["current"]


def test_a_page_says_that_a_rule_is_of_other_releases(pinned, server):
    there = [one.client.get("/catalog/CII-SR-464?lang=en").text for one in (pinned, server)]
    assert PINNED in there[0]
    assert "other releases" not in there[1]
