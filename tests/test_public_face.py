"""The public face: a short list of names, quickly imported, and nothing heavy behind it."""

import resource
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
    "RuleError",
    "TooMuchWork",
    "UnreadableDocument",
    "ValidationResult",
    "absent",
    "catalog",
    "convert",
    "draft_schema",
    "explain_error",
    "extract",
    "generate",
    "read",
    "validate",
    "write",
]
HEAVY = {
    "asyncio", "dask", "facturx", "fastapi", "html", "importlib.metadata", "ipywidgets", "json", "numpy", "pandas",
    "pikepdf", "pydantic", "saxonche", "urllib.request", "weasyprint",
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


@pytest.mark.slow
def test_importing_is_quick():
    code = "import time; start = time.process_time(); import einvoice; print(time.process_time() - start)"
    assert min(float(python(code)[0]) for _ in range(5)) < 0.15


@pytest.mark.slow
def test_judging_a_file_by_command_is_quick(sample):
    command = [sys.executable, "-m", "einvoice.cli", "validate", str(sample("ubl-invoice.xml"))]

    def seconds():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, capture_output=True, timeout=60, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(seconds() for _ in range(5)) < 0.4
