"""Benchmark of the causes of a faulty invoice; the table shows the ratio to one validation of it."""

import pytest

import einvoice
from einvoice.repair.api import Diagnosis
from tests.benchmarks import invoices

LIMIT = 50
"""The causes of a typical faulty invoice need fewer validations."""


@pytest.fixture(params=["typical"])
def faulty(request):
    """The typical invoice with three faults: a date, the VAT category of a line, the total with VAT."""
    head, _, tail = invoices.typical().rpartition(b"<cbc:ID>S</cbc:ID>")
    wrong_category = head + b"<cbc:ID>Z</cbc:ID>" + tail
    return wrong_category.replace(b"2026-05-04", b"04.05.2026").replace(b">415.33<", b">414.33<")


def test_validate_faulty(benchmark, faulty):
    assert len(benchmark(einvoice.validate, faulty).findings) == 6


def test_causes(benchmark, faulty):
    result = einvoice.validate(faulty)
    assert len(benchmark(lambda: Diagnosis(result).causes())) == 3  # result.causes() searches once


def test_causes_need_few_validations(faulty):
    diagnosis = Diagnosis(einvoice.validate(faulty))
    assert len(diagnosis.causes()) == 3
    assert diagnosis.search.validations < LIMIT
