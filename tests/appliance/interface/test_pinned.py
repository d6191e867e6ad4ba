"""EINVOICE_RULESET: the pinned release is the current instance everywhere."""

import pytest

from tests.helpers.served import CII, UBL, declaring, serving

pytestmark = pytest.mark.slow

PINNED = "xrechnung-3.0.2-2.4.0"


@pytest.fixture(scope="module")
def pinned(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("pinned") / "data", workers=1, ruleset=PINNED) as running:
        yield running


@pytest.mark.parametrize("mode", ["current", "compatibility"])
@pytest.mark.parametrize("document", [UBL, CII])
def test_pinned_specification_is_current(pinned, mode, document):
    response = pinned.validate(document, validation_mode=mode).json()
    details = response["validation_details"]
    assert (response["is_valid"], response["xrechnung_version"]) == (True, "3.0.2")
    assert details["validation_stack"]["status"] == details["compatibility"]["status"] == "current"
    assert details["compatibility"]["message"] is None
    assert details["compatibility"]["differences"] == []
    assert "2.4.0" in details["validation_stack"]["xrechnung"]
    assert "1.3.14.2" in details["validation_stack"]["en16931"]


def test_pinned_release_in_a_batch(pinned):
    files = ("a.xml", UBL), ("b.xml", declaring("2.3")), ("c.xml", b"<none/>")
    items = pinned.batch(*files).json()["items"]
    standing = [item["validation_details"]["compatibility"]["status"] for item in items]
    assert standing == ["current", "outdated", "unknown"]
    assert {item["xrechnung_version"] for item in items} == {"3.0.2"}


def test_capabilities_mark_the_pinned_release(pinned, server):
    for instance, name in ((pinned, PINNED), (server, "xrechnung-3.0.2")):
        rule_sets = instance.client.get("/api/external/capabilities").json()["rule_sets"]
        assert [item["name"] for item in rule_sets if item["current"]] == [name]


def test_catalog_of_the_pinned_release(pinned, server):
    responses = [instance.client.get("/api/external/errors/catalog?lang=en") for instance in (pinned, server)]
    own, newest = (response.json() for response in responses)
    assert (own["xrechnung_version"], own["rule_set"]) == ("3.0.2", PINNED)
    assert newest["rule_set"] == "xrechnung-3.0.2"
    assert own["catalog_version"] != newest["catalog_version"]
    assert responses[0].headers["etag"] != responses[1].headers["etag"]
    items = {catalog["rule_set"]: {item["code"]: item for item in catalog["items"]} for catalog in (own, newest)}
    assert items[PINNED]["PEPPOL-EN16931-R120"]["severity"] == "fatal"
    assert items["xrechnung-3.0.2"]["PEPPOL-EN16931-R120"]["severity"] == "warning"
    assert not items[PINNED]["CII-SR-464"]["current"]


def test_rule_page_names_other_releases(pinned, server):
    pages = [instance.client.get("/catalog/CII-SR-464?lang=en").text for instance in (pinned, server)]
    assert PINNED in pages[0]
    assert "other releases" not in pages[1]
