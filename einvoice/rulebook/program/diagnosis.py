"""What is wrong with the operands of a violated rule: a value that is missing, or that is no number or date.

No other explanation is true before these are mended: a text such as "100,00" takes no part in a sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from einvoice.model.group import Group
from einvoice.model.money import AllowanceCharge
from einvoice.model.values import absent
from einvoice.rulebook.functions.strings import plain_number
from einvoice.rulebook.rule import ACTUAL, EXPECTED, Operand, Rule

#: A value of an operand, its group, and the number of its line; None or `absent` for what it does not have.
Occurrence = tuple[Any, Any, Any]
_MALFORMED: Final = "malformed"
_MISSING: Final = "missing"
_EXAMPLES: Final = {"percentage": "19", "quantity": "10"}
"""Numbers that show how a value is written if its text states none."""


class Diagnosis(NamedTuple):
    """The operand at fault.

    Attributes:
        key: by which findings refer to its texts, such as "malformed.amount.operand.lines": what is wrong, the kind of
            value, whether it is not that of the leading term, and whether it is in lines.
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
    known = list(zip((Operand(*row) for row in rule.operands), occurrences, strict=True))
    others = [
        found
        for is_at_fault, kind in ((_is_malformed, _MALFORMED), (_is_missing, _MISSING))
        for operand, of_operand in known
        if not operand.leads and (found := _at_fault(rule, operand, of_operand, is_at_fault, kind))
    ]
    leading = [(operand, of_operand) for operand, of_operand in known if operand.leads]
    if any(not any(_is_filled(value) for value, _, _ in of_operand) for _, of_operand in leading):
        return _without_leading(rule, others)
    if others:
        return others[0]
    malformed = (_at_fault(rule, *it, _is_malformed, _MALFORMED) for it in leading)
    return next(filter(None, malformed), None)


def _without_leading(rule: Rule, others: Sequence[Diagnosis]) -> Diagnosis:
    """Return the diagnosis of a rule whose leading value is missing, and has to be calculated from faulty ones."""
    values = {"term": rule.terms[0]}
    if EXPECTED not in rule.names:
        return Diagnosis(f"{_MISSING}.leading", rule.terms[:1], absent, values, False)
    if not others:
        return Diagnosis(f"{_MISSING}.leading.calculated", rule.terms[:1], absent, values, False)
    values["others"] = _joined(it.terms[0] for it in others)
    return Diagnosis(f"{_MISSING}.leading.incalculable", rule.terms[:1], absent, values, True)


def _is_filled(value: Any) -> bool:
    return value is not absent and bool(value.filled)


def _is_malformed(_: Operand, value: Any) -> bool:
    return _is_filled(value) and value.value is absent


def _is_missing(operand: Operand, value: Any) -> bool:
    return operand.required and not _is_filled(value)


def _at_fault(
    rule: Rule,
    operand: Operand,
    occurrences: Sequence[Occurrence],
    is_at_fault: Callable[[Operand, Any], bool],
    kind: str,
) -> Diagnosis | None:
    found = [it for it in occurrences if is_at_fault(operand, it[0])]
    if not found:
        return None
    place, group, _ = found[0]
    if kind == _MISSING:
        place = group if isinstance(group, Group) else absent
    texts = [value.raw for value, _, _ in found if value is not absent]
    lines = [number.raw for _, _, number in found if number is not None and number is not absent]
    parts = [kind, operand.kind, *(() if operand.leads else ("operand",)), *(("lines",) if lines else ())]
    values = {"term": operand.terms[0], "leading": rule.terms[0], "text": _joined(texts), "lines": _joined(lines)}
    if kind == _MALFORMED:
        values[ACTUAL] = place.raw
        values["example"] = plain_number(place.raw) or _EXAMPLES.get(operand.kind, "1234.50")
    terms = _terms(operand, group)
    return Diagnosis(".".join(parts), terms, place, values, not operand.leads, operand.leads)


def _joined(texts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(texts))


def _terms(operand: Operand, group: Any) -> tuple[str, ...]:
    """Return the terms that a value can have; those of charges follow those of allowances."""
    if isinstance(group, AllowanceCharge) and len(operand.terms) % 2 == 0:
        return operand.terms[1::2] if group.is_charge else operand.terms[::2]
    return operand.terms
