"""Corrects how a value is written: blanks, case, date, number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

from einvoice.causes.applicability import QUESTION, SAFE
from einvoice.editing.edits import SetAttribute
from einvoice.model.iteration import Filled
from einvoice.model.values import BLANKS, Amount, Code, Date, Number, UnitPrice, Value, absent
from einvoice.reconciliation.amounts import round2
from einvoice.reconciliation.readings import dates, readings
from einvoice.repair.case import Case, decimal_text, is_malformed
from einvoice.repair.proposal import Proposal
from einvoice.result import Finding
from einvoice.syntax.paths import term_of_attribute

_POWER: Final = re.compile("[0-9][eE][+-]?[0-9]")
_CENT: Final = Decimal("0.01")
_DECIMALS: Final = 2
"""Decimals of an amount (BR-DEC)."""
_SCHEMA: Final = "schema"
_CODE_CHECKS: Final = ("in_", "one_of")
"""Start of the names of checks of syntax rules that a code violates."""


def proposals(case: Case) -> Iterator[Proposal]:
    """Yield a proposal for each other form of a value that is malformed or that a finding is about.

    A code is only written otherwise if a finding says that it is none: a finding about the rest of the element must not
    vanish because the code does.
    """
    terms = {term for finding in case.findings for term in finding.terms}
    found = set(_found(case))
    calculated_amounts = _calculated(case)
    doubtful = {id(place.value) for (best, *_) in case.hypotheses.explanations for place, _ in best.values}
    for it in case.values:
        value, number = it.value, it.number
        is_place = (number, "", value.raw) in found or is_malformed(value)
        exact = calculated_amounts.get((id(it.group), it.field)) if value is getattr(it.group, it.field) else None
        texts = forms(value, case.syntax) if exact is None else (decimal_text(exact, 2),)
        ceiling = QUESTION if isinstance(value, Date) and len({*dates(value)}) > 1 else SAFE
        if _POWER.search(value.raw) and id(value) in doubtful:
            continue  # the other numbers say that it means something else
        for text in texts if is_place or number in terms else ():
            if text != value.raw and (is_place or not text.islower()):  # most codes are in capital letters
                yield Proposal((case.set(value, text),), ceiling, (number,) if number else ())
        for name, given in _texts(it):
            if name and (number, name, given) in found:
                yield from _attribute(case, it, name, given)


def _calculated(case: Case) -> dict[tuple[int, str], Decimal]:
    """Return what the amounts with more than two decimals are if calculated from others, if that is within a cent.

    Rounding such an amount can contradict the others: 235.625 beside a total of 235.62, of which nothing was paid.
    """
    found: dict[tuple[int, str], Decimal] = {}
    explained = [value for explanation in case.hypotheses.explanations for it in explanation for value in it.values]
    results = [(it.result, it.solve().number) for it in case.hypotheses.calculations]
    for operand, number in (*explained, *results):
        stated = operand.number
        if stated is None or number is None or round2(stated) == stated or round2(number) != number:
            continue
        if abs(number - stated) < _CENT:
            found.setdefault((id(operand.group), operand.field), number)
    return found


def _found(case: Case) -> Iterator[tuple[str, str, str]]:
    """Yield the texts that findings are about, each with its term and the name of its attribute or "".

    Not all findings are reported if there are many, so the same text in the same term counts as well.
    """
    about: dict[Any, list[Finding]] = {}
    for finding in case.findings:
        about.setdefault(finding.location.node, []).append(finding)
    for it in case.values:
        findings = about.get(it.value.node, ())
        for name, text in _texts(it) if findings else ():
            is_code = bool(name) or isinstance(it.value, Code)
            if not is_code or any(
                _is_about_code(case, finding, name or it.value.attribute or "") for finding in findings
            ):
                yield it.number, name, text


def _is_about_code(case: Case, finding: Finding, attribute: str) -> bool:
    """Return whether a finding at an element is about the code in an attribute, or in its text."""
    place = finding.xpath.partition("/@")[2]
    if place:
        return place == attribute
    if finding.layer == _SCHEMA:
        return not attribute
    return case.check_of(finding).startswith(_CODE_CHECKS)


def _texts(it: Filled) -> Iterator[tuple[str, str]]:
    """Yield the text of a value and those of its attributes, each with the name of the attribute or ""."""
    yield "", it.value.raw
    if not it.value.attribute:
        yield from it.value.attributes.items()


def _attribute(case: Case, it: Filled, name: str, given: str) -> Iterator[Proposal]:
    """Yield a proposal for each other form of a code in an attribute, such as a unit."""
    term = term_of_attribute(it.number, name)
    for text in forms(Code(given), case.syntax):
        if text != given:
            edit = SetAttribute(case.xpath(it.value.node), name, text)
            yield Proposal((edit,), SAFE, (term,) if term else ())


def forms(value: Value, syntax: str) -> Iterator[str]:
    """Yield other forms of the text of a value with the same meaning.

    >>> list(forms(Date("31.12.2026"), "UBL")), list(forms(Amount("1.234,50"), "UBL")), list(forms(Code(" eur"), "UBL"))
    (['2026-12-31'], ['1234.50'], ['EUR', 'eur'])
    """
    text = value.raw.strip(BLANKS + "\u00a0")
    if isinstance(value, Date):
        for date in dates(value):
            yield date.strftime("%Y%m%d") if syntax == "CII" else date.isoformat()
    elif isinstance(value, Number):
        for number in readings(value) if value.number is absent else (value.number,):
            yield from _written(number, is_money=isinstance(value, Amount) and not isinstance(value, UnitPrice))
    elif isinstance(value, Code):
        yield from dict.fromkeys((text.upper(), text, text.lower()))
    else:
        yield text
        if len(compact := "".join(text.split())) > 14 and compact.isalnum():  # account numbers in groups of four
            yield compact


def _written(number: Decimal, *, is_money: bool) -> Iterator[str]:
    """Yield a number as it is read, an amount with two decimals if it has no more, and otherwise also rounded."""
    rounded = round2(number) if is_money else absent
    if rounded == number:
        text = f"{number:f}"
        yield text if len(text.partition(".")[2]) <= _DECIMALS else decimal_text(number, _DECIMALS)
        return
    yield f"{number:f}"
    if rounded is not absent:
        yield decimal_text(rounded, 2)
