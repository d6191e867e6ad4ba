"""The checks of syntax rules: functions that the column `check` of the tables names.

A check receives the rule, an element of its context and the elements that its path leads to, and returns whether the
rule is violated. A check of single elements receives the elements and returns those that violate the rule.
"""

from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from einvoice import codelists
from einvoice.model.values import BLANKS, normalize_space
from einvoice.rulebook.functions import patterns
from einvoice.rulebook.syntax_rules.rule import SyntaxRule
from einvoice.rulebook.syntax_rules.xpath import text
from einvoice.syntax.mapping.binding import qualified

Found: TypeAlias = list[Any]
Occurrences: TypeAlias = Mapping[Any, Found]
"""The elements found for each element of the context."""
IsViolated: TypeAlias = Callable[[SyntaxRule, Any, Found], bool]
Select: TypeAlias = Callable[[SyntaxRule, Found], Found]
Violated: TypeAlias = Callable[[SyntaxRule, Occurrences], list[Any]]


class Check(NamedTuple):
    """A check.

    Attributes:
        violated: returns the elements of the context in which the rule is violated.
        always: runs even if the path selects no element.
        select: returns the elements that violate a rule about single elements.
        needed: returns elements without which no context violates the rule; a quick test.
        blank: runs on all elements of the document without children and text, which the reader collects.
    """

    violated: Violated
    always: bool = False
    select: Select | None = None
    needed: Select | None = None
    blank: bool = False


CHECKS: Final[dict[str, Check]] = {}
_NUMBER_FORM: Final = r"{sign}\d+([.]\d{{1,{decimals}}})?"
_MAX_DIGITS: Final = 4
"""Of a code that is a number, such as 0088."""
_CODE_CHECKS: Final = ("in_code_list", "in_code_list_any_case", "in_code_list_exactly", "in_code_list_or_creditor")
#: Checks whose argument is a choice; see `one_of`.
_CHOICE_CHECKS: Final = ("one_of", "in_currency_exactly")
CURRENCY_CHECKS: Final = ("in_currency", "in_currency_exactly", "in_invoice_currency")


def minimum(rule: SyntaxRule) -> int:
    """Return the number of elements in a document below which the rule is not violated."""
    if CHECKS[rule.check].always:
        return 0
    if rule.check in ("single", "single_text", "distinct"):
        return 2
    return int(rule.argument) + 1 if rule.check in ("at_most", "at_most_distinct", "at_most_distinct_words") else 1


def per_context(*, always: bool = False, needed: Select | None = None) -> Callable[[IsViolated], IsViolated]:
    """Register a check of the elements found in one context; `Check` describes the arguments."""

    def register(check: IsViolated) -> IsViolated:
        CHECKS[check.__name__] = Check(_each(check), always=always, needed=needed)
        return check

    return register


def per_element(*, blank: bool = False) -> Callable[[Select], Select]:
    """Register a check of single elements, or of all blank elements."""

    def register(select: Select) -> Select:
        CHECKS[select.__name__] = Check(_each(forbidden), select=select, blank=blank)
        return select

    return register


def per_document(always: bool = False) -> Callable[[Violated], Violated]:
    """Register a check that compares the contexts of a document."""

    def register(check: Violated) -> Violated:
        CHECKS[check.__name__] = Check(check, always=always)
        return check

    return register


def _each(check: IsViolated) -> Violated:
    def violated(rule: SyntaxRule, occurrences: Occurrences) -> list[Any]:
        return [context for context, found in occurrences.items() if check(rule, context, found)]

    return violated


