"""The time limit of a search: no step is begun that would exceed it."""

import time

import pytest

import einvoice
from einvoice.editing.edits import EditError, SetText, apply
from einvoice.editing.finder import Finder
from einvoice.repair import api
from einvoice.repair.api import Diagnosis
from einvoice.repair.search import Search
from einvoice.syntax.xml import parse

LINE = "/ubl:Invoice/cac:InvoiceLine"


class Clock:
    """A clock that advances only by calls of a function, such as the validation of a document."""

    def __init__(self, seconds):
        self.now, self.seconds = 0.0, seconds

    def monotonic(self):
        return self.now

    def during(self, function):
        def called(*arguments):
            self.now += self.seconds
            return function(*arguments)

        return called


@pytest.mark.parametrize(("limit", "validations"), [(0.5, 0), (1.5, 1), (3.5, 3)])
def test_a_validation_that_would_exceed_the_limit_is_not_begun(sample, monkeypatch, limit, validations):
    text = sample("ubl-invoice.xml").read_bytes().replace(b">56.33<", b">57.33<").replace(b">102.00<", b">103.00<")
    diagnosis = Diagnosis(einvoice.validate(text))
    clock = Clock(1)
    monkeypatch.setattr(time, "monotonic", clock.monotonic)
    search = Search(diagnosis.case, clock.during(diagnosis.search._validate), seconds=limit, step=1)
    search.run()
    assert search.validations == validations
    assert clock.now <= limit


def test_a_step_that_took_longer_is_expected_to_take_as_long_again(sample, monkeypatch):
    text = sample("ubl-invoice.xml").read_bytes().replace(b">56.33<", b">57.33<").replace(b">102.00<", b">103.00<")
    diagnosis = Diagnosis(einvoice.validate(text))
    clock = Clock(3)
    monkeypatch.setattr(time, "monotonic", clock.monotonic)
    search = Search(diagnosis.case, clock.during(diagnosis.search._validate), seconds=5, step=0.5)
    search.run()
    assert search.validations == 1


def test_compiling_the_checks_once_is_no_step(sample, monkeypatch):
    result = einvoice.validate(sample("ubl-invoice.xml").read_bytes().replace(b">56.33<", b">57.33<"))
    clock = Clock(100)
    monkeypatch.setattr(time, "monotonic", clock.monotonic)
    monkeypatch.setattr(api, "checks_by_code", clock.during(api.checks_by_code))
    diagnosis = Diagnosis(result, seconds=0.5)
    assert clock.now == 100
    diagnosis.search.run()
    assert diagnosis.search.validations > 0


@pytest.mark.parametrize(("limits", "ended_by"), [({}, ""), ({"seconds": 0}, "time"), ({"limit": 8}, "validations")])
def test_the_limit_that_ended_the_search_is_known(sample, limits, ended_by):
    text = sample("ubl-invoice.xml").read_bytes().replace(b">56.33<", b">57.33<").replace(b">102.00<", b">103.00<")
    diagnosis = Diagnosis(einvoice.validate(text))
    search = Search(diagnosis.case, diagnosis.search._validate, **limits)
    search.run()
    assert search.ended_by == ended_by


@pytest.mark.parametrize(
    ("xpath", "count"),
    [
        (LINE, 3),
        (f"{LINE}[2]", 1),
        (f"{LINE}[4]", 0),
        (f"{LINE}/cbc:ID", 3),
        (f"{LINE}[2]/cbc:ID[1]", 1),
        (f"{LINE}[cbc:ID='2']/cbc:ID", 1),
        ("/cn:CreditNote/cbc:ID", 0),
        ("/ubl:Invoice[1]", 1),
        ("//cac:Price", 3),
        ("/*/cbc:ID", 1),
    ],
)
def test_elements_are_found_as_xpath_selects_them(sample, xpath, count):
    root = parse(sample("ubl-invoice.xml").read_bytes()).getroot()
    namespaces = einvoice.NAMESPACES
    found = Finder(root).find(xpath)
    assert found == root.getroottree().xpath(xpath, namespaces=namespaces)
    assert len(found) == count


@pytest.mark.parametrize("xpath", ["/none:Invoice/cbc:ID", "/ubl:Invoice[", LINE, f"{LINE}[9]"])
def test_xpath_that_selects_no_single_element(sample, xpath):
    with pytest.raises(EditError):
        apply(sample("ubl-invoice.xml").read_bytes(), [SetText(xpath, "x")])
