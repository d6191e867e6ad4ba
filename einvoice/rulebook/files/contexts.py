"""Named contexts: the elements that the official rules check, in each syntax.

The ``for`` of a rule names one of them. ``contexts.toml`` defines the groups of the model, the elements that an earlier
rule of the Schematron pattern matches, and the equivalent XPath.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from einvoice.codelists import holds
from einvoice.errors import RuleError
from einvoice.model.invoice import Invoice
from einvoice.rulebook.language import Expression, Loop, Where, condition, loops
from einvoice.rulebook.language.types import Type
from einvoice.rulebook.rule import SYNTAXES

#: Every rule may read the invoice; a rule without ``for`` runs once per invoice.
INVOICE: Final = "invoice"

_KEYS: Final = ("for", "where", "unless", "group", "location")
_ITEM: Final = "item"
_SYNTAX_KEYS: Final = (*_KEYS, "xpath", "xpath_excluded", "xpath_from_item")
_HISTORY: Final = "history"


@dataclass(frozen=True)
class Context:
    """A context in one syntax, as in its file.

    Attributes:
        name: of the context.
        file: the file that defines it.
        key: its key in the file.
        loops: the items, as ``x in …; y in …``.
        where: condition that keeps an item.
        unless: condition that excludes an item, because an earlier rule of the Schematron pattern matches it.
        group: the business group that a shared class represents.
        location: "item" if findings point at the item as a whole.
        xpath: the elements that the official rule matches (XPath 1.0 with ``upper-case``), for tests.
        xpath_excluded: those of them that an earlier rule of its pattern matches.
        xpath_from_item: the path from the item's element to that element, if they are not the same.
        until: the first release to which this definition no longer applies.
        not_applicable: the reason why older releases check no elements.
    """

    name: str
    file: str
    key: str
    loops: str = ""
    where: str = ""
    unless: str = ""
    group: str = ""
    location: str = ""
    xpath: str = ""
    xpath_excluded: str = ""
    xpath_from_item: str = ""
    until: str = ""
    not_applicable: str = ""


@dataclass(frozen=True)
class Scope:
    """A context with checked expressions, and the names that its rules may use."""

    name: str
    loops: tuple[Loop, ...]
    where: Expression | None
    unless: Expression | None
    group: str | None
    names: Mapping[str, Type]
    whole: bool = False

    @property
    def item(self) -> str:
        """Name of the checked item."""
        return self.loops[-1].name if self.loops else INVOICE


class Contexts:
    """The contexts of a folder of rules and of the rule set that it builds on."""

    def __init__(self, folder: Path, base: Contexts | None = None) -> None:
        self._base = base
        self._scopes: dict[Context, Scope] = {}
        self._contexts: dict[str, dict[str, tuple[Context, ...]]] = {}
        path = folder / "contexts.toml"
        if path.exists():
            file = f"{folder.name}/{path.name}"
            try:
                data = tomllib.loads(path.read_text("utf-8"))
            except tomllib.TOMLDecodeError as error:
                raise RuleError(str(error), file=file) from None
            for name, row in data.items():
                if not name.isidentifier() or name == INVOICE or name in self.names:
                    raise RuleError("is not a valid name, or already in use", file=file, key=name)
                self._contexts[name] = _read(name, row, file)

    @property
    def own(self) -> list[str]:
        """Names that this folder adds."""
        return list(self._contexts)

    @property
    def names(self) -> list[str]:
        """All names, starting with those of the base."""
        return [*(self._base.names if self._base else ()), *self._contexts]

    def get(self, name: str, syntax: str, version: str | None = None) -> Context | None:
        """Return a context in a syntax; None if the syntax does not have it. Raise ``LookupError`` for an unknown one.

        ``version`` is a release of this folder's rule set; None is the newest. Contexts of the base are always those of
        its newest release.
        """
        if name not in self._contexts and self._base:
            return self._base.get(name, syntax)
        definitions = self._contexts[name].get(syntax, ())
        return next(
            (one for one in definitions if version and one.until and holds("", one.until, version)), None
        ) or next((one for one in definitions if not one.until), None)

    def is_not_applicable(self, name: str, syntax: str, version: str) -> bool:
        """Return whether a release checks no elements there, so that rules of the context cannot be violated."""
        context = self.get(name, syntax, version) if name in self.names else None
        return context is not None and context.not_applicable != ""

    def scope(self, name: str, syntax: str, where: Where, version: str | None = None) -> Scope:
        """Return the checked context for a rule at ``where``; raise ``RuleError`` if the syntax does not have it."""
        if name in ("", INVOICE):  # an overlay names it to select the whole invoice
            return Scope(INVOICE, (), None, None, "BG-0", {INVOICE: Type(Invoice)})
        if self._base and name in self._base.names:
            return self._base.scope(name, syntax, where)
        context = self._known(name, syntax, where, version)
        if context not in self._scopes:
            self._scopes[context] = _check(context)
        return self._scopes[context]

    def _known(self, name: str, syntax: str, where: Where, version: str | None) -> Context:
        if name not in self.names:
            near = get_close_matches(name, self.names, 1)
            hint = f"did you mean '{near[0]}'?" if near else "see contexts.toml"
            raise RuleError(f"unknown context '{name}'", file=where.file, key=where.key, hint=hint)
        context = self.get(name, syntax, version)
        if context is None:
            message = f"the context '{name}' does not exist in {syntax}"
            hint = f"set {syntax.lower()}.for to another one, or set {syntax.lower()}.not_applicable"
            raise RuleError(message, file=where.file, key=where.key, hint=hint)
        return context


def _read(name: str, row: dict[str, Any], file: str) -> dict[str, tuple[Context, ...]]:
    """Return the definitions of a context by syntax, oldest first; keys of the syntax override common ones."""
    definitions: dict[str, tuple[Context, ...]] = {}
    _check_keys(row, (*_KEYS, *map(str.lower, SYNTAXES), _HISTORY), file, name)
    for syntax in SYNTAXES:
        own = row.get(syntax.lower(), {})
        _check_keys(own, _SYNTAX_KEYS, file, f"{name}.{syntax.lower()}")
        content = {key: row[key] for key in _KEYS if key in row} | own
        if "for" in content:
            content["loops"] = content.pop("for")
            newest = Context(name, file, name if "for" in row else f"{name}.{syntax.lower()}", **content)
            definitions[syntax] = (*_history(newest, row.get(_HISTORY, []), syntax.lower()), newest)
    return definitions


def _history(newest: Context, entries: list[dict[str, Any]], syntax: str) -> Iterator[Context]:
    """Yield the definitions of older releases: the newest one, changed in the keys that differ."""
    for entry in entries:
        if syntax in entry:
            key = f"{newest.name}.{_HISTORY}"
            _check_keys(entry[syntax], (*_SYNTAX_KEYS, "not_applicable"), newest.file, f"{key}.{syntax}")
            content = {("loops" if name == "for" else name): value for name, value in entry[syntax].items()}
            yield replace(newest, key=f"{key}.{syntax}", until=entry["until"], **content)


def _check_keys(row: dict[str, Any], keys: tuple[str, ...], file: str, key: str) -> None:
    for name, content in row.items():
        if name not in keys:
            hint = f"valid keys are {', '.join(keys)}"
            raise RuleError(f"has the unknown key '{name}'", file=file, key=key, hint=hint)
        if not isinstance(content, str) and name.upper() not in SYNTAXES and name != _HISTORY:
            raise RuleError("must be text", file=file, key=f"{key}.{name}")


def _check(context: Context) -> Scope:
    group = context.group or None
    names: dict[str, Type] = {INVOICE: Type(Invoice)}
    items = loops(context.loops, names, Where(context.file, f"{context.key}.for"), group=group)
    names |= {loop.name: loop.type for loop in items}

    def test(source: str, key: str) -> Expression | None:
        return condition(source, names, Where(context.file, f"{context.key}.{key}"), group=group) if source else None

    where, unless = test(context.where, "where"), test(context.unless, "unless")
    if context.location not in ("", _ITEM):
        raise RuleError(f"must be {_ITEM} or omitted", file=context.file, key=f"{context.key}.location")
    return Scope(context.name, items, where, unless, group, names, whole=context.location == _ITEM)
