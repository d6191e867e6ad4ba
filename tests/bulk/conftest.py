"""Fixtures of bulk validation."""

import pytest

from tests.helpers.corpora import make_corpus, validate_serially


@pytest.fixture(scope="session")
def results():
    """Results of `make_corpus(30)`, in English."""
    return validate_serially(make_corpus(30)[0], lang="en")
