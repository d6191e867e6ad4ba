"""The examples of the README and of the guides run, and print what these say they print."""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import einvoice
from tests.helpers.paths import ROOT

MARKED = r"<!-- runnable -->\n```(python|sh)\n(.*?)```\n(?:\n```text\n(.*?)```)?"
PAGES = [ROOT / "README.md", *sorted((Path(einvoice.__file__).parent / "docs").glob("*.md"))]
EXAMPLES = [it for path in PAGES for it in re.findall(MARKED, path.read_text(encoding="utf-8"), re.DOTALL)]


def test_readme_and_guides_have_nine_examples():
    assert [language for language, _, _ in EXAMPLES] == ["python"] * 4 + ["sh"] * 5


def test_readme_is_short():
    assert len(PAGES[0].read_text(encoding="utf-8").splitlines()) <= 250


def test_links_lead_to_files():
    link = re.compile(r"\]\((?!https?:|#)([^)#]+)")
    links = [(path, it) for path in PAGES for it in link.findall(path.read_text(encoding="utf-8"))]
    assert len(links) > len(PAGES)
    if (ROOT / "einvoice" / "__init__.py").is_file():  # beside an installed package there are no other files
        assert [(path.name, it) for path, it in links if not (path.parent / it).exists()] == []


def printed_by(language, code):
    if language == "python":
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(code, {"__name__": "__main__"})
        return output.getvalue()
    commands = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": commands, "COLUMNS": "100"}
    done = subprocess.run(["sh", "-ec", code], env=environment, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


@pytest.mark.parametrize(("language", "code", "expected"), EXAMPLES)
def test_example_prints_the_documented_output(language, code, expected, monkeypatch):
    monkeypatch.chdir(ROOT)
    said = re.findall(r"^# (.*\n)", code, re.MULTILINE)
    printed = printed_by(language, code)
    if said or expected:
        assert printed == "".join(said) + expected


_SCRIPT = """
from decimal import Decimal
import einvoice

invoice = einvoice.read("invoice.xml")
total = sum((line.net_amount.number for line in invoice.lines), Decimal(0))
invoice.due_date = "2026-12-31"
invoice["BT-9"] = "2026-12-31"
invoice.recalculate()
print(total, invoice.lines[0].net_amount * 2, invoice.seller.name.text)

result = einvoice.validate("invoice.xml", lang="en")
for finding in result.errors:
    print(finding.code, finding.line, finding.title(), finding.fix())
for cause in result.causes():
    print(cause.text())
print(result.letter("de"), result.assessment("de"))

results = einvoice.validate_many(einvoice.samples())
lines = results.to_frame("lines")
print(lines["net"].sum(), results.summary(by="seller"))
results.summary().plot()
results.filter(lambda file: bool(file.gross and file.gross > 1000)).to_excel("large.xlsx")
print(einvoice.convert("invoice.xml", "CII").xml, einvoice.diff("one.xml", "other.xml").changed)
"""


@pytest.mark.slow
def test_scripts_of_users_pass_a_strict_type_checker(tmp_path):
    api = pytest.importorskip("mypy.api")
    scripts = [code for language, code, _ in EXAMPLES if language == "python"]
    for number, code in enumerate((*scripts, _SCRIPT)):
        (tmp_path / f"script_{number}.py").write_text(code, encoding="utf-8")
    options = ["--strict", "--no-error-summary", f"--cache-dir={tmp_path}", "--python-executable", sys.executable]
    printed, errors, status = api.run([*options, *map(str, sorted(tmp_path.glob("*.py")))])
    assert (printed, errors, status) == ("", "", 0)
