"""Fingerprints of assertions: equal ones judge alike, whatever form, prefixes and layout their sheets have.

The fingerprint of a code is the SHA-256 of all its assertions in a sheet. Of each, what decides the verdict counts:
the condition, the severity, the context, the variables and functions that it uses, and the contexts that take
precedence of it in its pattern. Words count, not blanks and comments between them; a prefix counts as its namespace.
Messages do not count.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, Final

from einvoice.schematron.errors import NotCompilable, Stopped
from einvoice.schematron.patterns import compile_pattern
from einvoice.schematron.sheets.names import XSL, children
from einvoice.schematron.sheets.sheet import Assertion, Declaration, Let, Rule, Sheet
from einvoice.schematron.xpath.compiler import Scope
from einvoice.schematron.xpath.tokens import tokens

DIGITS: Final = 32
"""Hexadecimal digits of a fingerprint."""
_READS_FILES: Final = frozenset(("document", "doc", "collection", "unparsed-text", "unparsed-text-lines"))
_ATTRIBUTES_WITH_XPATH: Final = frozenset(("select", "test", "match", "use"))
_MAX_DEPTH: Final = 50


def fingerprints(sheet: Sheet) -> dict[str, str]:
    """Return the fingerprint of each code of a sheet.

    A code has none if an assertion of it cannot be compared: it reads other files, or is not understood.
    """
    found: dict[str, list[str]] = defaultdict(list)
    unknown: set[str] = set()
    reader, overlap = _Reader(sheet), cache(_overlap)
    for rules in sheet.patterns:
        names = [_matched(rule, sheet) for rule in rules]
        for index, rule in enumerate(rules):
            before = [it.context for it, of in zip(rules[:index], names, strict=False) if overlap(of, names[index])]
            statement = _Statement(sheet, rule, before, reader)
            for assertion in rule.assertions:
                try:
                    found[assertion.code].append(statement.of(assertion))
                except NotCompilable:
                    unknown.add(assertion.code)
    return {code: _digest("\n".join(sorted(texts))) for code, texts in found.items() if code not in unknown}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def _matched(rule: Rule, sheet: Sheet) -> frozenset[tuple[str, str]] | None:
    """Return kinds and names of the nodes that a context may match, "" for any name; None if they are not known."""
    try:
        scope = Scope(rule.namespaces, sheet.default_namespace)
        return frozenset((it.of, it.name) for it in compile_pattern(_without_variables(rule.context), scope))
    except (NotCompilable, Stopped):
        return None


def _without_variables(context: str) -> str:
    """Return a context with an empty sequence for each variable, whose value does not change the names."""
    result = context
    for it in reversed(tokens(context)):
        if it.kind == "variable":
            result = f"{result[: it.start]}(){result[it.start + len(it.text) :]}"
    return result


def _overlap(first: frozenset[tuple[str, str]] | None, second: frozenset[tuple[str, str]] | None) -> bool:
    if first is None or second is None:
        return True
    kinds = {(of, "") for of, _ in first}
    return not first.isdisjoint(second | {(of, "") for of, _ in second}) or not kinds.isdisjoint(second)


class _Reader:
    """Reads each expression once: as words with namespaces, and those of them that may refer to something."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._namespaces: dict[frozenset[tuple[str, str]], Mapping[str, str]] = {}
        self._functions: dict[int, Mapping[str, Declaration]] = {}
        self._known: dict[tuple[int, str], tuple[str, Sequence[str]]] = {}

    def namespaces(self, rule: Rule) -> Mapping[str, str]:
        """Return the namespaces of a rule; of rules with the same ones, those of the first."""
        return self._namespaces.setdefault(frozenset(rule.namespaces.items()), rule.namespaces)

    def functions(self, namespaces: Mapping[str, str]) -> Mapping[str, Declaration]:
        """Return the functions of the sheet by name; the argument is of `namespaces`, as below."""
        if id(namespaces) not in self._functions:
            named = {"".join(_words(it.name, namespaces)): it for it in self._sheet.functions}
            self._functions[id(namespaces)] = named
        return self._functions[id(namespaces)]

    def words(self, text: str, namespaces: Mapping[str, str]) -> tuple[str, Sequence[str]]:
        """Return the words of an expression as one text, and its variables, functions and accesses to files."""
        key = id(namespaces), text
        if key not in self._known:
            words, functions = list(_words(text, namespaces)), self.functions(namespaces)
            references = [it for it in words if it.startswith("$") or it in functions or it in _READS_FILES]
            self._known[key] = " ".join(words), references
        return self._known[key]


