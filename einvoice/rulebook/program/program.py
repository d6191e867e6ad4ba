"""The compiled rules of one syntax, and the violations that they report."""

from __future__ import annotations

import datetime
import functools
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, localcontext
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from einvoice.model.descendants import GroupsByClass, descendants_of
from einvoice.model.money import VatIndex
from einvoice.model.values import Date, Number, Value, absent
from einvoice.rulebook.functions import EXACT, GLOBALS
from einvoice.rulebook.program.diagnosis import Diagnosis, diagnose
from einvoice.rulebook.rule import ACTUAL, EXPECTED, Rule, Situation

if TYPE_CHECKING:
    from einvoice.model.invoice import Invoice

MAX_EXPLAINED: Final = 100  # as many are reported
"""Maximum number of violations of a rule that are explained: the explanation of one may read the whole invoice."""
_CENT: Final = Decimal("0.01")

#: Index of the rule, contents of its names, which of its notes apply, and what selects its situation.
_Reported: TypeAlias = tuple[int, tuple[Any, ...], tuple[bool, ...], Callable[..., tuple[Any, ...]] | None]


class Layer(NamedTuple):
    """The rules of one layer in a program.

    Attributes:
        name: of the rule set.
        kind: of the rule set, such as "cius".
        label: short name of the rule set, such as "XRechnung".
        version: release of the rule set, as numbered in the syntax.
        specification: version of the specification that the release validates, if it has its own number.
        date: of the release.
        sha256: of the rule data, in hexadecimal digits.
        rules: number of rules.
    """

    name: str
    kind: str
    label: str
    version: str
    specification: str
    date: str
    sha256: str
    rules: int


class Program:
    """The compiled rules of one syntax, in certain layers and releases; `build` makes the arguments.

    Functions are given as source or, as `with_code` has them, compiled.
    """

    def __init__(
        self,
        layers: Sequence[Layer],
        rules: Sequence[tuple[Any, ...]],
        code: tuple[Mapping[str, str | CodeType], Sequence[str], Mapping[str, int], Sequence[str]],
        numbers: Mapping[str, str],
        lists: Mapping[str, Any],
    ) -> None:
        self.layers = tuple(layers)
        self.rules = tuple(Rule(*row) for row in rules)
        functions, contexts, indices, operands = code  # trusted code, generated from checked expressions
        module = {**GLOBALS, **lists, **{name: Decimal(number) for name, number in numbers.items()}, **indices}
        module.update((name, _deferred(name, function, module)) for name, function in functions.items())
        self._functions = tuple(_function(functions[name], module) for name in contexts)
        self._module = module
        self._operands = list[str | Callable[..., Any]](operands)  # compiled on the first violation of a rule

    @property
    def count(self) -> int:
        """Number of rules."""
        return len(self.rules)

    def run(self, invoice: Invoice, groups: GroupsByClass | None = None) -> list[Violation]:
        """Return all rule violations. The invoice is not changed.

        Those of contexts with the same first loop are ordered by what it runs over, such as lines, then by context.

        `groups` are all groups of the invoice, if the reader has just collected them.
        """
        violations: list[_Reported] = []
        report, descendants, with_vat = violations.append, descendants_of(invoice, groups), VatIndex()
        with localcontext(EXACT):
            for function in self._functions:
                function(invoice, report, descendants, with_vat)
            counts: defaultdict[int, int] = defaultdict(int)
            return [self._violation(reported, counts, descendants, with_vat) for reported in violations]

    def _violation(self, reported: _Reported, counts: defaultdict[int, int], *lookups: Any) -> Violation:
        """Return a violation; the fault of an operand explains it unless a situation of the rule does."""
        number, contents, notes, select = reported
        rule = self.rules[number]
        counts[number] += 1
        if counts[number] > MAX_EXPLAINED:
            return Violation(rule, contents, notes)
        situation = select(*contents, *lookups) if select else ()
        diagnosis = None
        if rule.operands and not (situation and Situation(*rule.situations[situation[0]]).before_operands):
            collect = self._operands[number]
            if isinstance(collect, str):
                collect = self._operands[number] = eval(collect, self._module)  # trusted code, as above
            diagnosis = diagnose(rule, collect(*contents, *lookups))
            situation = () if diagnosis else situation
        return Violation(rule, contents, notes, situation, diagnosis)


