"""Named contexts: where in a document the official rules look, in each syntax.

A rule's ``for`` is one of these names. What floats, what an earlier rule of the artefact takes away and how often a
rule fires is said in ``contexts.toml`` once, beside the XPath that it stands for.
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

#: Every rule may read the invoice; a rule without ``for`` looks at it once.
INVOICE: Final = "invoice"

_KEYS: Final = ("for", "where", "unless", "group", "location")
_ITEM: Final = "item"
_SYNTAX_KEYS: Final = (*_KEYS, "xpath", "xpath_excluded", "xpath_from_item")
_HISTORY: Final = "history"


@dataclass(frozen=True)
class Context:
    """One context in one syntax, as its file says it.

    ``loops`` is ``x in …; y in …``; ``where`` keeps an item, ``unless`` takes it away because an earlier rule of the
    artefact's pattern has it. ``group`` says which business group a shared class stands for, ``location`` whether a
    finding points at the ``item`` as a whole.

    ``xpath`` selects in the document what the official rules look at, ``xpath_excluded`` what an earlier rule of theirs has,
    and ``xpath_from_item`` leads from the item's element to that node where the two are not the same. They are XPath 1.0 with
    ``upper-case`` and relative to the document, and serve the test that holds the table against the documents.

    ``until`` is the first release that no longer looks so; ``not_applicable`` says why the releases before it look at nothing.
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
    """A context with its expressions checked: the names a rule may use there and the code that finds the items."""

    name: str
    loops: tuple[Loop, ...]
    where: Expression | None
    unless: Expression | None
    group: str | None
    names: Mapping[str, Type]
    whole: bool = False

    @property
    def item(self) -> str:
        """The name of what the rule looks at."""
        return self.loops[-1].name if self.loops else INVOICE


class Contexts:
    """The contexts of one folder of rules, with those of the folders that it builds on."""

    def __init__(self, folder: Path, below: Contexts | None = None) -> None:
        self._below = below
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
                    raise RuleError("is no name, or one that is taken", file=file, key=name)
                self._contexts[name] = _read(name, row, file)

    @property
    def own(self) -> list[str]:
        """The names that this folder adds."""
        return list(self._contexts)

    @property
    def names(self) -> list[str]:
        """All names, those of the folders below first."""
        return [*(self._below.names if self._below else ()), *self._contexts]

    def get(self, name: str, syntax: str, version: str | None = None) -> Context | None:
        """A context in a syntax, as written; None where the syntax does not have it. ``LookupError``: unknown.

        ``version`` is a release of this folder's rule set; None is the newest, which those who build on it see always.
        """
        if name not in self._contexts and self._below:
            return self._below.get(name, syntax)
        readings = self._contexts[name].get(syntax, ())
        return next((one for one in readings if version and one.until and holds("", one.until, version)), None) or next(
            (one for one in readings if not one.until), None
        )

    def is_silent(self, name: str, syntax: str, version: str) -> bool:
        """Whether a release looks at nothing there, so that no rule of the context can be broken."""
        context = self.get(name, syntax, version) if name in self.names else None
        return context is not None and context.not_applicable != ""

    def scope(self, name: str, syntax: str, where: Where, version: str | None = None) -> Scope:
        """The checked context for a rule at ``where``; ``RuleError`` for an unknown one, or one of the other syntax."""
        if name in ("", INVOICE):  # an overlay writes the name, to look at the whole invoice after all
            return Scope(INVOICE, (), None, None, "BG-0", {INVOICE: Type(Invoice)})
        if self._below and name in self._below.names:
            return self._below.scope(name, syntax, where)
        context = self._known(name, syntax, where, version)
        if context not in self._scopes:
            self._scopes[context] = _check(context)
        return self._scopes[context]

    def _known(self, name: str, syntax: str, where: Where, version: str | None) -> Context:
        if name not in self.names:
            near = get_close_matches(name, self.names, 1)
            hint = f"did you mean '{near[0]}'?" if near else "the names are in contexts.toml"
            raise RuleError(f"there is no context '{name}'", file=where.file, key=where.key, hint=hint)
        context = self.get(name, syntax, version)
        if context is None:
            message = f"the context '{name}' does not exist in {syntax}"
            hint = f"give {syntax.lower()}.for another one, or {syntax.lower()}.not_applicable"
            raise RuleError(message, file=where.file, key=where.key, hint=hint)
        return context


def _read(name: str, row: dict[str, Any], file: str) -> dict[str, tuple[Context, ...]]:
    """The context in each syntax that has it, the oldest reading first: its keys, then the syntax's."""
    found: dict[str, tuple[Context, ...]] = {}
    _known_keys(row, (*_KEYS, *map(str.lower, SYNTAXES), _HISTORY), file, name)
    for syntax in SYNTAXES:
        own = row.get(syntax.lower(), {})
        _known_keys(own, _SYNTAX_KEYS, file, f"{name}.{syntax.lower()}")
        said = {key: row[key] for key in _KEYS if key in row} | own
        if "for" in said:
            said["loops"] = said.pop("for")
            newest = Context(name, file, name if "for" in row else f"{name}.{syntax.lower()}", **said)
            found[syntax] = (*_earlier(newest, row.get(_HISTORY, []), syntax.lower()), newest)
    return found


def _earlier(newest: Context, entries: list[dict[str, Any]], syntax: str) -> Iterator[Context]:
    """How older releases look: what differs from the newest one."""
    for entry in entries:
        if syntax in entry:
            key = f"{newest.name}.{_HISTORY}"
            _known_keys(entry[syntax], (*_SYNTAX_KEYS, "not_applicable"), newest.file, f"{key}.{syntax}")
            said = {("loops" if name == "for" else name): text for name, text in entry[syntax].items()}
            yield replace(newest, key=f"{key}.{syntax}", until=entry["until"], **said)


def _known_keys(row: dict[str, Any], keys: tuple[str, ...], file: str, key: str) -> None:
    for name, content in row.items():
        if name not in keys:
            raise RuleError(f"has no key '{name}'", file=file, key=key, hint=", ".join(keys))
        if not isinstance(content, str) and name.upper() not in SYNTAXES and name != _HISTORY:
            raise RuleError("has to be text", file=file, key=f"{key}.{name}")


def _check(context: Context) -> Scope:
    group = context.group or None
    names: dict[str, Type] = {INVOICE: Type(Invoice)}
    found = loops(context.loops, names, Where(context.file, f"{context.key}.for"), group=group)
    names |= {loop.name: loop.type for loop in found}

    def test(source: str, key: str) -> Expression | None:
        return condition(source, names, Where(context.file, f"{context.key}.{key}"), group=group) if source else None

    where, unless = test(context.where, "where"), test(context.unless, "unless")
    if context.location not in ("", _ITEM):
        raise RuleError(f"is {_ITEM} or left out", file=context.file, key=f"{context.key}.location")
    return Scope(context.name, found, where, unless, group, names, whole=context.location == _ITEM)
