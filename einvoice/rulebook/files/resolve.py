"""Resolve a rule: from the files that state it, the rule in one syntax and release.

Each table that states keys of the rule is an overlay. Later ones override earlier ones: the rule file, the variant,
`[ubl]`/`[cii]`, `ubl`/`cii` of the variant; the same of the file in `schematron`, and of the one of the rule
set that adopts the rule; `[[history]]`; and the file of a copy in another rule set.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from typing import Any, Final, NamedTuple

from einvoice.rulebook.files.keys import VARYING
from einvoice.rulebook.files.versions import RuleSet
from einvoice.rulebook.language import Where

PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")

Parameters = Mapping[str, "str | Decimal | tuple[str, ...]"]


class Source(NamedTuple):
    """A file that states a rule, or what differs from it, with its content."""

    file: str
    data: Mapping[str, Any]


class Overlay(NamedTuple):
    """A table that defines keys of a rule, and its location."""

    file: str
    prefix: str
    content: Mapping[str, Any]


@dataclass(frozen=True)
class ResolvedRule:
    """A rule in one syntax and release: for …, let …, when …, assert ….

    `parameters` are the constants of a variant, `places` the location of each overlay (`let.expected`).
    """

    code: str
    severity: str
    terms: tuple[str, ...]
    context: str
    let: Mapping[str, str]
    when: str
    assertion: str
    not_applicable: str
    parameters: Parameters
    file: str
    places: Mapping[str, Where]

    def where(self, name: str) -> Where:
        """Return the file and the full key of a part, such as `cii.assert`."""
        return self.places.get(name, Where(self.file, name))


def resolve(code: str, file: str, overlays: Sequence[Overlay], shown: frozenset[str]) -> ResolvedRule:
    """Return a rule as its overlays define it together, with the constants of its variant filled in.

    Args:
        code: of the rule in this syntax and release.
        file: the rule file.
        overlays: later ones override earlier ones.
        shown: names that texts use. Other values of an overridden condition are left out.
    """
    rule = _merged(code, file, overlays)
    last = max((index for index, overlay in enumerate(overlays) if "assert" in overlay.content), default=0)
    inherited = _values(overlays[:last]) - _values(overlays[last:])
    if inherited or sum("let" in overlay.content for overlay in overlays) > 1:
        used = shown.union(rule.let.keys() - inherited, names_in(rule.when), names_in(rule.assertion))
        rule = replace(rule, let=_needed(rule.let, used))
    return rule


def overlays_of(source: Source, code: str, syntax: str = "") -> Iterator[Overlay]:
    """Yield the overlays of a file for a syntax; without `syntax`, those for both syntaxes."""
    own = [Overlay(source.file, "", source.data)]
    own.append(Overlay(source.file, "variants", source.data.get("variants", {}).get(code, {})))
    yield from own
    for overlay in own if syntax else ():
        if content := overlay.content.get(syntax):
            yield Overlay(source.file, f"{overlay.prefix}.{syntax}".lstrip("."), content)


def history_of(
    entries: Iterable[tuple[str, Mapping[str, Any]]], ruleset: RuleSet, syntax: str, version: str
) -> Iterator[Overlay]:
    """Yield the overlays of the entry of `[[history]]`, each with its file, that a release has: the oldest one."""
    found = [
        (file, entry)
        for file, entry in entries
        if _applies_to(entry, syntax) and ruleset.has("", entry["until"], version)
    ]
    if found:
        file, oldest = min(found, key=lambda it: ruleset.index_of(it[1]["until"]))
        yield Overlay(file, "history", oldest)
        if syntax in oldest:
            yield Overlay(file, f"history.{syntax}", oldest[syntax])


def _applies_to(entry: Mapping[str, Any], syntax: str) -> bool:
    """Return whether a history entry applies to a syntax, which it does unless all its keys are for the other one."""
    return syntax in entry or entry.keys() - {"until", "variants"} not in ({"ubl"}, {"cii"})


def fill(content: Any, constants: Mapping[str, Any]) -> Any:
    """Replace `{name}` in texts with the constants of a variant; other placeholders are left for the finding."""
    if isinstance(content, dict):
        return {fill(key, constants): fill(value, constants) for key, value in content.items()}
    if isinstance(content, list):
        return [fill(value, constants) for value in content]
    if isinstance(content, str) and constants:
        return PLACEHOLDER.sub(lambda match: _constant(match, constants), content)
    return content


def in_language(constants: Mapping[str, Any], language: str) -> dict[str, Any]:
    """Return the constants of a variant; those with a text for each language have the one in `language`."""
    texts = {name: content.get(language) for name, content in constants.items() if isinstance(content, dict)}
    return {**constants, **texts}


def _constant(match: re.Match[str], constants: Mapping[str, Any]) -> str:
    constant = constants.get(match[1])
    if isinstance(constant, list):
        return ", ".join(constant)
    return match[0] if constant is None or isinstance(constant, dict) else str(constant)


def _merged(code: str, file: str, overlays: Iterable[Overlay]) -> ResolvedRule:
    merged: dict[str, Any] = {"code": code, "let": {}}
    places: dict[str, Where] = {}
    constants: dict[str, Any] = {}
    for overlay in overlays:
        if "assert" in overlay.content:
            merged.pop("not_applicable", None)  # a later condition makes the rule applicable
        for name, content in overlay.content.items():
            key = f"{overlay.prefix}.{name}".lstrip(".")
            if name == "let":
                merged["let"] = merged["let"] | content
                places |= {f"let.{it}": Where(overlay.file, f"{key}.{it}") for it in content}
            elif name in VARYING or (name == "code" and overlay.prefix):
                merged[name] = content
                places[name] = Where(overlay.file, key)
            elif overlay.prefix.startswith("variants") and _is_constant(name, content):
                constants[name] = content
    merged = fill(merged, constants)
    return ResolvedRule(
        merged["code"],
        merged["severity"],
        tuple(merged.get("terms", ())),
        merged.get("for", ""),
        merged["let"],
        merged.get("when", ""),
        merged.get("assert", ""),
        merged.get("not_applicable", ""),
        {name: _parameter(content) for name, content in constants.items()},
        file,
        places,
    )


def _is_constant(name: str, content: Any) -> bool:
    return not isinstance(content, dict) and name not in ("since", "until")


def _values(overlays: Iterable[Overlay]) -> set[str]:
    """Return the names of the values that parts define."""
    return {name for overlay in overlays for name in overlay.content.get("let", {})}


@cache
def names_in(expression: str) -> frozenset[str]:
    """Return the names in an expression; none if it has a syntax error, which the type check reports."""
    try:
        tree = ast.parse(f"({expression})" if expression else "0", mode="eval")
    except SyntaxError:
        return frozenset()
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def _needed(let: Mapping[str, str], used: frozenset[str]) -> dict[str, str]:
    """Return the values that are used, directly or by another value, each after those that it uses.

    A value of the rule file that the condition of an overlay does not use is left out.
    """
    needed: dict[str, str] = {}
    entered: set[str] = set()

    def add(name: str) -> None:
        if name in let and name not in entered:
            entered.add(name)
            for other in let:
                if other in names_in(let[name]):
                    add(other)
            needed[name] = let[name]

    for name in let:
        if name in used:
            add(name)
    return needed


def _parameter(content: Any) -> str | Decimal | tuple[str, ...]:
    if isinstance(content, list):
        return tuple(content)
    return content if isinstance(content, str) else Decimal(content)
