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
    if (ROOT / "einvoice").is_dir():  # beside an installed package there are no other files
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
