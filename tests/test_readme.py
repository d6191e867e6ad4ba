"""The examples of the README run, and print what it says they print."""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.paths import ROOT

MARKED = r"<!-- runnable -->\n```(python|sh)\n(.*?)```\n(?:\n```text\n(.*?)```)?"
EXAMPLES = re.findall(MARKED, (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)


def test_readme_has_nine_examples():
    assert [language for language, _, _ in EXAMPLES] == ["python"] * 4 + ["sh"] * 5


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
