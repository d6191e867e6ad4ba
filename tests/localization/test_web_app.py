"""The web app: labels that its scripts use, and its languages."""

import re
from importlib.resources import files

import httpx
import pytest

from appliance.access.keys import KeyRing
from appliance.app import create_app
from appliance.settings import Settings
from einvoice.localization import Messages

LABELS = Messages("appliance", "page")
SCRIPTS = [file for file in (files("appliance") / "web" / "js").iterdir() if file.name.endswith(".js")]
CALL = re.compile(r"labels\.(\w+)\(\{ ([^}]*) \}\)|LABELS\[state\.lang\]\.(\w+)\(\{ ([^}]*) \}\)")
USE = re.compile(r"(?<!/)(?:labels|LABELS\[state\.lang\])\.(\w+)")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda file: file.name)
def test_labels_that_a_script_uses_exist(script):
    if script.name != "labels.js":
        assert set(USE.findall(script.read_text("utf-8"))) <= set(LABELS["en"])


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda file: file.name)
def test_scripts_give_all_values_of_a_label(script):
    for match in CALL.finditer(script.read_text("utf-8")):
        label, values = [group for group in match.groups() if group]
        names = {part.partition(":")[0].strip() for part in values.split(", ")}
        assert set(re.findall(r"\{(\w+)\}", LABELS["en"][label])) <= names, label


@pytest.mark.anyio
@pytest.mark.parametrize(("setting", "tags"), [("de,en", ["de", "en"]), ("fr", ["de", "en", "fr"])])
async def test_languages_of_the_page_are_those_of_the_setting(tmp_path, setting, tags):
    app = create_app(Settings(data=tmp_path, artifacts="off", languages=setting), KeyRing(tmp_path / "keys.env", {}))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        answer = (await client.get("/page/languages.json")).json()
        problem = (await client.get("/nothing?lang=fr")).json()
    assert list(answer) == tags
    assert answer["de"]["format"]["decimal"] == ","
    assert answer["en"]["labels"]["rules_one"] == "{count} rule"
    assert (problem["title"] == "Introuvable") is ("fr" in tags)
    if "fr" in tags:
        assert (answer["fr"]["name"], answer["fr"]["labels"]["due"]) == ("Français", "Net à payer")


@pytest.mark.parametrize("setting", ["xx", "de,en,xx"])
def test_language_without_texts_is_an_invalid_setting(tmp_path, setting):
    with pytest.raises(ValueError, match=r"must be of .*, not xx"):
        Settings(data=tmp_path, languages=setting)
