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
    assert len(missed) <= 0.02 * count, missed


def test_a_row_that_is_there_twice_is_named_with_and_without_vat():
    missed, _ = unnamed(faulty(12, start=99000, kinds=["row_doubled"]), 1)
    assert not missed


@pytest.mark.slow
def test_the_first_causes_name_most_of_three_faults():
    missed, count = unnamed(faulty(TRIPLE, 3), 5)
    assert len(missed) <= 0.06 * count, missed


@pytest.mark.slow
@pytest.mark.parametrize(("count", "faults"), [(MANY, 1), (TRIPLE, 3)])
def test_no_option_writes_a_false_value(count, faults):
    assert not {it.faults: found for it in faulty(count, faults) if (found := written(it))}


def test_no_option_writes_a_false_value_in_a_few():
    assert not {it.faults: found for it in faulty(FEW // 3, 1, start=1000) if (found := written(it))}


def written(case):
    """Return the false values that a repair writes, with both options."""
    result = einvoice.validate(case.data)
    fixed = {result.fixed(unsafe=unsafe).xml for unsafe in (False, True)}
    is_doubled = any("doubled" in it.kind for it in case.faults)
    return [it for xml in fixed for it in false_values(case.original, case.data, xml, is_doubled=is_doubled)]
