"""Read rule files. `program.typecheck` checks their expressions."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, NamedTuple

from einvoice.errors import RuleError
from einvoice.rulebook.files.adoption import adopt, codes_of, without_releases
from einvoice.rulebook.files.definition import Copy, Definition
from einvoice.rulebook.files.keys import (
    CHANGES,
    ENTRIES,
    KINDS_OF_EXAMPLES,
    LIKE,
    RENAMED_FROM,
    SCHEMATRON,
    VARYING,
    check_copy,
    check_file,
    check_keys,
    check_release,
    check_schematron,
    languages_of,
)
from einvoice.rulebook.files.lines import read_toml
from einvoice.rulebook.files.resolve import Source
from einvoice.rulebook.files.versions import RuleSet

#: The invoice that examples start from.
BASE: Final = "base.toml"
#: In the folder of copies: the rules that were copied from older releases.
RELEASES: Final = "releases.toml"
_NOT_RULES: Final = (
    "ruleset.toml", "specifications.toml", "contexts.toml", "overrides.toml", "profiles.toml", RELEASES, BASE,
)  # fmt: skip


def read_definitions(folders: Mapping[str, Path], ruleset: RuleSet) -> list[Definition]:
    """Return the rules of a rule set, also adopted ones, ordered by code. Raise `RuleError` for an invalid file.

    `folders` are those of all rule sets.
    """
    home = folders[ruleset.name]
    adopted = adopted_files(folders, ruleset)
    check_siblings(home, adopted)
    definitions: list[Definition] = []
    for path in (*rule_files(home), *adopted):
        definitions += read_file(path, ruleset, home)
    codes: dict[str, str] = {}
    for definition in definitions:
        other = codes.setdefault(definition.code, definition.file)
        if other != definition.file:
            raise RuleError(f"{definition.code} is already defined in {other}", file=definition.file, key="code")
    return sorted(definitions, key=lambda definition: natural(definition.code))


def rule_files(folder: Path) -> list[Path]:
    """Return the rule files of a folder: its TOML files, except those that describe the folder."""
    return sorted(path for path in folder.glob("*.toml") if path.name not in _NOT_RULES)


def adopted_files(folders: Mapping[str, Path], ruleset: RuleSet) -> list[Path]:
    """Return the files of the rules that a rule set adopts. Raise `RuleError` for a name without a file."""
    files: list[Path] = []
    for name, patterns in ruleset.adopted.items():
        known = rule_files(folders[name])
        for pattern in patterns:
            found = [path for path in known if fnmatchcase(path.stem, pattern)]
            if not found:
                message = f"{pattern} is not a rule file of {name}"
                raise RuleError(message, file=f"{ruleset.name}/ruleset.toml", key=f"adopted.{name}")
            files += (path for path in found if path not in files)
    return files


class _Known(NamedTuple):
    """What was read from a rule file: digests of all files with its rules, its rule set, its rules."""

    digests: dict[Path, bytes]
    ruleset: RuleSet
    definitions: list[Definition]


_known: Final[dict[tuple[Path, Path], _Known]] = {}
"""By rule file and folder of the rule set."""


def read_file(path: Path, ruleset: RuleSet, home: Path | None = None) -> list[Definition]:
    """Return the rules of one file. For an invalid file, raise `RuleError` with file, key and a correction.

    `home` is the folder of the rule set, if it adopts the rules from another one. A file that has not changed is
    parsed and checked once.
    """
    home = home or path.parent
    known = _known.get((path, home))
    if known is None or known.ruleset != ruleset or known.digests != {it: _digest(it) for it in known.digests}:
        data, files = _read_rule(path)
        files += (path.parent / SCHEMATRON / path.name, home / SCHEMATRON / path.name)
        digests = {it: _digest(it) for it in files}
        known = _known[path, home] = _Known(digests, ruleset, _definitions(path, data, ruleset, home))
    return list(known.definitions)


def _digest(path: Path) -> bytes:
    """Return a digest of the content of a file; b"" if there is none."""
    try:
        return hashlib.sha256(path.read_bytes()).digest()
    except FileNotFoundError:
        return b""


def _read_rule(path: Path) -> tuple[dict[str, Any], tuple[Path, ...]]:
    """Return the content of a rule file, with that of the file that it is like, and both files."""
    file = f"{path.parent.name}/{path.name}"
    own = data = read_toml(path, file)
    files: tuple[Path, ...] = (path,)
    if isinstance(own.get(LIKE), str):
        twin = path.parent / f"{own[LIKE]}.toml"
        if twin == path or not twin.exists():
            raise RuleError(f"'{own[LIKE]}' is not another rule file of {path.parent.name}", file=file, key=LIKE)
        other = read_toml(twin, f"{path.parent.name}/{twin.name}")
        if LIKE in other:
            raise RuleError(f"{twin.name} is like another file itself", file=file, key=LIKE)
        data, files = _like(other, own), (path, twin)
    check_file(data, file)
    return data, files


def _like(other: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a file on top of that of its twin: examples and situations by name, others added."""
    data = {**{key: content for key, content in other.items() if key not in ("code", "variants")}, **own}
    for key in (*KINDS_OF_EXAMPLES, CHANGES):
        if key in other:
            data[key] = {**own.get(key, {}), **other[key], **own.get(key, {})}  # its own first
    for key in ENTRIES:
        if key in other:
            added = {entry.get("name", number): entry for number, entry in enumerate(own.get(key, ()))}
            data[key] = [added.pop(entry.get("name"), entry) for entry in other[key]] + [*added.values()]
    return data