@per_context()
def forbidden(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """The element must not occur."""
    return bool(found)


@per_context()
def at_most(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """The element must occur at most `argument` times."""
    return len(found) > int(rule.argument)


@per_context(always=True)
def required(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """The element must occur."""
    return not found


@per_context(always=True)
def exactly_one(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """The element must occur exactly once."""
    return len(found) != 1


@per_context(always=True)
def all_of(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """Each of several paths, which end in different names, must lead to an element."""
    return len({node.tag for node in found}) < rule.path_count


@per_context()
def one_name_of(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """All elements must have the same name, one of several."""
    return len({node.tag for node in found}) > 1


def _different(rule: SyntaxRule, found: Found) -> Found:
    return [node for node in found if text(node) != rule.argument]


@per_context(needed=_different)
def equals(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """If the element occurs, one of its occurrences must have the text `argument`."""
    return len(_different(rule, found)) == len(found)


@per_context()
def at_most_distinct(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """The occurrences must have at most `argument` different texts."""
    return len({text(node) for node in found}) > int(rule.argument)


@per_context()
def at_most_distinct_words(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """Same as `at_most_distinct`, with normalized white space."""
    return len({normalize_space(text(node)) for node in found}) > int(rule.argument)


@per_context()
def only_if(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """The element may occur only if the condition `argument` holds for the context."""
    return not rule.condition(rule.argument)(context)


@per_element()
def meets(rule: SyntaxRule, found: Found) -> Found:
    """The element must meet the condition `argument`."""
    is_met = rule.condition(rule.argument)
    return [element for element in found if not is_met(element)]


@per_context()
def only_in(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """The element may occur only inside an element named `argument`."""
    return next(context.iterancestors(qualified(rule.argument)), None) is None


@per_element()
def in_code_list(rule: SyntaxRule, found: Found) -> Found:
    """After white space is normalized, the text must be a code in the list `argument`."""
    allowed, attribute = _code_list(rule), rule.attribute
    violating = []
    for node in found:
        code = node.get(attribute, "") if attribute else node.text or ""
        if code in allowed and (attribute or not len(node)):
            continue  # as in most documents
        if normalize_space(content(rule, node)) not in allowed:
            violating.append(node)
    return violating


@per_element()
def in_code_list_any_case(rule: SyntaxRule, found: Found) -> Found:
    """Same as `in_code_list`, in upper or lower case."""
    allowed = _code_list(rule)
    return [node for node in found if normalize_space(content(rule, node).upper()) not in allowed]


@per_element()
def in_code_list_exactly(rule: SyntaxRule, found: Found) -> Found:
    """Same as `in_code_list`, without normalizing white space."""
    allowed = _code_list(rule)
    return [node for node in found if content(rule, node) not in allowed]


@per_element()
def one_of(rule: SyntaxRule, found: Found) -> Found:
    """The text must be empty or a code of the choice `argument`, without normalizing white space.

    A choice names codes (`102`), code lists (`<icd>`) and codes excluded from these lists (`-0241`).
    """
    allowed = choice(rule)
    return [node for node in found if (code := content(rule, node)) and code not in allowed]


@functools.cache
def choice(rule: SyntaxRule) -> frozenset[str]:
    """Return the codes of the choice in the argument of a rule; `one_of` describes its notation."""
    allowed: set[str] = set()
    for word in rule.argument.split(" "):
        if word.startswith("<"):
            allowed |= rule.codes(word.strip("<>"), rule.syntax)
        elif word.startswith("-"):
            allowed.discard(word[1:])
        else:
            allowed.add(word)
    return frozenset(allowed)


@per_element()
def matches(rule: SyntaxRule, found: Found) -> Found:
    """The pattern `argument`, in the notation of XPath, must occur in the text."""
    form = patterns.compile(rule.argument)
    return [node for node in found if not form.search(content(rule, node))]


@per_element()
def max_length(rule: SyntaxRule, found: Found) -> Found:
    """The text must have at most `argument` characters."""
    return [node for node in found if len(content(rule, node)) > int(rule.argument)]


@per_element()
def non_blank(rule: SyntaxRule, found: Found) -> Found:
    """The text must have other characters than white space."""
    return [node for node in found if not content(rule, node).strip(BLANKS)]


@per_element()
def is_date(rule: SyntaxRule, found: Found) -> Found:
    """The text must be a date of the years `argument` (2000-2099): in UBL 2026-12-31, in CII it begins 20261231."""
    first, last = rule.argument.split("-")
    return [node for node in found if not first <= _date(content(rule, node), rule.syntax)[:4] <= last]


def _date(written: str, syntax: str) -> str:
    """Return a date of the calendar in ISO 8601; "" for any other text."""
    day = written if syntax == "UBL" else f"{written[:4]}-{written[4:6]}-{written[6:8]}"
    try:
        return day if datetime.date.fromisoformat(day).isoformat() == day else ""
    except ValueError:
        return ""


@per_element()
def number_form(rule: SyntaxRule, found: Found) -> Found:
    """The text must be a number in the form `argument`, without regard to white space around it.

    `19.2` is a number with at most 2 decimals, and at most 19 characters other than the point; `-19.2` may have a
    minus sign, which counts.
    """
    size, _, decimals = rule.argument.lstrip("-").partition(".")
    form = re.compile(_NUMBER_FORM.format(sign="-?" if rule.argument.startswith("-") else "", decimals=decimals))
    numbers = {node: normalize_space(content(rule, node)) for node in found}
    return [node for node, it in numbers.items() if not form.fullmatch(it) or len(it.replace(".", "")) > int(size)]


@per_element()
def with_attribute(rule: SyntaxRule, found: Found) -> Found:
    """The element must have the attribute `argument`."""
    return [node for node in found if rule.argument not in node.attrib]


@per_context()
def distinct(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """No two elements may have the same content."""
    return len({content(rule, node) for node in found}) < len(found)


@per_element(blank=True)
def not_blank(rule: SyntaxRule, blank: Found) -> Found:
    """An element without children must not be blank, unless the document names it `argument`, with that prefix."""
    return [element for element in blank if not rule.argument or _written(element) != rule.argument]


def _written(element: Any) -> str:
    """Return the name with the prefix that the document uses."""
    local = element.tag.rpartition("}")[2]
    return f"{element.prefix}:{local}" if element.prefix else local


def content(rule: SyntaxRule, node: Any) -> str:
    """Return what the rule reads from an element: its attribute, or else the text."""
    return text(node) if rule.attribute is None else node.get(rule.attribute, "")


def code(rule: SyntaxRule, node: Any) -> str:
    """Return the code that a check of a code list or of a currency reads from an element; "" for other checks."""
    if rule.check in _CODE_CHECKS or rule.check == one_of.__name__:
        return content(rule, node)
    return str(node.get("currencyID", "")) if rule.check in CURRENCY_CHECKS else ""


def intended(rule: SyntaxRule, node: Any) -> str:
    """Return the code of the list that a wrong code probably means, by its spelling or name; "" if there is none.

    A number is also written with a sign, zeros and decimals: "+384", "380.00".
    """
    text = code(rule, node)
    lists, allowed = _lists(rule) if text else ((), frozenset())
    spellings = [codelists.folded(text)]
    if number := re.fullmatch(r"\+?0*([1-9]\d*)(?:[.,]0*)?", spellings[0]):
        spellings += [number[1].zfill(digits) for digits in range(len(number[1]), _MAX_DIGITS + 1)]
    meant = (rule.codes_by_name(name).get(spelling, "") for spelling in spellings for name in lists)
    return next((it for it in meant if it in allowed and it != text), "")


def _lists(rule: SyntaxRule) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the names of the code lists in the argument of a rule, and the codes that it allows."""
    if rule.check in _CHOICE_CHECKS:
        return tuple(word[1:-1] for word in rule.argument.split(" ") if word.startswith("<")), choice(rule)
    return ((rule.argument.partition(" -")[0],), _code_list(rule)) if rule.argument else ((), frozenset())


@functools.cache
def _code_list(rule: SyntaxRule) -> frozenset[str]:
    """Return the codes of the rule's list, without the excluded ones (`countries -1A`)."""
    name, *excluded = rule.argument.split(" -")
    return rule.codes(name, rule.syntax).difference(excluded)
