"""Generate Python from checked rules: one function for each context, with a single loop for all its rules.

Contexts with the same first loop, such as over all lines, have one function: the lines of a large invoice do not fit
into the caches of the processor, and each loop reads them from memory again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Final, NamedTuple, TypeAlias

from einvoice.rulebook.files.contexts import INVOICE, Scope
from einvoice.rulebook.language import Expression
from einvoice.rulebook.language.nodes import Field, Name
from einvoice.rulebook.language.python import Writer
from einvoice.rulebook.program.optimize import Path, QuickWriter, local_name
from einvoice.rulebook.program.typecheck import CheckedRule

#: Arguments of the function of a context: the invoice, the function that reports a violation, and the functions
#: `descendants` and `with_vat` for this invoice.
_PARAMETERS: Final = "invoice, _report, descendants, with_vat"
_SHARED: Final = "descendants, with_vat"
_INDENT: Final = "    "

#: Rules of a context, each with the name of the global that holds its index.
_Rules: TypeAlias = Sequence[tuple[str, CheckedRule]]


class Source(NamedTuple):
    """Source of a program. The same rules of a context have the same source in every program.

    Attributes:
        functions: the source of each function, by name.
        contexts: names of the functions to run, in their order. The other functions select the situations of
            violations.
        rules: for each rule, the name of the global that holds its index.
        numbers: exact numbers that the functions use as globals, by name.
        lists: names of the code lists that they use as globals.
        operands: for each rule, a lambda expression that returns the occurrences of its operands; "" without operands.
    """

    functions: Mapping[str, str]
    contexts: Sequence[str]
    rules: tuple[str, ...]
    numbers: Mapping[str, str]
    lists: set[str]
    operands: tuple[str, ...]


def generate(rules: Sequence[CheckedRule]) -> Source:
    """Return the source of functions that run all rules.

    A violation is reported with the index of the rule, the values of its names, whether each note applies, and the
    function that returns the situation that applies, if any: its position among those of the rule, and the values of
    its names.
    """
    by_scope: dict[str, list[tuple[str, CheckedRule]]] = {}
    named = list(zip(_names(rules), rules, strict=True))
    for name, rule in named:
        by_scope.setdefault(rule.scope.name, []).append((name, rule))
    by_loop: dict[tuple[str, ...], list[_Rules]] = {}
    for name, of_scope in by_scope.items():
        loops = of_scope[0][1].scope.loops
        loop = (loops[0].name, loops[0].source.source) if loops else (name,)
        by_loop.setdefault(loop, []).append(of_scope)
    program = _Program()
    contexts = [program.function(of_loop) for of_loop in by_loop.values()]
    for name, rule in named:
        if rule.situations:
            program.situations(name, rule)
    operands = tuple(program.operands(rule) for rule in rules)
    numbers = {name: str(number) for name, number in program.numbers.items()}
    return Source(program.functions, contexts, tuple(name for name, _ in named), numbers, program.lists, operands)


def _names(rules: Sequence[CheckedRule]) -> list[str]:
    """Return an identifier for each rule, which is its code unless another rule has the same identifier.

    The names of variables are in lower case, so that none of them is the same.
    """
    names: dict[str, None] = {}
    for rule in rules:
        name = "_RULE_" + re.sub(r"\W", "_", rule.rule.code)
        while name in names:
            name += "_"
        names[name] = None
    return list(names)


class _Context(NamedTuple):
    """The written rules of a context: local variables for the whole invoice, and the lines inside the first loop."""

    local: Mapping[str, str]
    lines: list[str]


class _Program:
    """The functions of a program, as far as they are written."""

    def __init__(self) -> None:
        self.functions: dict[str, str] = {}
        self.numbers: dict[str, Decimal] = {}
        self.lists: set[str] = set()

    def function(self, contexts: Sequence[_Rules]) -> str:
        """Write the function of the contexts with the same first loop, and return its name."""
        scopes = [rules[0][1].scope for rules in contexts]
        conditions = _conditions(scopes) if len(scopes) > 1 else {}
        written = [self._context(scope, rules, conditions) for scope, rules in zip(scopes, contexts, strict=True)]
        lines = [*(f"{name} = {''.join(path)}" for path, name in conditions.items())]
        lines += [line for context in written for line in context.lines]
        if scopes[0].loops:
            loop = scopes[0].loops[0]
            lines = [f"for {loop.name} in {self._used(QuickWriter()).source(loop.source.node)}:", *_indented(lines)]
        local = {name: code for context in written for name, code in context.local.items()}
        return self._add(f"_{scopes[0].name}", _PARAMETERS, [*(f"{it} = {code}" for it, code in local.items()), *lines])

    def _context(self, scope: Scope, rules: _Rules, conditions: Mapping[Path | str, str]) -> _Context:
        """Write the rules of a context twice: the first time to find out what they share."""
        variables = [loop.name for loop in scope.loops]
        reads = QuickWriter([INVOICE, *variables], conditions)
        _lines_of(rules, reads)
        _inside(scope, [], reads)
        shared = reads.shared()
        writer = self._used(QuickWriter(shared={**shared, **conditions}))
        lines = _lines_of(rules, writer)
        lookups: dict[Path | str, str] = {it: name for it, name in shared.items() if isinstance(it, str)}
        of_loop = {it: name for it, name in shared.items() if it not in lookups and it[0] in variables}
        inside = [f"{name} = {writer.reading(it)}" for it, name in of_loop.items()]
        local = {name: writer.reading(it) for it, name in shared.items() if it not in of_loop}
        outer = self._used(QuickWriter(shared={**lookups, **conditions}))
        return _Context(local, _inside(scope, [*inside, *lines], outer))

    def situations(self, rule: str, checked: CheckedRule) -> None:
        """Write the function that selects the situation of a violation; it runs for violations only."""
        writer = self._used(QuickWriter())
        lines: list[str] = []
        for position, (situation, lets, when) in enumerate(checked.situations):
            lines += _lets(lets, writer)
            values = "".join(f"{name}, " for name in situation.names)
            test = f"if {writer.write(when.node)}: " if when else ""
            lines.append(f"{test}return ({position}, ({values}))")
        parameters = ", ".join((*checked.rule.names, _SHARED))
        self._add(_situations(rule), parameters, [*lines, "return ()"])

    def operands(self, checked: CheckedRule) -> str:
        """Write the function that collects the occurrences of the operands; it is compiled for a violation only."""
        writer = Writer()
        writer.numbers, writer.lists = self.numbers, self.lists
        lists = "".join(f"{it.code(writer)}, " for it in checked.operands)
        return f"lambda {', '.join((*checked.rule.names, _SHARED))}: ({lists})" if lists else ""

    def _add(self, name: str, parameters: str, lines: Iterable[str]) -> str:
        self.functions[name] = "\n".join((f"def {name}({parameters}):", *_indented(lines), ""))
        return name

    def _used(self, writer: QuickWriter) -> QuickWriter:
        """Return a writer that adds what its code uses to the globals of the program."""
        writer.numbers, writer.lists = self.numbers, self.lists
        return writer


def _conditions(scopes: Sequence[Scope]) -> dict[Path | str, str]:
    """Return local variables for the properties of the first loop variable that are the condition of a context."""
    found: dict[Path | str, str] = {}
    for scope in scopes:
        for condition in filter(None, (scope.where, scope.unless)):
            match condition.node:
                case Field(owner=Name(name=variable), name=field) if [it.name for it in scope.loops] == [variable]:
                    found[variable, f".{field}"] = local_name(f"{variable}.{field}")
    return found


def _inside(scope: Scope, rules: Sequence[str], writer: QuickWriter) -> list[str]:
    """Return what the first loop of a context repeats: its other loops and its conditions, around its rules."""
    lines = list(rules)
    with writer.rarely():
        conditions = [writer.write(scope.where.node)] if scope.where else []
        conditions += [f"not {writer.write(scope.unless.node)}"] if scope.unless else []
        if conditions:
            lines = [f"if {' and '.join(conditions)}:", *_indented(lines)]
        for loop in reversed(scope.loops[1:]):
            lines = [f"for {loop.name} in {writer.source(loop.source.node)}:", *_indented(lines)]
    return lines


def _lines_of(rules: _Rules, writer: QuickWriter) -> list[str]:
    return [line for name, rule in rules for line in _rule(name, rule, writer)]


def _rule(name: str, checked: CheckedRule, writer: QuickWriter) -> list[str]:
    """Compute each `let` as late as possible: for `when`, for `assert`, or for the violation."""
    pending = list(checked.lets)
    if not checked.when:
        return _assertion(name, checked, pending, writer)
    lines = _lets(_take_needed(pending, checked.when), writer)
    lines.append(f"if {writer.write(checked.when.node)}:")
    with writer.perhaps():
        return [*lines, *_indented(_assertion(name, checked, pending, writer))]


def _assertion(
    name: str, checked: CheckedRule, pending: list[tuple[str, Expression]], writer: QuickWriter
) -> list[str]:
    lines = _lets(_take_needed(pending, checked.assertion), writer)
    lines.append(f"if not {writer.write(checked.assertion.node)}:")
    with writer.rarely():
        return [*lines, *_indented([*_lets(pending, writer), _report(name, checked, writer)])]


def _report(name: str, checked: CheckedRule, writer: QuickWriter) -> str:
    contents = "".join(f"{name}, " for name in checked.rule.names)
    notes = "".join(f"{writer.write(note.node) if note else True}, " for note in checked.note_conditions)
    return f"_report(({name}, ({contents}), ({notes}), {_situations(name) if checked.situations else None}))"


def _lets(lets: Iterable[tuple[str, Expression]], writer: QuickWriter) -> list[str]:
    return [f"{name} = {writer.write(expression.node)}" for name, expression in lets]


def _indented(lines: Iterable[str]) -> list[str]:
    return [_INDENT + line for line in lines]


def _situations(rule: str) -> str:
    """Return the name of the function that selects the situation of a rule."""
    return f"_SITUATION{rule}"


def _take_needed(pending: list[tuple[str, Expression]], expression: Expression) -> list[tuple[str, Expression]]:
    """Remove from `pending` and return the lets that `expression` uses, directly or through another `let`."""
    names = set(expression.names)
    needed: list[tuple[str, Expression]] = []
    for let in reversed(pending):
        if let[0] in names:
            names |= let[1].names
            needed.insert(0, let)
    for let in needed:
        pending.remove(let)
    return needed
