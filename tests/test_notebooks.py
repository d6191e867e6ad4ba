"""The notebooks print what is stored in them, on any machine and on any day."""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
pytestmark = pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])


def cells(path):
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


@pytest.mark.slow
def test_a_notebook_prints_what_is_stored(path):
    for extra in ("anywidget", "distributed", "nbval", "pandas", "pikepdf", "pyarrow", "weasyprint"):
        pytest.importorskip(extra, reason=f"{extra} is not installed")
    command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "--nbval-cell-timeout", "120"]
    apart = ["-q", "-c", os.devnull, "--rootdir", ROOT, "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = subprocess.run([*command, *apart, path], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
    assert f"{len(cells(path))} passed" in done.stdout


def test_a_notebook_was_run_from_top_to_bottom(path):
    counts = [cell["execution_count"] for cell in cells(path)]
    assert counts == list(range(1, len(counts) + 1))  # nbval passes over a cell without one
    assert any(cell["outputs"] for cell in cells(path))


def test_a_notebook_tells_nothing_of_a_machine(path):
    stored = path.read_text(encoding="utf-8")
    assert len(stored) < 200_000
    assert not re.search(r"0x[0-9a-f]{8}|Traceback|widget-view\+json", stored)
    for folder in (ROOT, Path.home(), Path(tempfile.gettempdir())):
        assert f"{folder}/" not in stored
