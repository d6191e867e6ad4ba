"""The public face: a short list of names, quickly imported, and nothing heavy behind it."""

import subprocess
import sys

import pytest

import einvoice

NAMES = [
    "NAMESPACES",
    "CatalogEntry",
    "Converted",
    "Draft",
    "DraftError",
    "EinvoiceError",
    "Extracted",
    "Finding",
    "FindingsError",
    "Generated",
    "Invoice",
    "Loss",
    "ResultSet",
    "RuleError",
    "TooMuchWork",
    "UnreadableDocument",
    "ValidationResult",
    "absent",
    "catalog",
    "convert",
    "draft_schema",
    "embed",
    "engines",
    "explain_error",
    "explore",
    "extract",
    "generate",
    "invoice_pdf",
    "read",
    "report_pdf",
    "rule_changes",
    "rule_sets",
    "validate",
    "validate_many",
    "write",
]
HEAVY = {
    "anywidget", "asyncio", "concurrent.futures", "dask", "facturx", "fastapi", "html", "importlib.metadata",
    "ipywidgets", "json", "multiprocessing", "numpy", "pandas", "pikepdf", "pydantic", "saxonche", "urllib.request",
    "weasyprint",
}  # fmt: skip


def python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.split()


def test_the_face_is_this_list():
    assert einvoice.__all__ == NAMES
    for name in NAMES:
        assert getattr(einvoice, name) is not None


@pytest.mark.parametrize("name", NAMES)
def test_each_name_says_what_it_is(name):
    thing = getattr(einvoice, name)
    described = thing if callable(thing) else type(thing)
    assert described.__doc__
    assert described.__doc__.strip()


def test_validate_is_the_function_even_after_its_module_is_imported():
    printed = python(
        "import einvoice, einvoice.validate; from einvoice.cli import main; print(callable(einvoice.validate))"
    )
    assert printed == ["True"]


def test_validating_imports_nothing_heavy(sample):
    code = "import sys, einvoice; einvoice.validate({!r}); print(*sys.modules)"
    assert not HEAVY & set(python(code.format(str(sample("ubl-invoice.xml")))))


# Processor time, and the best of five: other work on the machine must not fail a test.
