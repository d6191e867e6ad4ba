"""Check all rule files with their examples."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from einvoice.code_catalog.build import entries_of_text, text_files
from einvoice.errors import RuleError
from einvoice.resources import RuleData, shipped
from einvoice.rulebook.files.contexts import Contexts
from einvoice.rulebook.files.definition import Definition
from einvoice.rulebook.files.examples import examples_of, invoice_of
from einvoice.rulebook.files.lines import located
from einvoice.rulebook.files.load import adopted_files, check_siblings, read_file, rule_files
from einvoice.rulebook.files.versions import RuleSet, read_rulesets
from einvoice.rulebook.language import Where, condition
from einvoice.rulebook.program.build import NEWEST, RuleSets, assemble, contexts_of
from einvoice.rulebook.program.program import Program
from einvoice.rulebook.program.typecheck import CheckedRule, check_rule, check_standard
from einvoice.rulebook.rule import SYNTAXES

if TYPE_CHECKING:
    from einvoice.model.invoice import Invoice
    from einvoice.rulebook.files.example import Example


Say: TypeAlias = Callable[[str], None]
"""Receives what the check does, and what it noticed besides errors."""
_PROHIBITION: Final = re.compile(r"not exists\((\w+)\)")


def check_all(data: RuleData | None = None, *, documents: bool = True, say: Say | None = None) -> list[RuleError]:
    """Return the errors in the rule data, each with file, line, key, column and a correction.

    Args:
        data: the rule data, by default the shipped one.
        documents: whether to run the examples on documents, too, not only on the model.
        say: receives a line for each rule set, and one for each rule whose valid examples show nothing.
    """
    data = data or shipped()
    return [located(error, data) for error in _errors(data, documents, say)]


def _errors(data: RuleData, documents: bool, say: Say | None) -> list[RuleError]:
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
        problems += check_rules(data, ruleset, contexts[name], documents=documents, say=say)
    if not problems:
        problems += _of_copies(data, documents)
    for path, layer in text_files(data):
        try:
            list(entries_of_text(path, layer))
        except RuleError as error:
            problems.append(error)
    return problems


def program_of(
    checked: CheckedRule, syntax: str, releases: Mapping[str, str] = NEWEST, data: RuleData | None = None
) -> Program:
    """Return a program with one rule; its code lists are those of the releases."""
    return Program([], *assemble([checked], syntax, releases, data))


def check_rules(
    data: RuleData,
    ruleset: RuleSet,
    contexts: Contexts,
    *,
    examples: bool = True,
    documents: bool = True,
    say: Say | None = None,
) -> Iterator[RuleError]:
    """Yield the errors in the rule files of a rule set, each once.

    Args:
        data: the rule data.
        ruleset: the rule set.
        contexts: its contexts.
        examples: whether to run the examples.
        documents: whether to run them on documents, too, not only on the model.
        say: as of `check_all`.
    """
    known: set[str] = set()
    for error in _of_files(data, ruleset, contexts, _Run(data, documents, say) if examples else None):
        if str(error) not in known:  # a fault that both syntaxes, all releases and the standard have
            known.add(str(error))
            yield error
    if examples and documents and not known:
        from einvoice.authoring.check_documents import check_documents  # not needed to load rules

        yield from check_documents(data, ruleset)


def _of_files(data: RuleData, ruleset: RuleSet, contexts: Contexts, run: _Run | None) -> Iterator[RuleError]:
    codes: dict[str, str] = {}
    folder = data.sets[ruleset.name]
    try:
        adopted = adopted_files(data.sets, ruleset)
        check_siblings(folder, adopted)
    except RuleError as error:
        yield error
        adopted = []
    files = (*rule_files(folder), *adopted)
    if run is not None:
        run.say(f"Checking {ruleset.name}: {len(files)} rule files, with their examples.")
    for path in files:
        try:
            definitions = read_file(path, ruleset, folder)
        except RuleError as error:
            yield error
            continue
        for definition in definitions:
            other = codes.setdefault(definition.code, definition.file)
            if other != definition.file:
                yield RuleError(f"{definition.code} is already defined in {other}", file=definition.file, key="code")
            yield from _of_definition(definition, contexts, run)


def _of_copies(data: RuleData, documents: bool) -> Iterator[RuleError]:
    """Yield the errors in the copies of rules in other rule sets."""
    try:
        rule_sets = RuleSets(data)
        copied = {name: rule_sets.copied_by(name) for name, ruleset in rule_sets.sets.items() if ruleset.base}
    except RuleError as error:
        yield error
        return
    run = _Run(data, documents, None)
    for name, (contexts, definitions) in copied.items():
        ruleset = rule_sets.sets[name]
        for definition in definitions[ruleset.base]:
            if definition.copied_by == name:
                yield from _of_definition(definition, contexts[ruleset.base], run, ruleset.syntaxes)


def _of_definition(
    definition: Definition, contexts: Contexts, run: _Run | None, syntaxes: Sequence[str] = ()
) -> Iterator[RuleError]:
    checked: list[tuple[str, CheckedRule]] = []
    errors: list[RuleError] = []
    for syntax in syntaxes or definition.ruleset.syntaxes:
        for version in definition.versions:
            try:
                rule = check_rule(definition, syntax, version, contexts)
                if rule and version == definition.versions[0]:
                    checked.append((syntax, rule))
            except RuleError as error:
                errors.append(error)
    if run is not None:
        errors += run.examples(definition, checked)
        if not errors and not definition.copied_by:  # the same fault would be one of the standard, too
            errors += norm_errors(definition, contexts, run.data)
    yield from errors


def norm_errors(definition: Definition, contexts: Contexts, data: RuleData) -> Iterator[RuleError]:
    """Yield the errors of the rule as in the standard; the examples of its file must agree with it.

    Rule files that define their own overlays are left out: their examples are about both.
    """
    if not definition.standard.assertion or any(syntax.lower() in definition.data for syntax in SYNTAXES):
        return
    try:
        checked = check_standard(definition, contexts)
    except RuleError as error:
        yield error
        return
    version = definition.versions[0]
    syntaxes = [it for it in definition.ruleset.syntaxes if not definition.resolved(it, version).not_applicable]
    if checked:
        yield from _Run(data, False, None).examples(definition, [(it, checked) for it in syntaxes], of_norm=True)


class _Run:
    """Runs the examples of rules.

    Args:
        data: the rule data.
        documents: whether to run them on documents, too.
        say: as of `check_all`.
    """

    def __init__(self, data: RuleData, documents: bool, say: Say | None) -> None:
        self.data = data
        self._documents = documents
        self._say = say

    def say(self, text: str) -> None:
        """Say what is done, or noticed."""
        if self._say is not None:
            self._say(text)

    def examples(
        self, definition: Definition, checked: Sequence[tuple[str, CheckedRule]], *, of_norm: bool = False
    ) -> Iterator[RuleError]:
        """Yield an error for each example that violates a rule although it should not, or the other way round.

        Args:
            definition: the rule.
            checked: the rule by syntax.
            of_norm: whether it is the rule of the standard; examples about the official Schematron are left out.
        """
        faults: dict[tuple[str, str, str, str], list[str]] = {}
        unreached: list[str] = []
        for syntax, rule in checked:
            program = program_of(rule, syntax, data=self.data)
            valid: list[Invoice] = []
            for kind, example in examples_of(definition, syntax):
                if of_norm and (example.insert or example.file != definition.file or example.syntaxes == (syntax,)):
                    continue
                try:
                    invoices = self._invoices(example, kind, syntax)
                except RuleError as error:
                    if not of_norm:  # it is reported for the official rule
                        yield error
                    continue
                valid += invoices.values() if kind == "valid" else ()
                wrong = [it for it, invoice in invoices.items() if bool(program.run(invoice)) != (kind == "invalid")]
                if wrong:
                    place = "" if len(wrong) == len(invoices) else f" {wrong[0]}"
                    faults.setdefault((kind, example.name, example.file, place), []).append(syntax)
            if self._say and not of_norm and not self._reached(rule, syntax, valid):
                unreached.append(syntax)
        if unreached:
            self.say(self._unreached(definition, unreached, len(checked)))
        yield from _of_faults(definition, faults, len(checked), of_norm)

    def _invoices(self, example: Example, kind: str, syntax: str) -> dict[str, Invoice]:
        """Return the invoice of an example, as made from the model and as read from a document, by what it is.

        Raises:
            RuleError: the example does not fit the model, or its XML cannot be inserted.
        """
        made = {} if example.insert else {"on the model": invoice_of(example, self.data, example.file, syntax)}
        if not self._documents:
            return made
        from lxml.etree import LxmlError

        from einvoice.authoring.example_documents import document_of  # not needed to load rules
        from einvoice.syntax.reader import read

        try:
            root = document_of(example, example.file, syntax, self.data)
        except (ValueError, LxmlError) as error:
            key = f'{kind}."{example.name}".{syntax.lower()}.insert'
            raise RuleError(
                f"the XML of '{example.name}' cannot be added: {error}", file=example.file, key=key
            ) from None
        return {**made, "in a document": read(root)}

    def _reached(self, rule: CheckedRule, syntax: str, invoices: Sequence[Invoice]) -> bool:
        """Return whether one of the invoices reaches the condition, or none can: the rule forbids what it is about."""
        forbidden = _PROHIBITION.fullmatch(rule.assertion.source)
        if forbidden and forbidden[1] in rule.scope.names:
            return True
        program = program_of(without_condition(rule), syntax, data=self.data)
        return any(map(program.run, invoices))

    def _unreached(self, definition: Definition, syntaxes: Sequence[str], count: int) -> str:
        """Return the remark on a rule that no valid example reaches in these syntaxes, of a number of them."""
        examples = definition.examples("valid")
        names = ", ".join(f"'{it.name}'" for it in examples if not set(syntaxes).isdisjoint(it.syntaxes))
        resolved = definition.resolved(syntaxes[0], definition.versions[0])
        causes = [f"they have no '{resolved.context}'"] if resolved.context else []
        causes += ["'when' does not hold"] if resolved.when else []
        message = f"{definition.code}{_in(syntaxes, count)}: no valid example reaches 'assert': {names}"
        hint = f"{' or '.join(causes)}; add one to which the rule applies"
        return str(located(RuleError(message, file=definition.file, key="valid", hint=hint), self.data))


def _in(syntaxes: Sequence[str], count: int) -> str:
    """Return the syntaxes that a message is about; "" if they are all of a number of them."""
    return "" if len(syntaxes) == count else f" in {', '.join(syntaxes)}"


def without_condition(checked: CheckedRule) -> CheckedRule:
    """Return the rule with a condition that never holds, to see where the rule applies, and with which values."""
    return replace(checked, assertion=condition("1 == 2", checked.scope.names, Where(checked.rule.file, "assert")))


def _of_faults(
    definition: Definition,
    faults: Mapping[tuple[str, str, str, str], Sequence[str]],
    count: int,
    of_norm: bool,
) -> Iterator[RuleError]:
    """Yield one error for each example, in whatever number of the syntaxes, which are `count`, it is wrong."""
    for (kind, name, file, place), wrong in faults.items():
        where = " in the standard" if of_norm else _in(wrong, count)
        problem = "does not violate the rule" if kind == "invalid" else "violates the rule"
        message = f"{definition.code}{where}: '{name}' {problem}{place}"
        yield RuleError(message, file=file, key=f'{kind}."{name}"')
