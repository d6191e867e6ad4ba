"""Figures of a result set."""

from typing import Any

import pytest

import einvoice
from einvoice.bulk import ResultSet

matplotlib: Any = pytest.importorskip("matplotlib")
pyplot: Any = pytest.importorskip("matplotlib.pyplot")
matplotlib.use("Agg")


@pytest.fixture(scope="module")
def results() -> ResultSet:
    return einvoice.validate_many(einvoice.samples(), workers=0, progress=False, lang="en")


def _lengths(axes: Any, label: str) -> list[float]:
    container = next(it for it in axes.containers if it.get_label() == label)
    return [bar.get_width() for bar in container]


def test_a_fact_is_drawn_with_its_valid_and_invalid_files(results: ResultSet) -> None:
    axes = results.summary(by="syntax").plot()
    names = [it.get_text() for it in axes.get_yticklabels()]
    counts = {label: dict(zip(names, _lengths(axes, label), strict=True)) for label in ("valid", "not valid")}
    assert counts == {"valid": {"UBL": 1, "CII": 1}, "not valid": {"UBL": 0, "CII": 1}}


def test_months_are_columns(results: ResultSet) -> None:
    axes = results.summary(by="month").plot()
    assert [it.get_text() for it in axes.get_xticklabels()] == ["2026-11"]
    assert axes.get_ylabel() == "Files"


def test_codes_are_drawn_in_given_axes_and_language(results: ResultSet) -> None:
    given = pyplot.subplots()[1]
    axes = results.summary().plot(lang="de", axes=given)
    assert axes is given
    assert [it.get_text() for it in axes.get_yticklabels()] == ["BR-CO-15"]
    assert axes.get_xlabel() == "Dateien"
    assert [it.get_text() for it in axes.get_legend().get_texts()] == ["Fehler"]


def test_a_dollar_sign_in_a_name_is_drawn_as_it_is(results: ResultSet) -> None:
    axes = results.summary(by=lambda file: "$5 & $6").plot()
    axes.figure.canvas.draw()
    assert [it.get_text() for it in axes.get_yticklabels()] == ["$5 & $6"]