def _definitions(path: Path, data: dict[str, Any], ruleset: RuleSet, home: Path) -> list[Definition]:
    file = f"{path.parent.name}/{path.name}"
    schematron = _read_schematron(path.parent, path.name, data)
    own: list[Source] = []
    stated = data.get("code", "")
    if home != path.parent:
        data = without_releases(data)
        schematron = [Source(name, without_releases(content)) for name, content in schematron]
        own = _read_schematron(home, path.name, data, adopted=True)
        data, schematron = adopt(data, schematron, own, ruleset)
    variants = data["variants"] if "variants" in data else {data["code"]: {}}
    stated_as = {code: other for _, content in own for other, code in codes_of(stated, content).items()}
    own_texts = frozenset(name for _, content in own for lang in languages_of(content) for name in content[lang])
    definitions = [
        Definition(
            code,
            file,
            ruleset,
            {**variant, **_constants(code, schematron)},
            data,
            tuple(schematron),
            stated_as=stated_as.get(code, ""),
            own_texts=own_texts,
        )
        for code, variant in variants.items()
    ]
    for definition in definitions:
        _check_definition(definition)
    return definitions


def _read_schematron(folder: Path, name: str, data: Mapping[str, Any], *, adopted: bool = False) -> list[Source]:
    """Return the file of that name in the folder `schematron`, with its content; empty if there is none."""
    path, file = folder / SCHEMATRON / name, f"{folder.name}/{SCHEMATRON}/{name}"
    if not path.exists():
        return []
    schematron = read_toml(path, file)
    check_schematron(schematron, data, file, adopted=adopted)
    return [Source(file, schematron)]


def _constants(code: str, schematron: Iterable[Source]) -> dict[str, Any]:
    """Return the constants of a variant, and its first and last release, that files in `schematron` state."""
    members = [content.get("variants", {}).get(code, {}) for _, content in schematron]
    return {name: content for member in members for name, content in member.items() if name not in (*VARYING, "code")}


