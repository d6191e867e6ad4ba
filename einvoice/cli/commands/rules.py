"""`einvoice rules diff|check|new|test|schema`: compare releases; check, create and test rules; schemas for editors.

`add`, `import`, `list` and `remove` are in `einvoice.cli.commands.reference`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from einvoice.cli.commands import reference
from einvoice.cli.common import add_lang, add_rules
from einvoice.errors import RuleError

if TYPE_CHECKING:
    from einvoice.authoring.run_examples import ExampleRun, RuleRun
    from einvoice.resources import RuleData

PROBLEMS, FAILED = 1, 2
_SIDES = {"einvoice": "the rule of einvoice", "imported": "the imported assertion"}


def add_to(commands: Any) -> None:
    """Add the commands."""
    parser = commands.add_parser(
        "rules",
        help="compare, write and add rules",
        description="Compare releases; create, check and test rules; manage official Schematron.",
    )
    work = parser.add_subparsers(metavar="diff|check|new|test|schema|add|import|list|remove", required=True)
    diff = work.add_parser("diff", help="compare two releases")
    diff.add_argument("ruleset", metavar="RULESET", help="such as xrechnung or en16931")
    diff.add_argument("old", metavar="OLD", help="a release, such as 2.3.1")
    diff.add_argument("new", metavar="NEW", help="a later release, such as 3.0.2")
    add_lang(diff)
    diff.set_defaults(run=run_diff)
    check = work.add_parser("check", help="check rules and their examples")
    check.add_argument(
        "rules", nargs="?", type=Path, metavar="DIR", help="folder or archive of rule sets (default: all)"
    )
    check.add_argument(
        "--documents", type=Path, metavar="FOLDER", help="further invoices to compare imported releases on"
    )
    check.set_defaults(run=run_check)
    _add_authoring(work)
    reference.add_to(work)


def _add_authoring(work: Any) -> None:
    new = work.add_parser("new", help="create the file of a new rule")
    new.add_argument("code", metavar="CODE", help="code, such as BR-CO-10")
    new.add_argument("--set", dest="ruleset", metavar="NAME", required=True, help="rule set, such as en16931")
    add_rules(new)
    new.set_defaults(run=run_new)
    test = work.add_parser("test", help="run the examples of a rule")
    test.add_argument("code", metavar="CODE", help="code, such as BR-CO-10")
    add_rules(test)
    add_lang(test)
    test.set_defaults(run=run_test)
    schema = work.add_parser("schema", help="print the JSON Schema of rule files, for editors")
    schema.add_argument("kind", nargs="?", default="rule", metavar="KIND", help="kind of file (default: rule)")
    schema.add_argument(
        "--write", type=Path, metavar="DIR", help="write the schemas of all kinds into a folder instead"
    )
    schema.set_defaults(run=run_schema)


def run_diff(options: argparse.Namespace) -> int:
    """Print added, removed and changed rules and return the exit status."""
    from einvoice.result.rule_changes import rule_changes

    try:
        old, new = (f"{options.ruleset}-{version}" for version in (options.old, options.new))
        print(rule_changes(old, new, lang=options.lang))
    except ValueError as error:
        print(error, file=sys.stderr)
        return FAILED
    return 0


def run_check(options: argparse.Namespace) -> int:
    """Print every problem of the rules and return the exit status; on standard error, what is done and noticed."""
    from einvoice.authoring.check import check_all

    try:
        problems = check_all(say=_say) if options.rules is None else _problems(options.rules)
    except OSError as error:
        print(error, file=sys.stderr)
        return FAILED
    told = [*map(str, problems), *(_compared(options.documents) if options.rules is None else ())]
    for problem in told:
        print(problem)
    print(_count(len(told)), file=sys.stderr)
    return PROBLEMS if told else 0


def _compared(documents: Path | None) -> Iterator[str]:
    """Yield the unchanged assertions of imported releases that differ from the rules; say where changed ones do."""
    from einvoice.authoring.added import rule_data
    from einvoice.validation.compare_releases import compare_releases

    for it in compare_releases(rule_data(), documents):
        release, part = it.release, it.part
        name = f"{release.ruleset}-{release.version}, {part.syntax}"
        _say(
            f"Comparing {name} with {release.native} on {it.documents} documents, and {it.stopped} at which it stops: "
            f"{part.unchanged} rules unchanged, {len(part.imported)} imported, {len(part.removed)} removed."
        )
        for (code, side), where in sorted(it.differences.items()):
            line = f"{name}: {code} is reported by {_SIDES[side]} only, in {len(where)}, such as {where[0]}"
            if (code, side) in it.faults:
                yield line
            else:
                _say(f"  {line}")


def _count(problems: int) -> str:
    return f"{problems} problem{'s' * (problems > 1)}." if problems else "No problems found."


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _problems(path: Path) -> list[RuleError]:
    """Return the errors in a folder or archive of rule sets."""
    from einvoice.authoring.added import open_rules
    from einvoice.authoring.check_added import check_added

    try:
        return list(check_added(open_rules(path.resolve()), examples=True, say=_say))
    except RuleError as error:
        return [error]


def run_new(options: argparse.Namespace) -> int:
    """Create a rule file, print its path, and return the exit status."""
    from einvoice.authoring.new_rule import new_rule

    try:
        print(new_rule(options.code, options.ruleset, options.rules))
    except (LookupError, OSError, RuleError, ValueError) as error:
        print(error, file=sys.stderr)
        return FAILED
    return 0


def run_test(options: argparse.Namespace) -> int:
    """Run the examples of a rule, print what happened to each, and return the exit status."""
    from einvoice.authoring.added import open_rules
    from einvoice.authoring.run_examples import run_examples
    from einvoice.resources import shipped
    from einvoice.rulebook.files.lines import located

    try:
        data = open_rules(options.rules.resolve()) if options.rules else shipped()
    except (OSError, RuleError) as error:
        print(error, file=sys.stderr)
        return FAILED
    try:
        runs = run_examples(options.code, data, options.lang)
    except RuleError as error:
        print(located(error, data))
        return PROBLEMS
    except LookupError as error:
        print(error.args[0], file=sys.stderr)
        return FAILED
    failed = sum(_print_run(run, data) for run in runs)
    count = sum(len(run.examples) for run in runs)
    print(f"{count} examples run, {failed or 'no'} {'problem' if failed == 1 else 'problems'}.")
    return PROBLEMS if failed else 0


def _print_run(run: RuleRun, data: RuleData) -> int:
    """Print what happened to a rule in a rule set; return the number of problems."""
    from einvoice.rulebook.files.lines import located

    print(f"{run.code}, {run.file}" + ("" if run.file.startswith(f"{run.ruleset}/") else f", adopted by {run.ruleset}"))
    for example in run.examples:
        print(f"  {_verdict(example)} {example.syntax} {example.kind:7} '{example.name}' {example.report}")
        if not example.passed:
            print(f"         {example.file}" + (f", line {example.line}" if example.line else ""))
    for error in run.errors:
        print(f"  FAILED {located(error, data)}")
    return len(run.errors) + sum(not example.passed for example in run.examples)


def _verdict(example: ExampleRun) -> str:
    return "passed" if example.passed else "FAILED"


def run_schema(options: argparse.Namespace) -> int:
    """Print the schema of a kind of file, or write all, and return the exit status."""
    from einvoice.authoring.json_schema import KINDS, text

    if options.kind not in KINDS:
        print(f"unknown kind '{options.kind}'; kinds are {', '.join(KINDS)}", file=sys.stderr)
        return FAILED
    if options.write is None:
        sys.stdout.buffer.write(text(options.kind).encode())
        return 0
    try:
        options.write.mkdir(parents=True, exist_ok=True)
        for kind in KINDS:
            path = options.write / f"{kind}.json"
            path.write_text(text(kind), "utf-8")
            print(path)
    except OSError as error:
        print(error, file=sys.stderr)
        return FAILED
    return 0
