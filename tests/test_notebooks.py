"""The notebooks reproduce their stored output on any machine and day."""

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
def test_notebook_reproduces_its_stored_output(path):
    for extra in ("anywidget", "distributed", "nbval", "pandas", "pikepdf", "pyarrow", "weasyprint"):
        pytest.importorskip(extra, reason=f"{extra} is not installed")
    command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "--nbval-cell-timeout", "120"]
    isolated = ["-q", "-c", os.devnull, "--rootdir", ROOT, "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = subprocess.run([*command, *isolated, path], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
    assert f"{len(cells(path))} passed" in done.stdout


def test_notebook_was_run_from_top_to_bottom(path):
    counts = [cell["execution_count"] for cell in cells(path)]
    assert counts == list(range(1, len(counts) + 1))  # nbval skips cells without a count
    assert any(cell["outputs"] for cell in cells(path))


def test_notebook_contains_no_machine_specific_output(path):
    stored = path.read_text(encoding="utf-8")
    assert len(stored) < 200_000
    assert not re.search(r"0x[0-9a-f]{8}|Traceback|widget-view\+json", stored)
    for folder in (ROOT, Path.home(), Path(tempfile.gettempdir())):
        assert f"{folder}/" not in stored
