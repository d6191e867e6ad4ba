"""The operator's guide is up to date; .ci/container.sh runs its commands."""

import re

from appliance.settings import Settings, variable_name
from einvoice.draft.draft import Draft
from einvoice.syntax.detect import specifications
from tests.helpers.paths import ROOT

GUIDE = (ROOT / "appliance" / "README.md").read_text(encoding="utf-8")
LOCKED = re.compile(r"^(\S+)==(\S+)", re.MULTILINE)


def test_guide_lists_exactly_the_settings():
    documented = set(re.findall(r"EINVOICE_(?!KEY_|PLAN_)[A-Z_]+", GUIDE))
    assert documented == {variable_name(name) for name in Settings.model_fields}


def section(title):
    return re.search(rf"^## {title}\n(.*?)^## ", GUIDE, re.DOTALL | re.MULTILINE)[1]


def test_guide_lists_exactly_the_profile_names():
    rows = re.findall(r"^\| (`.*?) \|", section("Profile names"), re.MULTILINE)
    documented = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]
    assert sorted(documented) == sorted({it.profile for it in specifications().values()})


def test_guide_lists_the_profiles_of_drafts():
    profiles = Draft.json_schema()["properties"]["profile"]["enum"]
    assert all(f"`{profile}`" in section("Profile names") for profile in profiles if profile)


def test_image_uses_the_tested_versions():
    image, tested = (
        set(LOCKED.findall((ROOT / path).read_text(encoding="utf-8")))
        for path in ("appliance/requirements.lock", ".ci/requirements.lock")
    )
    assert len(image) > 30
    assert image <= tested


def test_every_locked_version_has_a_hash():
    text = (ROOT / "appliance" / "requirements.lock").read_text(encoding="utf-8")
    assert all(entry.count("--hash=sha256:") for entry in re.split(r"\n(?=\S)", text.strip()))