def with_code(parts: Sequence[Any]) -> tuple[Any, ...]:
    """Return the parts of a program with the functions to run compiled; others are compiled when they are called."""
    layers, rules, (functions, contexts, *code), *others = parts
    return (
        layers,
        rules,
        ({**functions, **{name: _compiled(functions[name]) for name in contexts}}, contexts, *code),
        *others,
    )


@functools.lru_cache(maxsize=4096)
def _compiled(source: str) -> CodeType:
    """Return the code of a function. The programs of other releases and stacks have most of them, too."""
    constants = compile(source, "<rules>", "exec").co_consts
    return next(it for it in constants if isinstance(it, CodeType))


def _function(function: str | CodeType, module: dict[str, Any]) -> FunctionType:
    return FunctionType(_compiled(function) if isinstance(function, str) else function, module)


def _deferred(name: str, function: str | CodeType, module: dict[str, Any]) -> Callable[..., Any]:
    """Return a function that is compiled, and replaces this one in its module, when it is called: most never are."""

    def call(*arguments: Any) -> Any:
        module[name] = _function(function, module)
        return module[name](*arguments)

    return call


class Violation:
    """A rule that an invoice violates, at one place.

    `contents` holds the content of each name of the rule, `notes` says which of its notes apply. `situation` is
    the one that applies: its position among those of the rule, and the contents of its names; empty if none applies.
    """

    __slots__ = ("_named", "_notes", "_place", "_situation", "contents", "diagnosis", "rule")

    def __init__(
        self,
        rule: Rule,
        contents: tuple[Any, ...],
        notes: tuple[bool, ...] = (),
        situation: tuple[Any, ...] = (),
        diagnosis: Diagnosis | None = None,
    ) -> None:
        self.rule = rule
        self.contents = contents
        self._notes = notes
        self.diagnosis = diagnosis
        self._situation: Situation | None = None
        self._place: Any = None
        self._named = dict(zip(rule.names, contents, strict=True))
        if situation:
            position, own = situation
            self._situation = Situation(*rule.situations[position])
            self._named |= zip(self._situation.names, own, strict=True)

    @property
    def note_indices(self) -> tuple[int, ...]:
        """The notes that apply, by their index in the catalog entry."""
        return tuple([index for index, applies in zip(self.rule.notes, self._notes, strict=True) if applies])

    @property
    def situation(self) -> str:
        """The key of the situation that applies; "" if none does."""
        if self.diagnosis:
            return self.diagnosis.key
        return self._situation.key if self._situation else ""

    @property
    def terms(self) -> tuple[str, ...]:
        """The business terms, those at fault first."""
        own = self._own_terms
        return tuple(dict.fromkeys((*own, *self.rule.terms))) if own else self.rule.terms

    @property
    def alternatives(self) -> tuple[str, ...]:
        """The business terms that the value at fault can have: those of the situation, or else those of the rule."""
        return self._own_terms or self.rule.terms

    @property
    def _own_terms(self) -> tuple[str, ...]:
        """The terms of the operand at fault, or those of the situation."""
        if self.diagnosis:
            return self.diagnosis.terms
        return self._situation.terms if self._situation else ()

    @property
    def leads_with_its_place(self) -> bool:
        """Whether the first term is that of the value that the finding points at."""
        if self.diagnosis:
            return isinstance(self.diagnosis.place, Value)
        return self._situation is None or not self._situation.terms or bool(self._situation.path)

    @property
    def _path(self) -> str:
        """The path to the value of the first term."""
        return (self._situation.path if self._situation else "") or self.rule.path

    @property
    def item(self) -> Any:
        """The group or value that the rule checks, or the invoice."""
        return self.contents[self.rule.item]

    @property
    def place(self) -> Any:
        """The group or value that the finding points at.

        This is the value of the first term, or the last group on its path that exists. In a document, it must have an
        element (which a view does not) inside that of the item; otherwise the finding points at the item, as the
        official one does.
        """
        if self._place is None:
            self._place = self._found_place()
        return self._place

    def _found_place(self) -> Any:
        item = self.item
        along = [] if self.rule.location else self._along(self._path)
        for candidate in (*(() if self.diagnosis is None else (self.diagnosis.place,)), *reversed(along)):
            if candidate is not absent and (item.node is None or _is_inside(candidate.node, item.node)):
                return candidate
        return item

    @property
    def node(self) -> Any:
        """The element that the finding points at; None for a value without one."""
        node = self.place.node
        parent = node.getparent() if node is not None and self.rule.location == "parent" else None
        return node if parent is None else parent

    @property
    def values(self) -> dict[str, Any]:
        """The values that texts may quote; absent ones are left out.

        These are the `let` names, the paths that the texts quote, `actual`, and `difference` (actual minus
        expected) if both are numbers.
        """
        if self.diagnosis and not self.diagnosis.leads:
            return {**self._plain_quotes(), **self.diagnosis.values}
        quotes = self._situation.quotes if self._situation else self.rule.quotes
        contents = {**self._named, **{path: self._along(path)[-1] for path in quotes}}
        if self._path:
            contents[ACTUAL] = self._along(self._path)[-1]
        for name in self._situation.hidden if self._situation else ():
            contents.pop(name, None)
        if self.diagnosis:
            contents |= self.diagnosis.values
            if self.diagnosis.incalculable:
                contents.pop(EXPECTED, None)
        values = {name: plain for name, content in contents.items() if (plain := _plain(content)) is not absent}
        expected, actual = values.get(EXPECTED), values.get(ACTUAL)
        if isinstance(expected, Decimal) and isinstance(actual, Decimal):
            values["difference"] = actual - expected
        return values

    def _plain_quotes(self) -> dict[str, Any]:
        """Return what the texts of the rule quote by path, without malformed numbers; nothing calculated is of use."""
        contents = {path: self._along(path)[-1] for path in self.rule.quotes if "." in path}
        return {path: it.text for path, it in contents.items() if isinstance(it, Value) and it.value is not absent}

    def _along(self, path: str) -> list[Any]:
        """Return everything that `path` leads through, from its first name to its end."""
        if not path:
            return []
        first, *steps = path.split(".")
        passed = [self._named[first]]
        for step in steps:
            passed.append(getattr(passed[-1], step))
        return passed

    def __repr__(self) -> str:
        return f"Violation({self.rule.code}, {self.place!r})"


def _plain(content: Any) -> Any:
    """Return the number, text, boolean or date for `content`; `absent` for a group, a sequence or no value."""
    if isinstance(content, Number | Date):
        return content.raw if content.value is absent else content.value
    if isinstance(content, Value):
        return content.text
    if isinstance(content, Decimal | str | bool | datetime.date):
        return content
    if isinstance(content, float):
        return _decimal(content)
    if isinstance(content, int):
        return Decimal(content)
    return absent


def _decimal(double: float) -> Decimal:
    """Return the number of a double, with two decimals if it needs fewer: a double does not keep those of an amount."""
    number = Decimal(repr(double))
    return number.quantize(_CENT) if number.as_tuple().exponent in (0, -1) else number


def _is_inside(node: Any, ancestor: Any) -> bool:
    """Return whether an element is `ancestor` or one of its descendants."""
    return node is not None and (node is ancestor or ancestor in node.iterancestors())
