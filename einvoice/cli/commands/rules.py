"""`einvoice rules diff|check|new`: compare releases, check rule files, create a rule file.

`add`, `list` and `remove` are in `einvoice.cli.commands.reference`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from einvoice.cli.commands import reference
from einvoice.cli.common import add_lang
from einvoice.errors import RuleError

PROBLEMS, FAILED = 1, 2


def add_to(commands: Any) -> None:
    """Add the commands."""
    parser = commands.add_parser(
        "rules",
        help="compare, write and add rules",
        description="Compare releases, check or create rule files, manage official Schematron.",
    )
    work = parser.add_subparsers(metavar="diff|check|new|add|list|remove", required=True)
    diff = work.add_parser("diff", help="compare two releases")
    diff.add_argument("ruleset", metavar="RULESET", help="such as xrechnung or en16931")
    diff.add_argument("old", metavar="OLD", help="a release, such as 2.3.1")
    diff.add_argument("new", metavar="NEW", help="a later release, such as 3.0.2")
    add_lang(diff)
    diff.set_defaults(run=run_diff)
    folder = argparse.ArgumentParser(add_help=False)
    folder.add_argument("--folder", type=Path, help="folder of the rule data (default: that of einvoice)")
    check = work.add_parser("check", help="check rules and their examples")
    check.add_argument(
        "rules", nargs="?", type=Path, metavar="DIR", help="folder or archive of rule sets (default: all)"
    )
    check.set_defaults(run=run_check)
    new = work.add_parser("new", parents=[folder], help="create the file of a new rule")
    new.add_argument("code", metavar="CODE", help="code, such as BR-CO-10")
    new.add_argument("ruleset", metavar="RULESET", help="folder of the rule set, such as en16931")
    new.set_defaults(run=run_new)
    reference.add_to(work)


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
    """Print every problem of the rules and return the exit status."""
    from einvoice.rulebook.check import check_all

    try:
        problems = check_all() if options.rules is None else _problems(options.rules)
    except OSError as error:
        print(error, file=sys.stderr)
        return FAILED
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems" if problems else "No problems found.", file=sys.stderr)
    return PROBLEMS if problems else 0


def _problems(path: Path) -> list[RuleError]:
    """Return the errors in a folder or archive of rule sets."""
    from einvoice.rulebook.added import open_rules
    from einvoice.rulebook.check_added import check_added

    try:
        return list(check_added(open_rules(path.resolve()), examples=True))
    except RuleError as error:
        return [error]


def run_new(options: argparse.Namespace) -> int:
    """Create a rule file, print its path, and return the exit status."""
    from einvoice.rulebook.check import new_rule

    try:
        print(new_rule(options.code, options.ruleset, options.folder))
    except FileExistsError:
        print(f"{options.code} already exists.", file=sys.stderr)
        return FAILED
    except (LookupError, OSError) as error:
        print(error, file=sys.stderr)
        return FAILED
    return 0
