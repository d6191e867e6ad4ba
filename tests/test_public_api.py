"""Public API: exported names, docstrings, argument checks and imports."""

import importlib
import importlib.util
import pkgutil
import pydoc
import subprocess
import sys

import pytest

import appliance
import einvoice
from tests.helpers.languages import REJECTED

NAMES = [
    "NAMESPACES",
    "AttachedFile",
    "CatalogEntry",
    "ConversionRefused",
    "Converted",
    "Draft",
    "DraftError",
    "EinvoiceError",
    "Extracted",
    "Finding",
    "FindingsError",
    "Generated",
    "Invoice",
    "InvoiceDiff",
    "InvoiceSet",
    "NotAttachable",
    "ResourceLimitExceeded",
    "ResultSet",
    "RuleError",
    "TermChange",
    "UnreadableDocument",
    "ValidationResult",
    "absent",
    "catalog",
    "convert",
    "copy_rules",
    "diff",
    "draft_schema",
    "embed",
    "engines",
    "explain_error",
    "explore",
    "extract",
    "generate",
    "invoice_pdf",
    "options",
    "read",
    "read_many",
    "report_pdf",
    "rule_changes",
    "rule_sets",
    "samples",
    "validate",
    "validate_many",
    "write",
]
HEAVY = {
    "anywidget", "asyncio", "concurrent.futures", "dask", "facturx", "fastapi", "html", "importlib.metadata",
    "ipywidgets", "json", "multiprocessing", "numpy", "pandas", "pikepdf", "pydantic", "saxonche", "urllib.request",
    "weasyprint",
}  # fmt: skip


def run_python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.split()


def test_exported_names_are_not_modules():
    """A module that is imported would hide the function of its name."""
    for name in NAMES:
        assert importlib.util.find_spec(f"einvoice.{name}") is None, name


@pytest.mark.parametrize("function", [einvoice.report_pdf, einvoice.invoice_pdf])
def test_pdf_functions_check_their_arguments(function, sample):
    path = sample("ubl-invoice.xml")
    with pytest.raises(TypeError, match=r"must be an? (result of|invoice from) einvoice"):
        function(path)
    result = einvoice.validate(path)
    argument = result if function is einvoice.report_pdf else result.invoice
    with pytest.raises(ValueError, match=REJECTED):
        function(argument, "xx")


def test_as_of_must_be_a_date(sample):
    with pytest.raises(TypeError, match=r"'as_of' must be a datetime\.date, not str"):
        einvoice.validate(sample("ubl-invoice.xml"), as_of="2024-01-31")


def test_repr_of_a_conversion_is_short(sample):
    assert repr(einvoice.convert(sample("ubl-invoice.xml"))) == "<Converted to CII: 0 losses>"


def test_exported_names():
    assert einvoice.__all__ == NAMES
    for name in NAMES:
        assert getattr(einvoice, name) is not None


@pytest.mark.parametrize("name", NAMES)
def test_each_exported_name_has_a_docstring(name):
    exported = getattr(einvoice, name)
    documented = exported if callable(exported) else type(exported)
    assert documented.__doc__
    assert documented.__doc__.strip()


def test_dir_lists_the_public_api_without_importing_it():
    code = "import sys, einvoice; print(*dir(einvoice)); print('modules', *sys.modules)"
    names, _, modules = " ".join(run_python(code)).partition(" modules ")
    assert {name for name in names.split() if not name.startswith("__")} == set(NAMES)
    assert not HEAVY & set(modules.split())


def test_help_describes_the_public_api():
    text = pydoc.render_doc(einvoice, renderer=pydoc.plaintext)
    for name in ("class Draft(", "class ResultSet(", "validate_many(", "rule_changes("):
        assert name in text
    assert "import_module" not in text


def test_validation_of_a_folder_points_to_validate_many(tmp_path):
    for folder in (tmp_path, str(tmp_path)):
        with pytest.raises(IsADirectoryError, match="validate_many"):
            einvoice.validate(folder)


def test_validation_does_not_import_heavy_modules(sample):
    code = "import sys, einvoice; einvoice.validate({!r}); print(*sys.modules)"
    assert not HEAVY & set(run_python(code.format(str(sample("ubl-invoice.xml")))))


@pytest.mark.slow
@pytest.mark.parametrize("package", [einvoice, appliance], ids=lambda package: package.__name__)
def test_every_module_can_be_imported(package):
    """Also those that no test and no other module imports, without a warning."""
    names = [it.name for it in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    assert len(names) > 50
    for name in names:
        if not name.endswith(".__main__"):  # runs the command
            importlib.import_module(name)
