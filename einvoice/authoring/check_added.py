"""Check the rule sets that a user adds, before they are used."""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Callable, Generator, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Final, TypeVar

from einvoice import code_catalog, codelists
from einvoice.authoring.check import Say, check_rules
from einvoice.errors import RuleError
from einvoice.quotation import quote
from einvoice.resources import RuleData, shipped
from einvoice.rulebook.files.conditions import FILE as CONDITIONS
from einvoice.rulebook.files.contexts import Contexts
from einvoice.rulebook.files.keys import listed_examples, outdated_examples
from einvoice.rulebook.files.lines import located
from einvoice.rulebook.files.load import rule_files
from einvoice.rulebook.files.tables import tables
from einvoice.rulebook.files.versions import RuleSet, read_rulesets
from einvoice.rulebook.program.build import contexts_of
from einvoice.rulebook.rule import SEVERITIES, SYNTAXES
from einvoice.rulebook.syntax_rules import stops
from einvoice.rulebook.syntax_rules.checks import CHECKS
from einvoice.rulebook.syntax_rules.conditions import condition
from einvoice.rulebook.syntax_rules.rule import parse, step
from einvoice.rulebook.syntax_rules.table import rows, stop_rows
from einvoice.syntax import severity_overrides
from einvoice.syntax.specifications import specifications

_COLUMNS: Final = ["code", "context", "check", "path", "argument", "severity", "since", "until"]
Content = TypeVar("Content")
_CODE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def check_added(data: RuleData, *, examples: bool = False, say: Say | None = None) -> Iterator[RuleError]:
    """Yield the errors in the added rule sets, each with file, line, key and a correction.

    Args:
        data: rule data of `added.open_rules`.
        examples: whether to run the examples of the rules.
        say: as of `check.check_all`.
    """
    errors = False
    try:
        for error in _errors(data, examples, say):
            errors = True
            yield located(error, data)
        if not errors:
            yield from (located(error, data) for error in _of_catalog(data))
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        # A structure that no other check expects; it must not stop a service.
        names = ", ".join(data.added)
        yield RuleError(f"cannot be read: {type(error).__name__}: {quote(str(error))}", file=names)


def _errors(data: RuleData, examples: bool, say: Say | None) -> Iterator[RuleError]:
    sets = read_rulesets(data.sets)
    contexts: dict[str, Contexts] = {}
    for name, ruleset in sets.items():
        try:
            contexts[name] = contexts_of(ruleset, data, contexts)
        except RuleError as error:
            yield error
            return
        if name in data.added:
            if (outdated := _of_earlier_release(data.sets[name], name)) is not None:
                yield outdated
                return
            yield from _of_lists(data.sets[name], name)
            yield from _of_tables(data, ruleset)
            yield from check_rules(data, ruleset, contexts[name], examples=examples, say=say)
    yield from _of_specifications(data)
    yield from _raised(lambda: _read_overrides(data, sets))


def _of_earlier_release(folder: Path, name: str) -> RuleError | None:
    """Return one error for a rule set written for release 0.2.0, however many of its files are."""
    found = [(path, key) for path in rule_files(folder) if (key := _listed_examples_in(path))]
    return outdated_examples(f"{name}/{found[0][0].name}", found[0][1], len(found) - 1) if found else None


def _listed_examples_in(path: Path) -> str | None:
    try:
        return listed_examples(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, RecursionError, ValueError):  # an error of its own
        return None


def _of_lists(folder: Path, name: str) -> Iterator[RuleError]:
    known = codelists.names(shipped())
    for path in sorted(folder.glob(f"{codelists.FOLDER}/*.csv")):
        file = f"{name}/{codelists.FOLDER}/{path.name}"
        if path.stem in known and name not in shipped().sets:
            yield RuleError(f"the code list '{path.stem}' exists in einvoice", file=file, hint="choose another name")
        elif not path.stem.isidentifier():
            hint = "use lower case letters, digits and _"
            yield RuleError("is not a valid name of a code list", file=file, hint=hint)
        else:
            yield from _of_csv(path, file, codelists.COLUMNS)


def _of_csv(path: Path, file: str, columns: list[str]) -> Iterator[RuleError]:
    """Yield an error if the table lacks columns, or for each row with too few or too many cells."""
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            reader = csv.reader(lines, strict=True)
            header = next(reader, [])
            if header[: len(columns)] != columns:
                yield RuleError(f"must have the columns {', '.join(columns)}", file=file, line=1)
                return
            for row in reader:
                if len(row) != len(header):
                    message = f"has {len(row)} cells instead of {len(header)}"
                    yield RuleError(message, file=file, line=reader.line_num, hint="write each comma")
    except csv.Error as error:
        yield RuleError(str(error), file=file)


def _of_tables(data: RuleData, ruleset: RuleSet) -> Iterator[RuleError]:
    folder = data.sets[ruleset.name]
    for syntax in ruleset.syntaxes:
        import_module(f"einvoice.rulebook.syntax_rules.{syntax.lower()}")  # registers checks and conditions
        for path in tables(folder, syntax):
            file = f"{ruleset.name}/{path.parent.name}/{path.name}"
            wrong = list(_of_csv(path, file, _COLUMNS))
            yield from wrong or _of_rows(path, file, syntax, data)
        path = folder / stops.FOLDER / f"{syntax.lower()}.csv"
        if path.exists():
            yield from _of_stops(path, f"{ruleset.name}/{stops.FOLDER}/{path.name}", syntax, data)


