"""Invoices with known faults: the first cause names the fault, and no repair writes a false value."""

import pytest

import einvoice
from tests.helpers.faults import KINDS, false_values, faulty, names

FEW, MANY = 150, 720
TRIPLE = 200


def unnamed(cases, causes):
    """Return kind and place of each fault that none of the first causes names, and the number of faults."""
    missed, count = [], 0
    for case in cases:
        found = einvoice.validate(case.data).causes()[:causes]
        count += len(case.faults)
        missed += [it for it in case.faults if not any(names(cause, it) for cause in found)]
    return missed, count


def test_faults_are_of_many_kinds():
    assert len(KINDS) >= 30
    assert len({it.faults[0].kind for it in faulty(FEW)}) >= 30


def test_the_first_cause_names_most_faults():
    missed, count = unnamed(faulty(FEW), 1)
    assert len(missed) <= 0.15 * count, missed


@pytest.mark.slow
def test_the_first_causes_name_most_of_three_faults():
    missed, count = unnamed(faulty(TRIPLE, 3), 5)
    assert len(missed) <= 0.15 * count, missed


@pytest.mark.slow
def test_safe_changes_write_few_false_values():
    false = [it.faults for it in faulty(MANY) if _written(it, unsafe=False)]
    assert len(false) <= 0.01 * MANY, false


def _written(case, *, unsafe):
    return false_values(case.original, case.data, einvoice.validate(case.data).fixed(unsafe=unsafe).xml)
