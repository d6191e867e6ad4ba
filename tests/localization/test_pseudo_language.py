"""A further language consists of files only: a pseudo-language is added to a copy of the packages."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import appliance
import einvoice
from einvoice.resources import rules_folder
from tests.helpers.paths import SAMPLES

pytestmark = pytest.mark.slow

LANG = "qps"
SITE = Path(einvoice.__file__).parents[1]
ACCENTED = str.maketrans("aeiouAEIOU", "äëïöüÄËÏÖÜ")

#: Left out of the message files, so that they fall back.
LEFT_OUT = ("results.valid", "problem_titles.not_found", "values.empty")

TRANSLATIONS = {
    "en16931": """
        [BR-CO-10]
        title = "⟦sum⟧ {actual}"
        explanation = "⟦expected⟧ {expected}"
        """,
    "xrechnung": """
        [files.BR-DE-10]
        title = "⟦{label} {term}⟧"
        [variants.BR-DE-10]
        label = "⟦city⟧"
        [variants.BR-DE-11]
        label = "⟦code⟧"
        """,
    "file": """
        [FILE-EMPTY]
        title = "⟦empty file⟧"
        """,
    "syntax": """
        [texts.forbidden]
        title = "⟦{no}: {place}⟧"
        explanation = "⟦{xml}⟧ {consequence}"
        fix = "⟦remove⟧ {instead}"
        [fragments.consequence]
        warning = "⟦ignored⟧"
        [forms.x]
        no = "⟦no {noun}⟧"
        [elements]
        "/CopyIndicator" = { noun = "⟦copy⟧", gender = "x" }
        [places]
        "/" = "⟦invoice⟧"
        """,
}

CHILD = """
import asyncio, contextlib, io, json, sys
from pathlib import Path
import httpx
import einvoice
from appliance.access.keys import KeyRing
from appliance.app import create_app
from appliance.settings import Settings
from einvoice.cli import main

lang, invoice, data = sys.argv[1:]

def command(*arguments):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        main([*arguments, "--lang", lang])
    return out.getvalue() + err.getvalue()

async def problem(query, **settings):
    app = create_app(Settings(data=data, artifacts="off", **settings), KeyRing(Path(data, "keys.env"), {}))
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        return (await client.get("/nothing" + query)).json()

result = einvoice.validate(invoice, lang=lang)
finding = next(it for it in result.findings if it.code == "BR-CO-10")
catalog = einvoice.catalog()
print(json.dumps({
    "package": einvoice.__file__,
    "dict": finding.to_dict(),
    "english": finding.to_dict("en"),
    "text": str(result),
    "html": result._repr_html_(),
    "command": command("validate", invoice),
    "empty": command("validate", "/dev/null"),
    "variant": catalog["BR-DE-11"].title(lang),
    "composed": [catalog["UBL-CR-004"].title(lang), catalog["UBL-CR-004"].explanation(lang)],
    "other": [catalog["BR-01"].title(lang), catalog["BR-01"].title("en")],
    "problem": asyncio.run(problem(f"?lang={lang}", languages=f"de,en,{lang}")),
    "contract": asyncio.run(problem(f"?lang={lang}")),
}))
"""


def pseudo(text):
    """Return an accented text in brackets; placeholders are kept."""
    parts = re.split(r"(\{[^{}]*\})", text)
    return "⟦" + "".join(part if part.startswith("{") else part.translate(ACCENTED) for part in parts) + "⟧"


def message_file(english):
    tables = tomllib.loads(english.read_text("utf-8"))
    lines = []
    for table, texts in tables.items():
        lines.append(f"[{table}]")
        for key, text in texts.items():
            if f"{table}.{key}" not in LEFT_OUT:
                translated = text if table == "format" else pseudo(text)
                lines.append(f"{json.dumps(key)} = {json.dumps(translated, ensure_ascii=False)}")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    site = tmp_path_factory.mktemp("site")
    ignored = shutil.ignore_patterns("__pycache__")
    for package in (einvoice, appliance):
        folder = Path(package.__file__).parent
        shutil.copytree(folder, site / folder.name, ignore=ignored)
    rules = site / rules_folder().relative_to(SITE)
    if not rules.exists():
        shutil.copytree(rules_folder(), rules, ignore=ignored)
    for english in site.rglob("messages/en.toml"):
        english.with_name(f"{LANG}.toml").write_text(message_file(english), "utf-8")
    for folder, content in TRANSLATIONS.items():
        (rules / folder / "translations").mkdir(exist_ok=True)
        (rules / folder / "translations" / f"{LANG}.toml").write_text(content, "utf-8")
    invoice = site / "invoice.xml"
    sample = (SAMPLES / "ubl-invoice.xml").read_bytes()
    invoice.write_bytes(re.sub(rb'(LineExtensionAmount currencyID="EUR">)[0-9.]+', rb"\g<1>1234.50", sample, count=1))
    environment = {**os.environ, "PYTHONPATH": str(site), "EINVOICE_CACHE": str(site / "cache")}
    ran = subprocess.run(
        [sys.executable, "-c", CHILD, LANG, invoice, site / "data"],
        cwd=site, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return {**json.loads(ran.stdout.splitlines()[-1]), "site": str(site)}


def test_the_copy_is_used(answers):
    assert answers["package"].startswith(answers["site"])


def test_finding(answers):
    finding, english = answers["dict"], answers["english"]
    assert finding["title"] == "⟦sum⟧ 1,234.50"
    assert finding["explanation"].startswith("⟦expected⟧ ")
    assert finding["fix"].startswith("⟦"), "what the numbers say is a text of the package"
    assert finding["title"] != english["title"]


def test_result_as_text_and_html(answers):
    assert "⟦sum⟧" in answers["text"]
    assert "⟦nöt välïd⟧" in answers["text"]
    assert f'lang="{LANG}"' in answers["html"]
    assert "⟦sum⟧" in answers["html"]


def test_command(answers):
    assert "⟦sum⟧" in answers["command"]
    assert "⟦nöt välïd⟧" in answers["command"]
    assert "⟦empty file⟧" in answers["empty"]


def test_rules_of_a_family_share_a_translation(answers):
    assert answers["variant"] == "⟦⟦code⟧ BT-78⟧"


def test_composed_texts(answers):
    title, explanation = answers["composed"]
    assert title == "⟦⟦no ⟦copy⟧⟧: ⟦invoice⟧⟧"
    assert explanation == "⟦cbc:CopyIndicator⟧ ⟦ignored⟧"


def test_untranslated_rule_falls_back(answers):
    text, english = answers["other"]
    assert text == english


def test_message_of_the_service(answers):
    problem = answers["problem"]
    assert problem["code"] == "not_found"
    assert problem["detail"].startswith("⟦Thïs äddrëss")
    assert problem["title"] == "Not found", "a missing text falls back to English"
    assert answers["contract"]["title"] == "Nicht gefunden / Not found", "without the setting, only de and en are known"
