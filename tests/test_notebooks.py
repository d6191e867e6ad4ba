"""The notebooks reproduce their stored output on any machine and day."""

import ast
import json
import os
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from lxml import etree

from tests.helpers.jupyter import RUN_MODULE
from tests.helpers.paths import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
pytestmark = pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])


def cells(path):
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


@pytest.fixture(scope="module")
def reproduced(request, tmp_path_factory):
    """Run the notebooks of the selected tests; return the number of cells that passed by notebook, and the output.

    In one process: each notebook has a kernel of its own, but nbval takes as long to import as many cells to run.
    """
    for extra in ("anywidget", "distributed", "nbval", "pandas", "pikepdf", "pyarrow", "weasyprint"):
        pytest.importorskip(extra, reason=f"{extra} is not installed")
    selected = [
        it for it in request.session.items if it.path == request.path and request.fixturename in it.fixturenames
    ]
    report = tmp_path_factory.mktemp("nbval") / "report.xml"
    command = [*RUN_MODULE, "pytest", "-p", "nbval.plugin", "--nbval", "--nbval-current-env", f"--junitxml={report}"]
    isolated = ["-q", "-c", os.devnull, "--rootdir", ROOT, "-p", "no:cacheprovider", "--nbval-cell-timeout", "120"]
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # other plugins take a second to import
    paths = [it.callspec.params["path"] for it in selected]
    done = subprocess.run(
        [*command, *isolated, *paths], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900
    )
    assert done.returncode in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED), done.stdout + done.stderr
    passed = Counter(
        case.get("classname").split(".")[-2] for case in etree.parse(report).iter("testcase") if not len(case)
    )
    return passed, done.stdout


@pytest.mark.slow
def test_notebook_reproduces_its_stored_output(path, reproduced):
    passed, output = reproduced
    assert passed[path.stem] == len(cells(path)), output


def test_notebook_was_run_from_top_to_bottom(path):
    counts = [cell["execution_count"] for cell in cells(path)]
    assert counts == list(range(1, len(counts) + 1))  # nbval skips cells without a count
    assert any(cell["outputs"] for cell in cells(path))


def test_notebook_stores_no_widget_state(path):
    assert set(json.loads(path.read_text(encoding="utf-8"))["metadata"]) == {"kernelspec"}


def test_notebook_contains_no_machine_specific_output(path):
    stored = path.read_text(encoding="utf-8")
    assert len(stored) < 200_000
    assert not re.search(r"0x[0-9a-f]{8}|Traceback|widget-view\+json", stored)
    for folder in (ROOT, Path.home(), Path(tempfile.gettempdir())):
        assert f"{folder}/" not in stored


def test_notebook_shows_no_long_literal(path):
    for cell in cells(path):
        source = ast.parse("".join(cell["source"]))
        for literal in (it for it in ast.walk(source) if isinstance(it, ast.Dict | ast.List)):
            assert literal.end_lineno - literal.lineno < 20


def test_displayed_widgets_start_in_english_and_keep_their_state(path):
    """Later cells change neither filters nor selection nor language of a widget: they do not use it."""
    sources = ["".join(cell["source"]) for cell in cells(path)]
    assert 'einvoice.options.lang = "en"' in sources[0]
    shown = [number for number, source in enumerate(sources) if source.splitlines()[-1] == "view"]
    assert bool(shown) == any(".explore()\nview" in source for source in sources)
    for number in shown:
        assert not [source for source in sources[number + 1 :] if re.search(r"\bview\b", source)]
