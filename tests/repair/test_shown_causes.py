"""Causes in the static HTML of a result."""

import pickle

import pytest

import einvoice
from einvoice import repair
from einvoice.cli.outcome import Outcome
from einvoice.cli.table import format_table
from einvoice.notebook.causes import cause_list
from einvoice.repair.fixed import Fixed
from einvoice.visualization.report.causes import causes as report_causes


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
    monkeypatch.setattr(repair, "find_causes", None)  # not searched again
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


def test_a_search_that_ended_at_a_limit_says_so(faulty):
    assert faulty.causes().ended_by == faulty.to_dict(causes=True)["causes_ended_by"] == ""
    assert "limit" not in faulty.causes()._repr_html_()
    limited = repair.find_causes(faulty, 0)
    assert limited.ended_by == "time"
    remark = "The search ended at its time limit."
    assert remark in limited._repr_html_()
    assert remark in "".join(format_table(iter([Outcome("a.xml", faulty, causes=limited, lists_causes=True)]), "en"))
    assert remark in report_causes(limited, len(faulty.findings), "en")
    assert cause_list(faulty, limited, "en")["remark"].startswith(remark)
    assert remark in str(Fixed(faulty.document.data, (), limited, faulty, faulty, "en"))
    data = faulty.to_dict(causes=limited)
    assert (len(data["causes"]), data["causes_ended_by"]) == (len(limited), "time")


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
