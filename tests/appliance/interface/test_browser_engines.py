"""Validation modes and engines in the web app, in Chromium against a real server."""

import re

import pytest

from tests.helpers.served import CII, WRONG, declaring, serving
from tests.helpers.web_app import Page, assert_highlighted, line_of

pytestmark = pytest.mark.slow


def chosen(page, name, value):
    """Select mode or engine, and wait for the new result."""
    with page.page.expect_response(re.compile("/validate")):
        page.page.select_option(f"#{name}", value)
    page.page.wait_for_selector("body:not(.busy)")


def test_compatibility_mode(page):
    older = re.sub(rb"<cbc:EndpointID[^>]*>[^<]*</cbc:EndpointID>", b"", declaring("2.3"), count=1)
    page.choose(("rechnung.xml", older))
    assert page.text("#result-title") == "Nicht gültig"
    assert page.page.locator(".differences").count() == 0
    chosen(page, "mode", "compatibility")
    assert page.text("#result-title") == "Gültig"
    compatibility = page.server.validate(older, validation_mode="compatibility").json()["validation_details"][
        "compatibility"
    ]
    assert compatibility["message"] in page.text(".layers")
    assert page.texts(".differences .code") == [it["code"] for it in compatibility["differences"]]
    place = page.texts(".differences .code").index("PEPPOL-EN16931-R020")
    assert page.texts(".differences .origin")[place] == "neu mit XRechnung 3.0.0 (2.0.0)"
    page.choose(("a.xml", older), ("b.xml", CII))
    assert page.texts(".file-list button .muted") == ["Gültig", "Gültig"]
    assert not any("/batch" in url for url in page.requests), "a batch applies the current rule set"


def test_engines_are_hidden_without_official_rules(page):
    page.page.route(
        "**/capabilities*",
        lambda route: route.fulfill(
            json={
                **(capabilities := page.server.client.get("/api/external/capabilities").json()),
                "engines": {**capabilities["engines"], "reference": {"version": None, "configurations": []}},
            }
        ),
    )
    page.page.reload()
    assert page.page.locator("#engine").is_hidden()
    page.enter_key()
    assert page.page.locator("#engine").is_hidden()
    assert page.page.locator("#mode").is_visible()


def test_both_engines_agree(page):
    pytest.importorskip("saxonche")
    page.choose(("rechnung.xml", WRONG))
    assert page.page.locator("#reference-title").count() == 0
    assert page.page.locator("#engine").is_hidden(), "not a right of the plan"
    with page.server.with_plan("can_use_api,can_batch,can_use_reference").client as client:
        page.enter_key(client.headers["x-api-key"])
    page.page.wait_for_selector("#engine")
    chosen(page, "engine", "both")
    same = "Das offizielle Schematron kommt zum selben Ergebnis"
    assert page.text(".reference-result") == f"{same} (verglichen: EN 16931)."
    assert page.page.locator(".differences").count() == 0
    page.choose(("a.xml", WRONG), ("b.xml", CII))
    assert page.text(".reference-result").startswith("Das offizielle Schematron kommt zum selben")
    page.page.click("text=b.xml")
    assert page.text(".reference-result").startswith("Kein offizielles Schematron")
    page.page.click("[data-lang=en]")
    page.page.get_by_text("No official Schematron applies to this invoice").wait_for()


def test_engines_differ(browser, tmp_path):
    pytest.importorskip("saxonche")
    from einvoice.reference import add
    from tests.helpers.bundle_files import files, packed

    (tmp_path / "test.zip").write_bytes(packed(files()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EINVOICE_RULES_DIR", str(tmp_path / "rules"))
        add(tmp_path / "test.zip")
    with serving(tmp_path / "data", workers=1, rules_dir=tmp_path / "rules", engine="both") as server:
        page = Page(browser, server)
        assert page.page.input_value("#engine") == "both", "default from the settings"
        page.choose(("rechnung.xml", WRONG))
        reference = server.validate(WRONG).json()["validation_details"]["reference"]
        assert page.text(".reference-result").startswith("Das offizielle Schematron kommt zu einem anderen Ergebnis")
        reference_codes = [it["code"] for it in reference["only_reference"]]
        assert "BR-CL-23" in reference_codes
        assert page.texts(".differences .code") == [it["code"] for it in reference["only_native"]] + reference_codes
        assert set(page.texts(".differences .origin")) == {"nur einvoice", "nur Schematron"}
        page.page.locator(".differences li", has_text="BR-CO-10").get_by_role("button").click()
        assert_highlighted(page, line_of(WRONG, b">692.99<"))
        chosen(page, "engine", "reference")
        assert page.page.locator("#reference-title").count() == 0
        assert "nur mit dem offiziellen Schematron" in page.text(".layers")
        chosen(page, "engine", "native")
        assert "Geprüft wurde nur" not in page.text(".layers")
        assert (page.console_errors, page.violations()) == ([], [])
        page.close()
