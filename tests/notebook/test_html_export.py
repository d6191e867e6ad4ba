"""Notebooks exported by nbconvert, opened in Chromium with JavaScript: static HTML, and nothing from other hosts."""

import json
import os
import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from tests.helpers.chromium import MonitoredPage
from tests.helpers.extras import requires
from tests.helpers.jupyter import CACHE, UNUSED
from tests.helpers.paths import ROOT

pytestmark = requires("anywidget", "nbconvert")

SAMPLE = ROOT / "einvoice/sample_invoices/xrechnung-ubl.xml"
SOURCES = [
    f"""from pathlib import Path
import einvoice
xml = Path({str(SAMPLE)!r}).read_bytes()
wrong = xml.replace(b">693.00</cbc:LineExtensionAmount>", b">692.99</cbc:LineExtensionAmount>")
result = einvoice.validate(wrong, lang="en")
Path("right.xml").write_bytes(xml)
Path("wrong.xml").write_bytes(wrong)
result""",
    "result.explore()",
    "einvoice.validate_many(['right.xml', 'wrong.xml'], lang='en', workers=1).explore()",
    "import ipywidgets\nipywidgets.IntSlider(7)",
]
TEXTS = ["Amounts: $a^2$", "```mermaid\ngraph TD\n```"]
#: Runs `jupyter nbconvert` with each list of arguments; one process, as nbconvert takes seconds to import.
NBCONVERT = f"""import json, sys
sys.modules[{UNUSED!r}] = None
from nbconvert.nbconvertapp import NbConvertApp
for arguments in json.loads(sys.argv[1]):
    NbConvertApp.clear_instance()
    NbConvertApp.launch_instance(arguments)"""
WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Pages of a user's executed notebook outside this project, by the name of the exporter."""
    import nbformat
    from nbformat import v4

    folder = tmp_path_factory.mktemp("user")
    cells = [*map(v4.new_markdown_cell, TEXTS), *map(v4.new_code_cell, SOURCES)]
    nbformat.write(v4.new_notebook(cells=cells), folder / "mine.ipynb")
    environment = os.environ | CACHE | {"HOME": str(folder), "PYTHONPATH": str(ROOT)}
    environment["JUPYTER_CONFIG_DIR"] = str(folder)

    exports = [
        ["--to", "notebook", "--execute", "--inplace", "mine.ipynb"],  # as JupyterLab saves it, with the widgets' state
        *(["--to", name, "mine.ipynb", "--output", name] for name in ("html", "einvoice_html")),
        ["--to", "einvoice_html", "mine.ipynb", "--execute", "--output", "executed"],
    ]
    command = [sys.executable, "-c", NBCONVERT, json.dumps(exports)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    stored = nbformat.read(folder / "mine.ipynb", 4)
    assert len(next(iter(stored.metadata.widgets.values()))["state"]) > 3
    assert sum(WIDGET in output.data for cell in stored.cells[2:] for output in cell.outputs) == 3
    return {path.stem: path for path in folder.glob("*.html")}


@pytest.fixture
def opened(browser, exported):
    pages = []

    def opened(name):
        pages.append(MonitoredPage(browser))
        pages[-1].page.goto(exported[name].as_uri(), wait_until="networkidle")
        return pages[-1]

    yield opened
    for page in pages:
        page.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["einvoice_html", "executed"])
def test_page_shows_results_without_network(opened, name):
    monitored = opened(name)
    page = monitored.page
    first, explored, many, _ = page.locator(".jp-OutputArea-output.jp-OutputArea-executeResult").all()
    for output in (first, explored):
        finding = output.locator("tr", has_text="BR-CO-10")
        finding.locator("summary").click()
        assert finding.get_by_text("(BT-106) from “692.99” to “693.00”").is_visible()
    assert "1 not valid" in many.inner_text()
    assert many.locator("td", has_text="for example wrong.xml").first.is_visible()
    assert "100%" in page.locator(".jp-OutputArea-output", has_text="2/2 [").inner_text()
    assert page.get_by_text("0/2 [").count() == 0
    assert page.get_by_text("IntSlider(value=7").is_visible()
    assert page.get_by_text("$a^2$").is_visible()
    assert page.get_by_text("graph TD").is_visible()
    assert page.locator("script, [src^=http], [href^=http]").count() == 0
    assert monitored.external_requests("file:", "data:") == []
    assert monitored.console_errors == []


@pytest.mark.slow
def test_other_exports_are_not_changed(opened):
    """The page of nbconvert's own exporter requests the scripts of widgets; this also shows that requests are seen."""
    assert any("html-manager" in url for url in opened("html").external_requests("file:", "data:"))


@pytest.mark.slow
def test_settings_for_other_exports_do_not_apply():
    from nbformat import v4
    from traitlets.config import Config

    (entry,) = entry_points(group="nbconvert.exporters", name="einvoice_html")
    exporter = entry.load()
    settings = Config(HTMLExporter={"template_name": "classic", "extra_template_basedirs": ["elsewhere"]})
    page, _ = exporter(config=settings).from_notebook_node(v4.new_notebook())
    assert "<script" not in page
    assert "jp-Notebook" in page


@pytest.mark.slow
def test_exporter_needs_core_dependencies_only():
    """Exporters are all loaded to list them: none may fail for want of an extra."""
    code = f"""import sys
sys.modules |= dict.fromkeys([{UNUSED!r}, "anywidget", "ipywidgets", "numpy", "pandas", "tqdm"])
from einvoice.notebook.html_exporter import OfflineHTMLExporter
print(OfflineHTMLExporter.output_mimetype)"""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout == "text/html\n", done.stderr