class _Statement:
    """What decides the verdict of the assertions of a rule, as text.

    Args:
        sheet: the sheet.
        rule: the rule.
        before: the contexts that take precedence.
        reader: reads expressions.
    """

    def __init__(self, sheet: Sheet, rule: Rule, before: Sequence[str], reader: _Reader) -> None:
        self._rule, self._before, self._reader, self._default = rule, before, reader, sheet.default_namespace
        self._lets: Mapping[str, Let] = {it.name: it for it in (*sheet.lets, *rule.lets)}
        self._namespaces = reader.namespaces(rule)
        self._functions = reader.functions(self._namespaces)
        self._used: dict[str, Let | Declaration] = {}

    @cached_property
    def _precedence(self) -> tuple[str, Sequence[str]]:
        """The text of the contexts that take precedence, and what they refer to."""
        read = [self._reader.words(it, self._namespaces) for it in self._before]
        return "".join(f"\nbefore {text}" for text, _ in read), [it for _, references in read for it in references]

    def of(self, assertion: Assertion) -> str:
        """Return the text for an assertion.

        Raises:
            NotCompilable: it cannot be compared.
        """
        if assertion.obstacle:
            raise NotCompilable(assertion.obstacle)
        self._used = {}
        before, references = self._precedence
        self._use(references)
        parts = [
            f"namespace {self._default}{before}",
            f"context {self._expression(self._rule.context)}",
            f"test {'' if assertion.fires_if else 'not '}{self._expression(assertion.test)}",
            *(f"loop {self._expression(test)} {self._expression(nodes)}" for test, nodes in assertion.loops),
            f"flag {assertion.flag.strip().lower()}",
        ]
        described: set[str] = set()
        while waiting := [name for name in self._used if name not in described]:
            for name in waiting:
                described.add(name)
                parts.append(f"{name} {self._definition(self._used[name])}")
        return "\n".join(parts)

    def _expression(self, text: str) -> str:
        words, references = self._reader.words(text, self._namespaces)
        self._use(references)
        return words

    def _use(self, references: Iterable[str]) -> None:
        for word in references:
            name = word.lstrip("$")
            if word.startswith("$") and name in self._lets:
                self._used[word] = self._lets[name]
            elif word in self._functions:
                self._used[word] = self._functions[word]
            elif word in _READS_FILES:
                raise NotCompilable("it reads other files")

    def _definition(self, used: Let | Declaration) -> str:
        if isinstance(used, Declaration):
            parameters = " ".join(f"{name} {type_}" for name, type_ in used.parameters)
            return f"({parameters}) {used.type} {self._content(used.body)}"
        if used.expression is not None:
            return f"{used.type} {used.of_document} {self._expression(used.expression)}"
        return f"{used.type} {self._content(used.content)}"

    def _content(self, element: Any, depth: int = 0) -> str:
        """Return the instructions in an element of XSLT."""
        if depth > _MAX_DEPTH:
            raise NotCompilable("it is nested too deeply")
        attributes = sorted(
            f"{name}={self._expression(value) if name in _ATTRIBUTES_WITH_XPATH else value}"
            for name, value in element.attrib.items()
            if name != "name" or depth
        )
        inner = "".join(
            f"{self._content(it, depth + 1)}{_text(it.tail)}" for it in children(element) if it.tag != f"{XSL}param"
        )
        return f"<{element.tag} {' '.join(attributes)}>{_text(element.text)}{inner}</>"


def _text(text: str | None) -> str:
    return text or "" if text and text.strip() else ""


def _words(text: str, namespaces: Mapping[str, str]) -> Iterator[str]:
    """Yield the words of an expression; a name with a prefix has its namespace instead."""
    for it in tokens(text):
        prefix, colon, name = it.text.partition(":")
        if it.kind == "name" and colon and prefix in namespaces:
            yield f"{{{namespaces[prefix]}}}{name}"
        elif it.kind != "end":
            yield "".join(it.text.split()) if it.kind == "variable" else it.text
