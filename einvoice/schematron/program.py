"""A compiled sheet: which rule judges which node, and what its assertions report."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, NamedTuple

from lxml import etree

from einvoice.schematron.errors import LimitReached, NotCompilable, Stopped
from einvoice.schematron.instructions import compile_content, compile_variable
from einvoice.schematron.patterns import Matches, Pattern, compile_pattern
from einvoice.schematron.sheets.iso import MAX_ASSERTIONS
from einvoice.schematron.sheets.sheet import Assertion, Declaration, Let, Rule, Sheet
from einvoice.schematron.tree import Document, Node
from einvoice.schematron.values import items, text_of
from einvoice.schematron.xpath.compiled import Compiled, Evaluate, Kind, as_boolean, as_items
from einvoice.schematron.xpath.compiler import Declared, Scope, compile_text, converter
from einvoice.schematron.xpath.frame import Frame, Lazy, Run
from einvoice.schematron.xpath.needs import needed
from einvoice.schematron.xpath.parser import parse

_MAX_REPORTS: Final = 50_000
_MAX_NAMES: Final = 10_000
"""Names of nodes whose rules are remembered."""
_COST: Final = 10
"""Steps that an assertion counts for, and characters of a message that count for one."""


class Refused(NamedTuple):
    """What cannot be compiled: the code of an assertion, its line in the sheet, and why."""

    code: str
    line: int
    reason: str


class Report(NamedTuple):
    """What an assertion reports: the assertion, the node, and the message."""

    assertion: Assertion
    node: Node
    message: str


@dataclass(frozen=True, slots=True)
class _Test:
    assertion: Assertion
    fires_if: bool
    needs: frozenset[str]
    variables: frozenset[str]
    holds: Callable[[Frame], bool]
    message: Sequence[str | Evaluate]
    loops: Sequence[tuple[Callable[[Frame], bool], Evaluate]]

    def frames(self, frame: Frame) -> Iterator[Frame]:
        """Yield a frame for each node of its loops; the given one without loops."""
        frames = iter((frame,))
        for test, nodes in self.loops:
            frames = _looped(frames, test, nodes)
        return frames


def _looped(frames: Iterator[Frame], test: Callable[[Frame], bool], nodes: Evaluate) -> Iterator[Frame]:
    for frame in frames:
        for node in nodes(frame) if test(frame) else ():
            frame.run.spend(_COST)
            yield Frame(frame.run, node, frame.variables)


class _Rule:
    """A rule, which is compiled when it judges the first node: most sheets have many for documents that never come.

    Args:
        rule: the rule.
        scope: what it can refer to.
    """

    def __init__(self, rule: Rule, scope: Scope) -> None:
        self._rule, self._scope = rule, scope
        self.refused: list[tuple[Assertion, str, Mapping[str, str]]] = []

    def judge(self, frame: Frame, node: Node, reports: list[Report], skipped: list[Stopped] | None) -> None:
        """Add what its assertions report about a node; `skipped` as of `Program.run`."""
        run = frame.run
        lets, tests = self._of_document(run)
        if not tests:
            return
        if lets:
            frame = Frame(run, node, {})
        frame.item = node
        for name, evaluate, of_document in lets:
            context = Frame(run, run.document.node, frame.variables) if of_document else frame
            frame.variables[name] = Lazy(evaluate, context)
        run.spend(_COST * len(tests))
        for test in tests:
            try:
                for it in test.frames(frame) if test.loops else (frame,):
                    if test.holds(it) is test.fires_if:
                        reports.append(Report(test.assertion, it.item, _message(test.message, it)))
                        if len(reports) > _MAX_REPORTS:
                            raise LimitReached(f"more than {_MAX_REPORTS} reports")
            except LimitReached:
                raise
            except Stopped as error:
                if skipped is None:
                    raise
                skipped.append(error)

    def _of_document(self, run: Run) -> tuple[Sequence[tuple[str, Evaluate, bool]], Sequence[_Test]]:
        """Return the variables and the assertions that may report in a document with its names of elements."""
        if self not in run.known:
            lets, tests = self.compiled
            names = run.document.names
            kept = [it for it in tests if it.needs <= names]
            used = frozenset[str]().union(*(it.variables for it in kept)) if lets else ()
            run.known[self] = [it for it in lets if it[0] in used], kept
        found: tuple[Sequence[tuple[str, Evaluate, bool]], Sequence[_Test]] = run.known[self]
        return found

    @cached_property
    def compiled(self) -> tuple[Sequence[tuple[str, Evaluate, bool]], Sequence[_Test]]:
        """The variables and the assertions that can be compiled; the others are in `refused`."""
        scope, lets, tests = self._scope, [], []
        broken: dict[str, str] = {}
        for let in self._rule.lets:
            try:
                if let.name in scope.variables:
                    raise NotCompilable(f"the variable ${let.name} is declared twice")
                known = compile_variable(let.expression, let.content, let.type, scope)
            except (NotCompilable, Stopped) as error:
                broken[let.name] = str(error)
                scope = scope.without_variable(let.name)
                continue
            lets.append((let.name, known.evaluate, let.of_document))
            scope = scope.with_variable(let.name, known)
        variables = _Variables(self._rule.lets)
        for assertion in self._rule.assertions:
            try:
                tests.append(_test(assertion, scope, variables.used_by(assertion)))
            except (NotCompilable, Stopped) as error:
                self.refused.append((assertion, str(error), broken))
        return lets, tests


_Candidates = Sequence[tuple[Matches, _Rule, Pattern]]
"""Rules that may judge a node, in their order."""


class _Table:
    """The rules of one pattern of the sheet, by what they match."""

    def __init__(self) -> None:
        self._found: list[tuple[Pattern, _Rule]] = []

    def add(self, pattern: Pattern, rule: _Rule) -> None:
        self._found.append((pattern, rule))

    def judges(self, of: str) -> bool:
        """Return whether a rule judges such nodes."""
        return any(it.of == of for it, _ in self._found)

    @property
    def asks_names(self) -> bool:
        """Return whether a rule asks for the name of a node in a condition."""
        return any(it.fits for it, _ in self._found)

    def candidates(self, of: str, name: str, frame: Frame) -> _Candidates:
        """Return the rules that may judge a node, which is the item of a frame, and all with its names."""
        return [
            (it.matches, rule, it)
            for it, rule in self._found
            if it.of == of and it.name in ("", name) and all(fits(frame, frame.item) for fits in it.fits)
        ]


class Program:
    """A compiled sheet.

    Args:
        sheet: the sheet.
        open_: gives a document that came with the sheet, by name; raises `NotCompilable` if there is none.

    Attributes:
        sheet: the same.
        refused: the assertions that cannot be compiled, as far as their rules are compiled; see `compile`.

    Raises:
        NotCompilable: it has too many assertions.
    """

    def __init__(self, sheet: Sheet, open_: Callable[[str], Document] | None = None) -> None:
        if not sheet.assertions:
            raise NotCompilable("it has no assertions")
        if len(sheet.assertions) > MAX_ASSERTIONS:
            raise NotCompilable(f"{len(sheet.assertions)} assertions; at most {MAX_ASSERTIONS} are allowed")
        self.sheet = sheet
        self.refused: list[Refused] = []
        self._broken: dict[str, str] = {}
        self._functions: dict[str, Declared] = {}
        self._globals: dict[str, Compiled] = {}
        scope = Scope(sheet.namespaces, sheet.default_namespace, self._globals, functions=self._functions, open=open_)
        self._compile_functions(scope)
        for let in sheet.lets:
            self._compile_global(let, scope)
        self._rules: list[_Rule] = []
        self._tables = [self._table(rules, scope) for rules in sheet.patterns]
        self._asks_names = any(it.asks_names for it in self._tables)
        self._by_name: dict[tuple[str, str, str | None], Sequence[_Candidates]] = {}

    def run(self, document: Document, skipped: list[Stopped] | None = None) -> list[Report]:
        """Judge a document.

        Args:
            document: the document.
            skipped: receives why an assertion could not be judged, and the others go on; None to stop at the first one,
                as the official engine does.

        Raises:
            Stopped: the sheet ends without a verdict.
        """
        run = Run(document, {name: it.evaluate for name, it in self._globals.items()})
        reports: list[Report] = []
        try:
            for node, candidates in self._judged(run):
                run.spend(len(candidates))
                frame = Frame(run, node, {})
                for rules in candidates:
                    for matches, rule, _ in rules:
                        if matches(frame, node):
                            rule.judge(frame, node, reports, skipped)
                            break
        except RecursionError:
            raise LimitReached("an expression or the document is nested too deeply") from None
        except (ArithmeticError, MemoryError, ValueError) as error:  # such as a number of a million digits
            raise LimitReached(f"a value that cannot be calculated ({type(error).__name__})") from None
        return reports

    def _judged(self, run: Run) -> Iterator[tuple[Node, Sequence[_Candidates]]]:
        """Yield each node that rules may judge, with these rules."""
        document = run.document
        yield document.node, self._candidates(run, "document", document.node)
        judges_attributes = self.sheet.visits_attributes and any(it.judges("attribute") for it in self._tables)
        known: dict[Any, Sequence[_Candidates]] = {}
        asks_names = self._asks_names
        for element in document.elements:
            names = (element.name, element.source.prefix) if asks_names else element.name
            candidates = known.get(names)
            if candidates is None:
                candidates = known[names] = self._candidates(run, "element", element)
            if candidates:
                yield element, candidates
            for attribute in element.attributes.values() if judges_attributes else ():
                yield attribute, self._candidates(run, "attribute", attribute)

    def _candidates(self, run: Run, of: str, node: Node) -> Sequence[_Candidates]:
        """Return for each pattern with rules for a node with such names these rules, as far as the document has all
        elements that they need."""
        names = of, node.name, node.source.prefix if self._asks_names and of == "element" else None
        found = self._by_name.get(names)
        if found is None:
            if len(self._by_name) > _MAX_NAMES:
                self._by_name.clear()
            frame = Frame(run, node, {})
            found = [it for it in (table.candidates(of, node.name, frame) for table in self._tables) if it]
            self._by_name[names] = found
        if not found:
            return found
        document = run.document
        kept = [[it for it in rules if it[2].needs <= document.names] for rules in found]
        if any(it[2].inside for rules in kept for it in rules):
            inside = document.inside.get(node.name, frozenset())
            kept = [[it for it in rules if it[2].inside <= inside] for rules in kept]
        return [it for it in kept if it]

    # ---------------------------------------------------------------- compiling

    def _compile_functions(self, scope: Scope) -> None:
        """Compile the functions; one that cannot be compiled breaks what calls it."""
        for it in self.sheet.functions:
            self._functions[it.name] = Declared(it.parameters, _not_ready)
        for it in self.sheet.functions:
            try:
                self._functions[it.name] = Declared(it.parameters, _function(it, scope))
            except NotCompilable as error:
                self._broken[it.name] = str(error)
        for name in self._broken:
            del self._functions[name]

    def _compile_global(self, let: Let, scope: Scope) -> None:
        try:
            self._globals[let.name] = compile_variable(let.expression, let.content, let.type, scope)
        except NotCompilable as error:
            self._broken[let.name] = str(error)

    def _table(self, rules: Sequence[Rule], scope: Scope) -> _Table:
        table = _Table()
        for rule in rules:
            own = replace(scope, namespaces=rule.namespaces)
            try:
                patterns = compile_pattern(rule.context, own)
            except (NotCompilable, Stopped) as error:
                self.refused += [Refused(it.code, it.line, f"context: {error}") for it in rule.assertions]
                continue
            waiting = _Rule(rule, own)
            self._rules.append(waiting)
            for pattern in patterns:
                table.add(pattern, waiting)
        return table

    def compile(self) -> None:
        """Compile all rules; `refused` then has all assertions that cannot be compiled."""
        for rule in self._rules:
            if rule.compiled:
                self.refused += [
                    Refused(it.code, it.line, self._reason(why, broken)) for it, why, broken in rule.refused
                ]
                rule.refused = []

    def _reason(self, reason: str, broken: Mapping[str, str]) -> str:
        """Return why an assertion cannot be compiled, with the reason of the variable or function that it uses."""
        for name, cause in {**self._broken, **broken}.items():
            if f"${name} " in reason or f"function {name} " in reason:
                return f"{name}: {cause}"
        return reason


def _not_ready(frame: Frame, arguments: Sequence[Any]) -> Any:
    raise Stopped("XPST0017", "a function that cannot be compiled is called")


def _function(declaration: Declaration, scope: Scope) -> Callable[[Frame, Sequence[Any]], Any]:
    inner = replace(
        scope, has_node=False, variables={name: _parameter(type_) for name, type_ in declaration.parameters}
    )
    content, convert = compile_content(declaration.body, inner).evaluate, converter(declaration.type)
    parameters = [(name, converter(type_)) for name, type_ in declaration.parameters]

    def call(frame: Frame, arguments: Sequence[Any]) -> Any:
        run = frame.run
        run.enter()
        try:
            variables = {name: to_type(value) for (name, to_type), value in zip(parameters, arguments, strict=True)}
            return convert(content(Frame(run, None, variables)))
        finally:
            run.depth -= 1

    return call


def _parameter(type_: str) -> Compiled:
    kind = {"xs:string": Kind.TEXT, "xs:boolean": Kind.BOOLEAN}.get(type_, Kind.ANY)
    return Compiled(kind, lambda frame: None)


class _Variables:
    """The variables that variables and assertions of a rule may use: each whose name they have after a "$"."""

    def __init__(self, lets: Sequence[Let]) -> None:
        self._names = [it.name for it in lets]
        self._used: dict[str, frozenset[str]] = {}
        for let in lets:
            text = let.expression if let.expression is not None else etree.tostring(let.content, encoding="unicode")
            self._used[let.name] = self._in(text) | {let.name}

    def _in(self, text: str) -> frozenset[str]:
        named = (it for it in self._names if f"${it}" in text)
        return frozenset[str]().union(*(self._used.get(it, frozenset()) for it in named))

    def used_by(self, assertion: Assertion) -> frozenset[str]:
        """Return the names of the variables that an assertion may use."""
        expressions = [it[0] for it in assertion.message if isinstance(it, tuple)]
        return self._in(" ".join((assertion.test, *expressions, *itertools.chain.from_iterable(assertion.loops))))


def _test(assertion: Assertion, scope: Scope, variables: frozenset[str]) -> _Test:
    if assertion.obstacle:
        raise NotCompilable(assertion.obstacle)
    holds = as_boolean(compile_text(assertion.test, scope))
    needs = frozenset[str]() if assertion.loops else needed(parse(assertion.test), assertion.fires_if, scope)
    message = [it if isinstance(it, str) else as_items(compile_text(it[0], scope)) for it in assertion.message]
    loops = [(as_boolean(compile_text(test, scope)), _looped_nodes(nodes, scope)) for test, nodes in assertion.loops]
    return _Test(assertion, assertion.fires_if, needs, variables, holds, message, loops)


def _looped_nodes(expression: str, scope: Scope) -> Evaluate:
    compiled = compile_text(expression, scope)
    if compiled.kind is not Kind.NODES and not compiled.is_node:
        raise NotCompilable("it is in a loop through values that may be no nodes")
    return as_items(compiled)


def _message(parts: Sequence[str | Evaluate], frame: Frame) -> str:
    texts = (it if isinstance(it, str) else " ".join(map(text_of, items(it(frame)))) for it in parts)
    message = " ".join("".join(texts).split())
    frame.run.spend(len(message) // _COST)
    return message
