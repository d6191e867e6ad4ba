"""The stored verdicts of the generated cases are those of the official stylesheets."""

import random

import pytest

from tests.cases import corpus
from tests.cases.bases import bases
from tests.cases.generate import rows
from tests.cases.official import fired, is_schema_valid, layer_of

pytest.importorskip("saxonche")
pytestmark = pytest.mark.live

#: How many cases of each folder are judged anew.
SAMPLE = 15


@pytest.mark.parametrize("folder", corpus.GENERATED)
def test_official_verdict_is_the_stored_one(folder):
    """For some cases at random."""
    for case, data in random.sample([*corpus.cases(folder)], SAMPLE):
        kind = case.get("level", case["root"])
        assert case["xsd"] == is_schema_valid(data, kind), case["case"]
        assert case["fired"] == {layer_of(kind): fired(data, kind)}, case["case"]


def test_generator_makes_the_stored_cases():
    """For the smallest profile."""
    folder = corpus.FACTUR_X["minimum"]
    chosen = [base for base in bases() if base.folder == folder]
    assert [*rows(chosen)] == [case for case, _ in corpus.cases(folder)]