def read_copies(folder: Path, base: str) -> dict[str, Copy]:
    """Return the copies of rules of the base in the Schematron of a rule set, by code; raise `RuleError` if invalid.

    `schematron/<base>/<CODE>.toml` states what a copy does otherwise, `releases.toml` lists those that are the same
    as in an older release.
    """
    directory = folder / SCHEMATRON / base
    copies: dict[str, Copy] = {}
    for path in rule_files(directory):
        file = f"{folder.name}/{SCHEMATRON}/{base}/{path.name}"
        data = read_toml(path, file)
        check_copy(data, file)
        codes = data.pop("variants", [path.stem])
        copies |= dict.fromkeys(codes, Copy(folder.name, file, data))
    if (table := directory / RELEASES).exists():
        file = f"{folder.name}/{SCHEMATRON}/{base}/{RELEASES}"
        for entry in read_toml(table, file).get("copied", ()):
            check_release(entry, file)
            shared = {key: entry[key] for key in ("deviation", "valid", "invalid") if key in entry}
            copies |= dict.fromkeys(entry["rules"], Copy(folder.name, file, shared, entry["release"]))
    return copies


def check_siblings(folder: Path, adopted: Iterable[Path]) -> None:
    """Check that each file in the folder `schematron` belongs to a rule; raise `RuleError` otherwise.

    `adopted` are the files of adopted rules.
    """
    names = {path.name for path in adopted}
    for path in sorted((folder / SCHEMATRON).glob("*.toml")):
        if path.name not in (*_NOT_RULES, *names) and not (folder / path.name).exists():
            hint = f"a file of the same name in {folder.name} must state the rule as in the standard"
            raise RuleError("has no rule file", file=f"{folder.name}/{SCHEMATRON}/{path.name}", hint=hint)


def natural(code: str) -> tuple[str | int, ...]:
    """Return a sort key that puts BR-9 before BR-10.

    >>> sorted(["BR-10", "BR-9", "BR-CO-1"], key=natural)
    ['BR-9', 'BR-10', 'BR-CO-1']
    """
    return tuple(f"{int(part):09}" if part.isdigit() else part for part in re.split(r"(\d+)", code))


def _check_definition(definition: Definition) -> None:
    """Check that releases exist, and that each syntax has valid and invalid examples if the rule applies to it."""
    file = definition.file
    for key in ("since", "until"):
        if definition.bound(key):
            _check_version(definition, definition.bound(key), key)
    for name, entry in definition.entries("history"):
        _check_version(definition, entry["until"], "history.until", name)
    if definition.renamed_from:
        check_keys(definition.renamed_from, RENAMED_FROM, file, "renamed_from")
        _check_version(definition, definition.renamed_from.get("until", ""), "renamed_from.until")
    for note in definition.notes:
        for key, version in (("since", note.since), ("until", note.until)):
            if version:
                _check_version(definition, version, f"notes.{key}")
    for situation in definition.situations:
        for key, version in (("since", situation.since), ("until", situation.until)):
            if version:
                _check_version(definition, version, f"situations.{key}")
    if not any(definition.in_version(version.name) for version in definition.ruleset.versions):
        raise RuleError("excludes every release", file=file, key="until")
    for syntax in definition.ruleset.syntaxes:
        resolved = definition.resolved(syntax, definition.ruleset.newest)
        if definition.ruleset.is_informative and resolved.severity != "information":
            raise RuleError("must be information in this kind of rule set", file=file, key="severity")
        if not resolved.assertion and not resolved.not_applicable:
            hint = "if the rule cannot be violated, give the reason with not_applicable"
            raise RuleError("is missing", file=file, key="assert", hint=hint)
        for kind in () if resolved.not_applicable else ("valid", "invalid"):
            if not any(syntax in example.syntaxes for example in definition.examples(kind)):
                raise RuleError(f"{definition.code} needs an example for {syntax}", file=file, key=kind)


def _check_version(definition: Definition, version: str, key: str, file: str = "") -> None:
    try:
        definition.ruleset.index_of(version)
    except LookupError as error:
        raise RuleError(str(error), file=file or definition.file, key=key) from None
