"""Repeated elements stop our layers where they stop the official stylesheet for UBL."""

from __future__ import annotations

import pytest

from tests.helpers.paths import SAMPLES

from .official_schematron import official_schematron
from .repetition import repeated, stopped
from .targets import ruleset

pytest.importorskip("saxonche")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ubl-invoice.xml", "ubl-credit-note.xml"])
def test_a_layer_stops_if_and_only_if_the_stylesheet_does(name: str) -> None:
    outcomes = set()
    for document in repeated((SAMPLES / name).read_bytes()):
        own = stopped(document, profile="xrechnung")
        if own is not None:
            outcomes.add(official := official_schematron().codes(document) is None)
            assert (ruleset().name in own) == official, document.decode()
    assert outcomes == {True, False}
