"""Comparisons over many documents: a fixed sample of them in ``tests/run``, all of them with ``pytest -m live``."""

import pytest


def sampled(step: int) -> pytest.MarkDecorator:
    """Parametrize a test with the step through its documents: ``documents[::step]``."""
    everything = pytest.param(1, id="all", marks=pytest.mark.live)
    return pytest.mark.parametrize("step", [pytest.param(step, id=f"1 of {step}"), everything])
