"""Check all rule files with their examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from einvoice.errors import RuleError
from einvoice.resources import RuleData, shipped
from einvoice.rulebook.catalog.build import entry_of_text, text_files
from einvoice.rulebook.files.contexts import Contexts
from einvoice.rulebook.files.definition import Definition
from einvoice.rulebook.files.examples import examples_of, invoice_of
from einvoice.rulebook.files.lines import located
from einvoice.rulebook.files.load import adopted_files, check_siblings, read_file, rule_files
from einvoice.rulebook.files.versions import RuleSet, read_rulesets
from einvoice.rulebook.program.build import NEWEST, RuleSets, assemble, contexts_of
from einvoice.rulebook.program.program import Program
from einvoice.rulebook.program.typecheck import CheckedRule, check_norm, check_rule
from einvoice.rulebook.rule import SYNTAXES


def check_all(data: RuleData | None = None) -> list[RuleError]:
    """Return the errors in the rule data, each with file, line, key, column and a correction."""
    data = data or shipped()
    return [located(error, data) for error in _errors(data)]


def _errors(data: RuleData) -> list[RuleError]:
    try:
        sets = read_rulesets(data.sets)
    except RuleError as error:
        return [error]
    problems: list[RuleError] = []
    contexts: dict[str, Contexts] = {}
    for name, ruleset in sets.items():
        try:
            contexts[name] = contexts_of(ruleset, data, contexts)
        except RuleError as error:
            problems.append(error)
            continue
        problems += check_rules(data, ruleset, contexts[name])
    if not problems:
        problems += _of_copies(data)
    for path, layer in text_files(data):
        try:
            entry_of_text(path, layer)
        except RuleError as error:
            problems.append(error)
    return problems


def program_of(
    checked: CheckedRule, syntax: str, releases: Mapping[str, str] = NEWEST, data: RuleData | None = None
) -> Program:
    """Return a program with one rule; its code lists are those of the releases."""
    return Program([], *assemble([checked], syntax, releases, data))


def check_rules(data: RuleData, ruleset: RuleSet, contexts: Contexts, *, examples: bool = True) -> Iterator[RuleError]:
    """Yield the errors in the rule files of a rule set; with ``examples``, those found by running them, too."""
    codes: dict[str, str] = {}
    folder = data.sets[ruleset.name]
    try:
        adopted = adopted_files(data.sets, ruleset)
        check_siblings(folder, adopted)
    except RuleError as error:
        yield error
        adopted = []
    for path in (*rule_files(folder), *adopted):
        try:
            definitions = read_file(path, ruleset, folder)
        except RuleError as error:
            yield error
            continue
        for definition in definitions:
            other = codes.setdefault(definition.code, definition.file)
            if other != definition.file:
                yield RuleError(f"{definition.code} is already defined in {other}", file=definition.file, key="code")
            yield from _of_definition(definition, contexts, data, examples)
            if examples:
                yield from norm_errors(definition, contexts, data)


def _of_copies(data: RuleData) -> Iterator[RuleError]:
    """Yield the errors in the copies of rules in other rule sets."""
    try:
        rule_sets = RuleSets(data)
        copied = {name: rule_sets.copied_by(name) for name, ruleset in rule_sets.sets.items() if ruleset.base}
    except RuleError as error:
        yield error
        return
    for name, (contexts, definitions) in copied.items():
        ruleset = rule_sets.sets[name]
        for definition in definitions[ruleset.base]:
            if definition.copied_by == name:
                yield from _of_definition(definition, contexts[ruleset.base], data, True, ruleset.syntaxes)


def _of_definition(
    definition: Definition, contexts: Contexts, data: RuleData, examples: bool, syntaxes: Sequence[str] = ()
) -> Iterator[RuleError]:
    for syntax in syntaxes or definition.ruleset.syntaxes:
        for version in definition.versions:
            try:
                checked = check_rule(definition, syntax, version, contexts)
                if examples and checked and version == definition.versions[0]:
                    yield from _of_examples(definition, checked, syntax, data)
            except RuleError as error:
                yield error


def norm_errors(definition: Definition, contexts: Contexts, data: RuleData) -> Iterator[RuleError]:
    """Yield the errors of the rule as in the standard; the examples of its file must agree with it.

    Rule files that define their own overlays are left out: their examples are about both.
    """
    if not definition.norm.assertion or any(syntax.lower() in definition.data for syntax in SYNTAXES):
        return
    try:
        checked = check_norm(definition, contexts)
    except RuleError as error:
        yield error
        return
    for syntax in definition.ruleset.syntaxes:
        if checked and not definition.sentence(syntax, definition.versions[0]).not_applicable:
            with suppress(RuleError):  # an invalid example, which is reported for the official rule
                yield from _of_examples(definition, checked, syntax, data, of_norm=True)


def _of_examples(
    definition: Definition, checked: CheckedRule, syntax: str, data: RuleData, *, of_norm: bool = False
) -> Iterator[RuleError]:
    program = program_of(checked, syntax, data=data)
    for kind, example in examples_of(definition, syntax):
        if of_norm and (example.file != definition.file or example.syntaxes == (syntax,)):
            continue  # about the official Schematron
        if example.insert:
            continue  # tests/rulebook/test_rules.py runs it on a document
        violated = bool(program.run(invoice_of(example, data, example.file, syntax)))
        if violated != (kind == "invalid"):
            problem = "violates the rule" if violated else "does not violate the rule"
            message = f"{definition.code} in {'the standard' if of_norm else syntax}: '{example.name}' {problem}"
            yield RuleError(message, file=example.file, key=f'{kind}."{example.name}"')
