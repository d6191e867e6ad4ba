"""Causes in the static HTML of a result."""

import pickle

import pytest

import einvoice
from einvoice import presentation


@pytest.fixture
def faulty(sample):
    """The result of an invoice with a wrong category and a wrong total."""
    text = sample("ubl-invoice.xml").read_bytes()
    text = text.replace(b"<cbc:ID>S</cbc:ID>", b"<cbc:ID>Z</cbc:ID>", 1).replace(b">415.33<", b">41.33<")
    return einvoice.validate(text, lang="en")


def test_the_representation_shows_causes_once_they_are_known(faulty, monkeypatch):
    assert "cause" not in faulty._repr_html_()
    assert faulty.known_causes is None
    causes = faulty.causes()
    monkeypatch.setattr(presentation, "causes", None)  # not searched again
    page = faulty._repr_html_()
    assert f"2 causes, {len(faulty.findings)} findings" in page
    assert all(cause.text("en") in page for cause in causes)
    assert "BT-112: 41.33 -&gt; 415.33" in page
    assert f"With this change, 2 of the {len(faulty.findings)} findings disappear." in page
    assert causes._repr_html_() in page
    assert faulty.causes() is causes


def test_a_limited_search_is_not_kept(faulty):
    assert all(not cause.changes for cause in faulty.causes(seconds=0))
    assert faulty.known_causes is None


def test_copies_are_pickled_without_causes(faulty):
    faulty.causes()
    copy = pickle.loads(pickle.dumps(faulty))
    assert copy.known_causes is None
    assert [cause.text() for cause in copy.causes()] == [cause.text() for cause in faulty.causes()]


def test_values_of_the_invoice_are_escaped(sample):
    text = sample("ubl-invoice.xml").read_bytes().replace(b">415.33<", b">&lt;script&gt;<")
    result = einvoice.validate(text, lang="en")
    result.causes()
    assert "<script>" not in result._repr_html_()
    assert "&lt;script&gt;" in result.causes()._repr_html_()


def test_a_valid_invoice_has_no_causes(sample):
    result = einvoice.validate(sample("ubl-invoice.xml").read_bytes(), lang="en")
    assert result.causes() == ()
    assert "cause" not in result._repr_html_()
