"""Compressed records."""

import pickle
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from einvoice.bulk.lines import Lines

RECORDS = [b'{"file":"%d.xml","verdict":"valid","seller":"Muster GmbH"}' % number for number in range(1000)]


@given(st.integers(0, 600), st.slices(600))
def test_lines_are_a_sequence(count, part):
    expected = RECORDS[:count]
    lines = Lines(expected)
    assert len(lines) == count
    assert list(lines) == expected
    assert lines[part] == expected[part]


@given(st.lists(st.integers(-1000, 999)))
def test_each_line_by_its_index(positions):
    lines = Lines(RECORDS)
    assert [lines[position] for position in positions] == [RECORDS[position] for position in positions]


@pytest.mark.parametrize("position", [1000, -1001])
def test_an_index_out_of_range(position):
    with pytest.raises(IndexError):
        Lines(RECORDS)[position]


def test_lines_can_grow_and_be_pickled():
    lines = Lines(RECORDS[:300])
    lines.extend(RECORDS[300:])
    assert list(pickle.loads(pickle.dumps(lines))) == RECORDS


def test_lines_take_less_memory():
    lines = Lines(RECORDS)
    assert sum(map(sys.getsizeof, (*lines._blocks, *lines._last))) < sum(map(sys.getsizeof, RECORDS)) / 2
