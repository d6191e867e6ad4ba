"""What is wrong with the operands of a violated rule: a value that is missing, or that is no number or date.

No other explanation is true before these are mended: a text such as "100,00" takes no part in a sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from einvoice.model.calculation import EQUATIONS, RATED
from einvoice.model.group import Group
from einvoice.model.lines import Line
from einvoice.model.money import AllowanceCharge, TaxCategory
from einvoice.model.values import Number, absent
from einvoice.rulebook.functions.strings import plain_number
from einvoice.rulebook.rule import ACTUAL, EXPECTED, Operand, Rule

#: A value of an operand and its group; None or `absent` for what it does not have.
Occurrence = tuple[Any, Any]
_MALFORMED: Final = "malformed"
_MISSING: Final = "missing"
_MAX_DECIMALS: Final = {"amount": 2}
"""Decimals that a kind of value may have."""


class Diagnosis(NamedTuple):
    """The operand at fault.

    Attributes:
        key: by which findings refer to its texts, such as "malformed.amount.operand": what is wrong, the kind of value,
            and whether it is not that of the leading term.
        terms: the business terms of the value.
        place: the first malformed value, or the group in which one is missing; `absent` if there is none.
        values: what the texts quote.
        incalculable: whether the expected value cannot be calculated.
        leads: whether the value is that of the leading term.
    """

    key: str
    terms: tuple[str, ...]
    place: Any
    values: Mapping[str, Any]
    incalculable: bool
    leads: bool = True


def diagnose(rule: Rule, occurrences: Sequence[Sequence[Occurrence]]) -> Diagnosis | None:
    """Return what is wrong with the operands of a rule; None if all are well-formed.

    `occurrences` are those of each operand. A missing value of the leading term comes first, since the others are of
    use only to calculate it, then malformed and missing ones of the others.
    """
    reads = [_read(Operand(*row), found) for row, found in zip(rule.operands, occurrences, strict=True)]
    others = [
        _at_fault(rule, it.operand, found, kind)
        for kind in (_MALFORMED, _MISSING)
        for it in reads
        if not it.operand.leads and (found := it.malformed if kind == _MALFORMED else it.missing)
    ]
    leading = [it for it in reads if it.operand.leads]
    for it in leading:
        if not it.is_any_filled:
            return _without_leading(rule, it.operand.kind, it.group, others)
    if others:
        return others[0]
    return next((_at_fault(rule, it.operand, it.malformed, _MALFORMED) for it in leading if it.malformed), None)


class _Read(NamedTuple):
    """What was read of an operand: its malformed values, and the missing ones without which a rule cannot be checked.

    Attributes:
        group: the group of the first occurrence.
    """

    operand: Operand
    malformed: list[Occurrence]
    missing: list[Occurrence]
    is_any_filled: bool
    group: Any


def _read(operand: Operand, occurrences: Sequence[Occurrence]) -> _Read:
    malformed, missing = [], []
    for it in occurrences:
        value = it[0]
        if value is absent or not value.filled:
            missing.append(it)
        elif value.value is absent:
            malformed.append(it)
    group = occurrences[0][1] if occurrences else None
    return _Read(operand, malformed, missing if operand.required else [], len(missing) < len(occurrences), group)


def _without_leading(rule: Rule, kind: str, group: Any, others: Sequence[Diagnosis]) -> Diagnosis:
    """Return the diagnosis of a rule whose leading value is missing, and has to be calculated from faulty ones."""
    values = {"term": rule.terms[0], "leading": rule.terms[0], **_circumstances(group)}
    if EXPECTED in rule.names and others:
        kind, values["others"] = "incalculable", _joined(it.terms[0] for it in others)
        if len(others) == 1 and "line" in others[0].values:
            values["other_lines"] = _joined(
                others[0].values[it] for it in ("line", "other_lines") if it in others[0].values
            )
    elif EXPECTED in rule.names:
        kind = "calculated"
    elif kind == "date":
        values["example"] = _example(kind, "", group)
    return Diagnosis(f"{_MISSING}.leading.{kind}", rule.terms[:1], absent, values, kind == "incalculable")


def _is_filled(value: Any) -> bool:
    return value is not absent and bool(value.filled)


def _at_fault(rule: Rule, operand: Operand, found: Sequence[Occurrence], kind: str) -> Diagnosis:
    value, group = found[0]
    terms = _terms(operand, group)
    leads = operand.leads or terms[0] == rule.terms[0]
    values = {"term": terms[0], "leading": rule.terms[0], **_circumstances(group, value)}
    lines = dict.fromkeys(line for _, group in found if (line := _circumstances(group).get("line")))
    values["other_lines"] = _joined(line for line in lines if line != values.get("line"))
    if kind == _MALFORMED:
        place = value
        values |= {ACTUAL: value.raw, "example": _example(operand.kind, value.raw, group)}
    else:
        place = group if isinstance(group, Group) else absent
        values["formula"] = _formula(terms[0])
    key = ".".join((kind, operand.kind, *(() if leads else ("operand",))))
    return Diagnosis(
        key, terms, place, {name: it for name, it in values.items() if it}, not operand.leads, operand.leads
    )


def _formula(term: str) -> str:
    """Return the sum of other terms that a missing total is; "" for any other value."""
    equation = EQUATIONS.get(term)
    return equation.formula if equation and not equation.at and len(equation.operands) > 1 else ""


def _joined(texts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(texts))


def _terms(operand: Operand, group: Any) -> tuple[str, ...]:
    """Return the terms that a value can have; those of charges follow those of allowances."""
    owner = next((it for it in _with_parents(group) if isinstance(it, AllowanceCharge)), None)
    if owner is None or len(operand.terms) % 2:
        return operand.terms
    return operand.terms[1::2] if owner.is_charge else operand.terms[::2]


def _with_parents(group: Any) -> Iterator[Group]:
    while isinstance(group, Group):
        yield group
        group = group.parent


def _circumstances(group: Any, value: Any = None) -> dict[str, Any]:
    """Return by what a reader finds a value: its line, its allowance or charge, its VAT category and rate.

    Only well-formed content is of use for that, and not the value itself.
    """
    known: dict[str, Any] = {}
    for owner in _with_parents(group):
        if isinstance(owner, TaxCategory):
            known |= {"category": owner.category, "rate": owner.rate}
        elif isinstance(owner, AllowanceCharge) and not owner.is_of_price:
            kind = "charge" if owner.is_charge else "allowance"
            is_known = value is not owner.amount and _is_filled(owner.amount)
            known[f"{kind}_amount" if is_known else f"{kind}_reason"] = owner.amount if is_known else owner.reason
        elif isinstance(owner, Line):
            known["line"] = owner.identifier
    return {
        name: it.value if isinstance(it, Number) else it.text
        for name, it in known.items()
        if it is not value and _is_filled(it) and it.value is not absent
    }


def _example(kind: str, text: str, group: Any) -> str:
    """Return how a malformed value is written; "" if it states no number, or one that no rule accepts."""
    if kind == "date":
        is_cii = isinstance(group, Group) and group.find_invoice().syntax == "CII"
        return "20261231" if is_cii else "2026-12-31"
    number = plain_number(text)
    if kind == "percentage" and isinstance(group, TaxCategory) and _is_filled(group.category):
        return number if group.category.text in RATED else "0"
    return number if len(number.partition(".")[2]) <= _MAX_DECIMALS.get(kind, len(number)) else ""
