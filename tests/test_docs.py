"""The API reference: docstrings become reStructuredText, and the pages build without warnings or external requests."""

import importlib.util
import os
import re
import subprocess
import sys

import pytest

import einvoice
from einvoice.errors import UnreadableDocument
from tests.helpers.paths import ROOT


@pytest.fixture(scope="module")
def conf():
    spec = importlib.util.spec_from_file_location("docs_conf", ROOT / ".ci" / "docs" / "conf.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("markdown", "restructured"),
    [
        ("Text.\n\n    code * 2\n\nText.", "Text.\n\n::\n\n    code * 2\n\nText."),
        ("Args:\n    x: one.\n\n        indented", "Args:\n    x: one.\n\n        indented"),
        ("Codes such as BR-DE-*.", r"Codes such as BR-DE-\*."),
        ("A pattern: `BR-DE-*`.", "A pattern: `BR-DE-*`."),
        (">>> 2 * 3\n6", ">>> 2 * 3\n6"),
        (
            "| a | b |\n|---|---|\n| 1 | x* |",
            ".. list-table::\n   :header-rows: 1\n\n   * - a\n     - b\n   * - 1\n     - x\\*",
        ),
    ],
)
def test_docstrings_are_translated(conf, markdown, restructured):
    lines = markdown.split("\n")
    conf.to_restructured(lines)
    assert "\n".join(lines) == restructured


def test_names_with_one_description_stay_together(conf):
    lines = [":ivar line, column: position.", ":param one: a, b: c"]
    conf.join_names(lines)
    assert lines == [":ivar line,column: position.", ":param one: a, b: c"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Build the pages, and return their texts by path."""
    folder = tmp_path_factory.mktemp("docs")
    command = [sys.executable, ROOT / ".ci" / "docs" / "build.py", folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=os.environ | {"PYTHONWARNINGS": ""})
    assert done.returncode == 0, done.stdout + done.stderr
    return {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*.html")}


@pytest.mark.slow
@pytest.mark.xdist_group("docs")
def test_reference_covers_the_public_api(pages):
    described = {path.removeprefix("python/").removesuffix(".html") for path in pages if path.startswith("python/")}
    assert described == {*einvoice.__all__, "index", "types", "localization"}
    for name in einvoice.__all__:
        assert f'id="einvoice.{name}"' in pages[f"python/{name}.html"], name
    members = pages["python/ResultSet.html"]
    assert all(f'id="einvoice.ResultSet.{name}"' in members for name in ("summary", "filter", "to_frame")), "inherited"
    assert all(cls.code in pages["exceptions.html"] for cls in UnreadableDocument.__subclasses__())
    assert "--write-baseline" in pages["commands.html"]
    assert "keys revoke" in pages["commands.html"]
    assert "daily_validation_limit" in pages["http-problems.html"]
    assert 'id="round2"' in pages["rules/functions.html"]


@pytest.mark.slow
@pytest.mark.xdist_group("docs")
def test_no_page_shows_markup(pages):
    for path, text in pages.items():
        shown = re.sub(r"<(pre|code|script|style)\b.*?</\1>|<[^>]+>", "", text, flags=re.DOTALL)
        assert not re.search(r"\*\*(?!options|facts)\w|``|:\w+:`|\|---", shown), path


@pytest.mark.slow
@pytest.mark.xdist_group("docs")
def test_pages_load_nothing_from_other_hosts(pages):
    for path, text in pages.items():
        loaded = re.findall(r'<(?:script|img|iframe|source)\b[^>]*\bsrc="([^"]*)"|<link\b[^>]*\bhref="([^"]*)"', text)
        assert loaded
        assert not [url for pair in loaded for url in pair if re.match(r"(?:\w+:)?//", url)], path
