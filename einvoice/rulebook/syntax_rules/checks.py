"""The kinds of syntax rules: what is asked of the elements that the path of a rule leads to.

A kind is a function that is given the rule, an element of its context and what was found below it, and answers whether
the rule is broken there. Its name is the word in the tables.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from einvoice.codelists import codes
from einvoice.rulebook.syntax_rules.rule import SyntaxRule
from einvoice.rulebook.syntax_rules.xpath import text
from einvoice.syntax.mapping.binding import collapse, qualified

Found: TypeAlias = list[Any]
Occurrences: TypeAlias = Mapping[Any, Found]
"""What was found, by the element of the context that it was found in."""
Judge: TypeAlias = Callable[[SyntaxRule, Any, Found], bool]
Select: TypeAlias = Callable[[SyntaxRule, Found], Found]
JudgeAll: TypeAlias = Callable[[SyntaxRule, Occurrences], Iterator[Any]]


@dataclass(frozen=True, slots=True)
class Kind:
    """How rules of one kind are judged.

    Attributes:
        broken: the elements of the context in which the rule is broken.
        always: judged even where nothing was found.
        select: judged by the element alone; only what breaks the rule counts as found.
        blank: asked of every element that has none inside and no text, wherever it stands; the reader finds them.
    """

    broken: JudgeAll
    always: bool = False
    select: Select | None = None
    blank: bool = False


KINDS: Final[dict[str, Kind]] = {}


def enough(rule: SyntaxRule) -> int:
    """With fewer elements found in the whole document the rule is broken nowhere."""
    if KINDS[rule.kind].always:
        return 0
    return int(rule.argument) + 1 if rule.kind in ("at_most", "distinct", "distinct_words") else 1


def kind(judge: Judge) -> Judge:
    """A kind that is judged where something was found."""
    KINDS[judge.__name__] = Kind(_each(judge))
    return judge


def always(judge: Judge) -> Judge:
    """A kind that is judged even where nothing was found."""
    KINDS[judge.__name__] = Kind(_each(judge), always=True)
    return judge


def at_once(select: Select) -> Select:
    """A kind that an element itself breaks or does not: the function selects those that do."""
    KINDS[select.__name__] = Kind(_each(absent), select=select)
    return select


def of_blank(select: Select) -> Select:
    """As ``at_once``, for all elements that are blank."""
    KINDS[select.__name__] = Kind(_each(absent), select=select, blank=True)
    return select


def together(always: bool = False) -> Callable[[JudgeAll], JudgeAll]:
    """A kind that must see all elements of its context at once, so that it works out only once what they share."""

    def declare(judge: JudgeAll) -> JudgeAll:
        KINDS[judge.__name__] = Kind(judge, always=always)
        return judge

    return declare


def _each(judge: Judge) -> JudgeAll:
    def judge_all(rule: SyntaxRule, occurrences: Occurrences) -> Iterator[Any]:
        return (context for context, found in occurrences.items() if judge(rule, context, found))

    return judge_all


@kind
def absent(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """It must not be there."""
    return bool(found)


@kind
def at_most(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """It is there no more than ``argument`` times."""
    return len(found) > int(rule.argument)


@always
def required(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """It must be there."""
    return not found


@always
def one(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """It must be there once."""
    return len(found) != 1


@always
def all_of(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """Each of several paths, which end in different names, must lead to something."""
    return len({node.tag for node in found}) < len(list(rule.paths()))


@kind
def either(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """Of several names only one is there."""
    return len({node.tag for node in found}) > 1


@kind
def equals(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """If it is there, one of its occurrences says ``argument``."""
    return all(text(node) != rule.argument for node in found)


@kind
def distinct(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """Its occurrences say no more than ``argument`` different things."""
    return len({text(node) for node in found}) > int(rule.argument)


@kind
def distinct_words(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """As ``distinct``, whatever the blanks around and between the words."""
    return len({collapse(text(node)) for node in found}) > int(rule.argument)


@kind
def only_if(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """It may be there only in an element for which the condition ``argument`` holds."""
    return not rule.condition(rule.argument)(context)


@kind
def only_in(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """It may be there only inside of an element named ``argument``."""
    return next(context.iterancestors(qualified(rule.argument)), None) is None


@at_once
def listed(rule: SyntaxRule, found: Found) -> Found:
    """It is one code of the list ``argument``, whatever the blanks around it."""
    known = _codes(rule)
    return [node for node in found if collapse(said(rule, node)) not in known]


@at_once
def listed_in_any_case(rule: SyntaxRule, found: Found) -> Found:
    """As ``listed``; small letters do too."""
    known = _codes(rule)
    return [node for node in found if collapse(said(rule, node).upper()) not in known]


@at_once
def listed_exactly(rule: SyntaxRule, found: Found) -> Found:
    """As ``listed``, to the last blank."""
    known = _codes(rule)
    return [node for node in found if said(rule, node) not in known]


@at_once
def one_of(rule: SyntaxRule, found: Found) -> Found:
    """It is empty or one code of the choice ``argument``, to the last blank.

    A choice names codes (``102``), whole lists (``<icd>``) and codes that are left out of these (``-0241``).
    """
    known = _choice(rule.argument, rule.syntax)
    return [node for node in found if (code := said(rule, node)) and code not in known]


@functools.cache
def _choice(argument: str, syntax: str) -> frozenset[str]:
    known: set[str] = set()
    for word in argument.split(" "):
        if word.startswith("<"):
            known |= codes(word.strip("<>"), syntax=syntax)
        elif word.startswith("-"):
            known.discard(word[1:])
        else:
            known.add(word)
    return frozenset(known)


@of_blank
def nothing_blank(rule: SyntaxRule, blank: Found) -> Found:
    """No element that has none inside is empty or blank; ``argument`` is a name that may, written with that prefix."""
    return [element for element in blank if not rule.argument or _written(element) != rule.argument]


def _written(element: Any) -> str:
    """The name as the document writes it, with the document's own prefix."""
    local = element.tag.rpartition("}")[2]
    return f"{element.prefix}:{local}" if element.prefix else local


def said(rule: SyntaxRule, node: Any) -> str:
    """What the rule reads of an element: the attribute that it is about, or else the text."""
    return text(node) if rule.attribute is None else node.get(rule.attribute, "")


def _codes(rule: SyntaxRule) -> frozenset[str]:
    return _list(rule.argument, rule.release, rule.syntax)


@functools.cache
def _list(argument: str, release: str | None, syntax: str) -> frozenset[str]:
    """The codes of a list in a release, without those that are left out of it (``countries -1A``)."""
    name, *left_out = argument.split(" -")
    return codes(name, release, syntax).difference(left_out)
