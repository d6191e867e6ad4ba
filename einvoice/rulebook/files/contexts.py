"""Named contexts: the elements that the official rules check, in each syntax.

The `for` of a rule names one of them. `contexts.toml` defines the groups of the model that the standard's rules
are about. `schematron/contexts.toml` defines what the official Schematron matches instead: other groups, the elements
that an earlier rule of its pattern matches, and the equivalent XPath.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, NamedTuple

from einvoice.codelists import holds
from einvoice.errors import RuleError
from einvoice.localization import languages
from einvoice.model.invoice import Invoice
from einvoice.rulebook.files.keys import SCHEMATRON, check_keys
from einvoice.rulebook.files.lines import read_toml
from einvoice.rulebook.files.notes import DEVIATION as OF_DEVIATION
from einvoice.rulebook.files.notes import check_notes
from einvoice.rulebook.language import Expression, Loop, Where, condition, loops
from einvoice.rulebook.language.types import Type
from einvoice.rulebook.rule import SYNTAXES

#: Every rule may read the invoice; a rule without `for` runs once per invoice.
INVOICE: Final = "invoice"

KEYS: Final = ("for", "where", "unless", "group", "location")
#: Where findings point instead of at the value of the first term.
LOCATIONS: Final = ("item", "parent")
SYNTAX_KEYS: Final = (*KEYS, "xpath", "xpath_excluded", "xpath_from_item")
HISTORY: Final = "history"
DEVIATION: Final = "deviation"
_ROW: Final = {
    **dict.fromkeys(KEYS, str),
    **dict.fromkeys(map(str.lower, SYNTAXES), dict),
    **dict.fromkeys((HISTORY, DEVIATION), list),
}

#: In place of a syntax: the context as in the standard, alike in both syntaxes.
STANDARD: Final = ""


@dataclass(frozen=True)
class Context:
    """A context in one syntax, as in its file.

    Attributes:
        name: of the context.
        loops: the items, as `x in …; y in …`.
        where: condition that keeps an item.
        unless: condition that excludes an item, because an earlier rule of the Schematron pattern matches it.
        group: the business group that a shared class represents.
        location: "item" if findings point at the item as a whole, "parent" if they point at the element that contains
            it.
        xpath: the elements that the official rule matches (XPath 1.0 with `upper-case`), for tests.
        xpath_excluded: those of them that an earlier rule of its pattern matches.
        xpath_from_item: the path from the item's element to that element, if they are not the same.
        until: the first release to which this definition no longer applies.
        not_applicable: the reason why older releases check no elements.
        places: file and key of each part.
    """

    name: str
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
    places: Mapping[str, Where] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Scope:
    """A context with checked expressions, and the names that its rules may use."""

    name: str
    loops: tuple[Loop, ...]
    where: Expression | None
    unless: Expression | None
    group: str | None
    names: Mapping[str, Type]
    location: str = ""

    @property
    def item(self) -> str:
        """Name of the checked item."""
        return self.loops[-1].name if self.loops else INVOICE


class Contexts:
    """The contexts of a folder of rules and of the rule set that it builds on.

    The rules that it adopts from other folders use the contexts of those, unless it has one of that name itself; its
    folder `schematron` adds to them. `copied_by` is the folder of a rule set whose Schematron contains copies of
    the rules; the contexts are those of the copies.
    """

    def __init__(
        self, folder: Path, base: Contexts | None = None, adopted: Sequence[Path] = (), copied_by: Path | None = None
    ) -> None:
        self._base = base
        self._scopes: dict[Context, Scope] = {}
        self._contexts: dict[str, dict[str, tuple[Context, ...]]] = {}
        rows = _rows_of(folder)
        for other in adopted:
            for name, added in _rows_of(other).items():
                if not any(row.is_standard for row in rows.get(name, ())):
                    rows[name] = [*added, *rows.get(name, ())]
        for name, added in _rows_of(copied_by, folder.name).items() if copied_by else ():
            if name not in rows:
                raise RuleError(f"is not a context of {folder.name}", file=added[0].file, key=name)
            rows[name] += added
        for name, parts in rows.items():
            if not name.isidentifier() or name == INVOICE or name in self.names:
                raise RuleError("is not a valid name, or already in use", file=parts[0].file, key=name)
            self._contexts[name] = _read(name, parts)

    @property
    def own(self) -> list[str]:
        """Names that this folder adds."""
        return list(self._contexts)

    @property
    def names(self) -> list[str]:
        """All names, starting with those of the base."""
        return [*(self._base.names if self._base else ()), *self._contexts]

    def get(self, name: str, syntax: str, version: str | None = None) -> Context | None:
        """Return a context in a syntax; None if the syntax does not have it. Raise `LookupError` for an unknown one.

        `version` is a release of this folder's rule set; None is the newest. Contexts of the base are always those of
        its newest release. With `STANDARD` in place of a syntax, return the context as in the standard.
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
        """Return the checked context for a rule at `where`; raise `RuleError` if the syntax does not have it."""
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
            message = f"the context '{name}' does not exist in {syntax or 'the standard'}"
            hint = f"set {syntax.lower()}.for to another one, or set {syntax.lower()}.not_applicable"
            hint = hint if syntax else f"define it in contexts.toml, not only in {SCHEMATRON}/contexts.toml"
            raise RuleError(message, file=where.file, key=where.key, hint=hint)
        return context


