"""Reads ISO Schematron (ISO/IEC 19757-3): abstract patterns and rules, includes of the same folder,
the default phase."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from einvoice.quotation import quote
from einvoice.schematron.errors import NotCompilable
from einvoice.schematron.sheets.names import SCHEMATRON, XS, XSL, children, line, message
from einvoice.schematron.sheets.sheet import Assertion, Declaration, Let, Rule, Sheet

_MAX_INCLUDES: Final = 200
_MAX_DEPTH: Final = 20
MAX_ASSERTIONS: Final = 5_000
_PARAMETER: Final = re.compile(r"\$([\w.\-]+)")
_Substitute = Callable[[str], str]


def read(root: Any, folder: Path | None, parse: Callable[[bytes], Any], home: Path | None = None) -> Sheet:
    """Read a sheet.

    Args:
        root: its root element.
        folder: the folder with the files that it includes; None if it may include none.
        parse: reads a file safely and returns its root element.
        home: the folder of the sheet itself, to which its includes are relative; by default the same.

    Raises:
        NotCompilable: it includes a file from elsewhere, or refers to something that it does not define.
    """
    _include(root, folder, home or folder, parse)
    return _Reader(root).sheet()


def _include(root: Any, folder: Path | None, home: Path | None, parse: Callable[[bytes], Any]) -> None:
    """Put the content of included files in the place of the includes; a path is relative to the file that states it."""
    waiting, count = [(root, home)], 0
    while waiting:
        part, home = waiting.pop()
        for element in [*part.iter(f"{SCHEMATRON}include", f"{SCHEMATRON}extends")]:
            if element.tag == f"{SCHEMATRON}extends" and element.get("href") is None:
                continue
            count += 1
            if count > _MAX_INCLUDES:
                raise NotCompilable(f"more than {_MAX_INCLUDES} includes")
            file = _file(folder, home, element.get("href", ""))
            included = parse(file.read_bytes())
            included.tail = element.tail
            if element.tag == f"{SCHEMATRON}include":
                element.getparent().replace(element, included)
                waiting.append((included, file.parent))
                continue
            waiting += ((it, file.parent) for it in children(included))  # a rule or pattern: its content is wanted
            _replace(element, list(included))


def _replace(element: Any, content: list[Any]) -> None:
    parent = element.getparent()
    place = parent.index(element)
    parent[place : place + 1] = content


def _file(folder: Path | None, home: Path | None, name: str) -> Path:
    path = home / name if home else None
    if folder is None or path is None or not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):
        raise NotCompilable(f"the included file {quote(name)} is not beside the sheet")
    return path


class _Reader:
    def __init__(self, root: Any) -> None:
        self._root = root
        declared = {it.get("prefix"): it.get("uri") for it in root.iter(f"{SCHEMATRON}ns")}
        self._namespaces: Mapping[str, str] = {"xs": XS, "xsd": XS, **declared}
        self._patterns = {it.get("id"): it for it in self._abstract("pattern")}
        self._rules = {it.get("id"): it for it in self._abstract("rule")}

    def _abstract(self, name: str) -> Iterator[Any]:
        return (it for it in self._root.iter(f"{SCHEMATRON}{name}") if it.get("abstract") == "true")

    def sheet(self) -> Sheet:
        """Return the sheet."""
        lets = [_let(it, str) for it in children(self._root, f"{SCHEMATRON}let")]
        active, patterns = self._active(), []
        for element in children(self._root, f"{SCHEMATRON}pattern"):
            if element.get("abstract") != "true" and (active is None or element.get("id") in active):
                body, substitute = self._instance(element)
                own = [_let(it, substitute, of_document=True) for it in children(body, f"{SCHEMATRON}let")]
                patterns.append([*self._rules_of(body, substitute, own)])
        functions = [_declaration(it) for it in children(self._root, f"{XSL}function")]
        return Sheet("schematron", self._title(), self._namespaces, lets, functions, patterns)

    def _active(self) -> set[str] | None:
        """Return the patterns of the default phase; None for all."""
        name = self._root.get("defaultPhase", "#ALL")
        if name == "#ALL":
            return None
        phase = next((it for it in children(self._root, f"{SCHEMATRON}phase") if it.get("id") == name), None)
        if phase is None:
            raise NotCompilable(f"the phase '{name}' is not defined")
        return {it.get("pattern") for it in children(phase, f"{SCHEMATRON}active")}

    def _title(self) -> str:
        title = self._root.find(f"{SCHEMATRON}title")
        return "" if title is None else " ".join("".join(title.itertext()).split())

    def _instance(self, element: Any) -> tuple[Any, _Substitute]:
        """Return the pattern with the rules, and what puts in its parameters."""
        if not element.get("is-a"):
            return element, str
        if element.get("is-a") not in self._patterns:
            raise NotCompilable(f"line {line(element)}: the pattern '{element.get('is-a')}' is not defined")
        given = {it.get("name", "").strip(): it.get("value") for it in children(element, f"{SCHEMATRON}param")}
        return self._patterns[element.get("is-a")], lambda text: _PARAMETER.sub(
            lambda it: given.get(it[1], it[0]) or it[0], text
        )

    def _rules_of(self, pattern: Any, substitute: _Substitute, of_pattern: Sequence[Let]) -> Iterator[Rule]:
        for index, element in enumerate(children(pattern, f"{SCHEMATRON}rule")):
            if element.get("abstract") == "true":
                continue
            lets = list(of_pattern)
            assertions: list[Assertion] = []
            self._collect(element, substitute, lets, assertions)
            context = substitute(element.get("context", ""))
            yield Rule(context, -index, lets, assertions, self._namespaces, line(element))

    def _collect(
        self, element: Any, substitute: _Substitute, lets: list[Let], assertions: list[Assertion], depth: int = 0
    ) -> None:
        for it in children(element):
            if len(assertions) > MAX_ASSERTIONS:
                raise NotCompilable(f"a rule with more than {MAX_ASSERTIONS} assertions")
            if it.tag == f"{SCHEMATRON}let":
                lets.append(_let(it, substitute))
            elif it.tag in (f"{SCHEMATRON}assert", f"{SCHEMATRON}report"):
                assertions.append(_assertion(it, substitute))
            elif it.tag == f"{SCHEMATRON}extends":
                if it.get("rule") not in self._rules or depth > _MAX_DEPTH:
                    raise NotCompilable(f"line {line(it)}: the rule '{it.get('rule')}' is not defined")
                self._collect(self._rules[it.get("rule")], substitute, lets, assertions, depth + 1)


def _let(element: Any, substitute: _Substitute, *, of_document: bool = False) -> Let:
    value = element.get("value")
    expression = None if value is None else substitute(value)
    return Let(element.get("name", ""), expression, element, element.get("as", ""), of_document)


def _assertion(element: Any, substitute: _Substitute) -> Assertion:
    test = substitute(element.get("test", ""))
    parts = [(substitute(it[0]),) if isinstance(it, tuple) else substitute(it) for it in message(element, _value_of)]
    code = substitute(element.get("id", "")) or " ".join(test.split())
    flag = element.get("flag") or element.get("role") or ""
    return Assertion(code, test, element.tag == f"{SCHEMATRON}report", flag, parts, line(element))


def _value_of(element: Any) -> str | None:
    if element.tag == f"{SCHEMATRON}value-of":
        return str(element.get("select", ""))
    return f"name({element.get('path', '.')})" if element.tag == f"{SCHEMATRON}name" else None


def _declaration(element: Any) -> Declaration:
    parameters = [(it.get("name"), it.get("as", "")) for it in children(element, f"{XSL}param")]
    return Declaration(element.get("name"), parameters, element.get("as", ""), element)