def _of_stops(path: Path, file: str, syntax: str, data: RuleData) -> Iterator[RuleError]:
    wrong = list(_of_csv(path, file, stops.COLUMNS))
    yield from wrong
    if wrong:
        return
    for number, row in enumerate(stop_rows(path.parent.parent, syntax), start=2):
        for column, message, hint in _of_row(dict(zip(_COLUMNS, row[2:], strict=True)), syntax, data):
            yield RuleError(message, file=file, key=column, line=number, hint=hint)


def _of_rows(path: Path, file: str, syntax: str, data: RuleData) -> Iterator[RuleError]:
    with path.open(encoding="utf-8", newline="") as lines:
        reader = csv.DictReader(lines)
        for row in reader:
            for column, message, hint in _of_row(row, syntax, data):
                yield RuleError(message, file=file, key=column, line=reader.line_num, hint=hint)


def _of_row(row: Mapping[str, str], syntax: str, data: RuleData) -> Iterator[tuple[str, str, str]]:
    """Yield column, message and hint of each error in a row."""
    if not _CODE.fullmatch(row["code"]):
        yield "code", f"{quote(row['code'])} is not a valid code", "use letters, digits, '.', '_' and '-'"
    if row["severity"] not in SEVERITIES:
        yield "severity", "must be one of " + ", ".join(SEVERITIES), ""
    if row["check"] not in CHECKS:
        yield "check", f"unknown check {quote(row['check'])}", f"use one of {', '.join(sorted(CHECKS))}"
    elif row["check"].startswith("in_code_list") and row["argument"].partition(" ")[0] not in codelists.names(data):
        yield "argument", f"unknown code list {quote(row['argument'])}", "add it to the folder codelists"
    elif row["check"] == "at_most" and not row["argument"].isdecimal():
        yield "argument", "must be a number", ""
    conditions = {"argument": [row["argument"]] if row["check"] in ("meets", "only_if") else []}
    for column, separator in (("context", " "), ("path", ", ")):
        try:
            steps = [step(it) for path in row[column].split(separator) for it in parse(path).steps]
            conditions[column] = [it.condition for it in steps if it.condition]
        except KeyError as error:
            message = f"{quote(row[column])} is not a valid path: unknown name {error}"
            yield column, message, "see rules/syntax/README.md"
    for column, names in conditions.items():
        for name in names:
            try:
                condition(syntax, name, data)
            except KeyError as error:
                yield column, f"unknown condition {error}", f"add it to {CONDITIONS}"
            except (ValueError, RecursionError) as error:
                yield column, f"the condition {quote(name)} is invalid: {error}", f"correct it in {CONDITIONS}"


def _of_specifications(data: RuleData) -> Iterator[RuleError]:
    known = specifications(shipped())
    identifiers = {identifier for it in known.values() if it.has_rules for identifier in it.identifiers}
    own = {name: RuleData(data.root, {name: folder}) for name, folder in data.added.items()}
    for name, alone in own.items():
        file = f"{name}/specifications.toml"
        if name in shipped().sets or not (alone.sets[name] / "specifications.toml").exists():
            continue
        found = yield from _raised(lambda: specifications(data))
        for key, specification in (found or {}).items():
            if key in known and specification != known[key]:
                yield RuleError(f"the specification '{key}' exists in einvoice", file=file, key=key, hint="rename it")
            elif key not in known and identifiers.intersection(specification.identifiers):
                yield RuleError("the identifier belongs to another specification", file=file, key=f"{key}.identifiers")


def _read_overrides(data: RuleData, sets: Mapping[str, RuleSet]) -> None:
    for name in data.added:
        severity_overrides.read(((name, sets[name].newest),), data)


def _of_catalog(data: RuleData) -> Iterator[RuleError]:
    """Yield an error for each code of an added rule set that einvoice has, and for rows without texts."""
    known = code_catalog.catalog()
    found = yield from _raised(lambda: code_catalog.catalog(None, data))
    if found is None:
        return
    for code, entry in found.items():
        if entry.layer in data.added and entry.layer not in shipped().sets and code in known:
            hint = f"{known[code].file} defines it; choose another code"
            yield RuleError(f"the code '{code}' exists in einvoice", file=entry.file, key="code", hint=hint)
    for name, folder in data.added.items():
        for syntax in SYNTAXES:
            for _, table, code, *_ in rows(folder, syntax):
                if code not in found:
                    hint = f"add {name}/texts/{code}.toml"
                    yield RuleError(
                        f"'{code}' has no texts", file=f"{name}/syntax/{table.partition('/')[2]}.csv", hint=hint
                    )


def _raised(read: Callable[[], Content]) -> Generator[RuleError, None, Content | None]:
    """Yield the error that reading raises, if any; return what was read."""
    try:
        return read()
    except RuleError as error:
        yield error
    except LookupError as error:
        yield RuleError(str(error), file="rules")
    return None