class _Row(NamedTuple):
    """The table of a context in one file: as in the standard, or what the official Schematron does otherwise."""

    file: str
    content: Mapping[str, Any]
    is_standard: bool


def _rows_of(folder: Path, copied: str = "") -> dict[str, list[_Row]]:
    """Return the tables of the contexts in a folder of rules, by name; that of the standard first.

    With `copied`, return those of the rules that its Schematron copied from that rule set.
    """
    found: dict[str, list[_Row]] = {}
    for inside in (f"{SCHEMATRON}/{copied}/",) if copied else ("", f"{SCHEMATRON}/"):
        path, file = folder / inside / "contexts.toml", f"{folder.name}/{inside}contexts.toml"
        for name, content in read_toml(path, file).items() if path.exists() else ():
            found.setdefault(name, []).append(_Row(file, content, is_standard=not inside))
    return found


def deviations_of(folder: Path, copied: str) -> dict[str, list[Mapping[str, Any]]]:
    """Return the deviations of the contexts that the Schematron of a rule set copied from another one, by context."""
    rows = _rows_of(folder, copied)
    deviations = {name: [it for row in found for it in row.content.get(DEVIATION, ())] for name, found in rows.items()}
    for name, entries in deviations.items():
        for entry in entries:
            known = {**OF_DEVIATION, **dict.fromkeys(languages(), str)}
            check_keys(entry, known, rows[name][0].file, f"{name}.{DEVIATION}")
        check_notes({DEVIATION: entries}, f"{rows[name][0].file}, {name}")
    return {name: entries for name, entries in deviations.items() if entries}


def _read(name: str, rows: Sequence[_Row]) -> dict[str, tuple[Context, ...]]:
    """Return the definitions of a context by syntax, oldest first; those for both syntaxes are below `STANDARD`.

    Later definitions override earlier ones: the context of the standard, that of the Schematron, and that of a copy,
    each with that of the syntax.
    """
    definitions: dict[str, tuple[Context, ...]] = {}
    for row in rows:
        check_keys(row.content, _ROW, row.file, name)
    for syntax in (STANDARD, *SYNTAXES):
        parts = [part for row in rows if syntax or row.is_standard for part in _parts(name, row, syntax.lower())]
        content = {key: own[key] for _, _, own in parts for key in SYNTAX_KEYS if key in own}
        if "for" in content:
            places = {part: Where(file, f"{key}.{part}") for file, key, own in parts for part in KEYS if part in own}
            newest = Context(name, loops=content.pop("for"), places=places, **content)
            entries = [(row.file, entry) for row in rows for entry in row.content.get(HISTORY, [])]
            definitions[syntax] = (*_history(newest, entries, syntax.lower()), newest)
    return definitions


def _parts(name: str, row: _Row, syntax: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the definitions of a context in one file, for both syntaxes and for one, each with file and key."""
    yield row.file, name, row.content
    if syntax in row.content:
        check_keys(row.content[syntax], dict.fromkeys(SYNTAX_KEYS, str), row.file, f"{name}.{syntax}")
        yield row.file, f"{name}.{syntax}", row.content[syntax]


def _history(newest: Context, entries: list[tuple[str, dict[str, Any]]], syntax: str) -> Iterator[Context]:
    """Yield the definitions of older releases: the newest one, changed in the keys that differ."""
    for file, entry in entries:
        if syntax in entry:
            key = f"{newest.name}.{HISTORY}.{syntax}"
            check_keys(entry[syntax], dict.fromkeys((*SYNTAX_KEYS, "not_applicable"), str), file, key)
            content = {("loops" if name == "for" else name): value for name, value in entry[syntax].items()}
            places = {**newest.places, **{part: Where(file, f"{key}.{part}") for part in entry[syntax]}}
            yield replace(newest, places=places, until=entry["until"], **content)


def _check(context: Context) -> Scope:
    group = context.group or None
    names: dict[str, Type] = {INVOICE: Type(Invoice)}
    items = loops(context.loops, names, context.places["for"], group=group)
    names |= {loop.name: loop.type for loop in items}

    def test(source: str, key: str) -> Expression | None:
        return condition(source, names, context.places[key], group=group) if source else None

    where, unless = test(context.where, "where"), test(context.unless, "unless")
    if context.location not in ("", *LOCATIONS):
        place = context.places["location"]
        raise RuleError(f"must be {' or '.join(LOCATIONS)}, or omitted", file=place.file, key=place.key)
    return Scope(context.name, items, where, unless, group, names, context.location)
