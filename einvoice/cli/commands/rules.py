"""`einvoice rules diff`: what two releases judge differently; `check` and `new`: for those who write rules.

`add`, `list` and `remove` are those of `einvoice.cli.commands.reference`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from einvoice.cli.commands import reference
from einvoice.cli.common import add_lang
from einvoice.rulebook.releases import CORE, NATIONAL

WRONG, IMPOSSIBLE = 1, 2


def add_to(commands: Any) -> None:
    """Declare the commands."""
    parser = commands.add_parser(
        "rules",
        help="compare or write rules, add official ones",
        description="Compare releases, check rule files or begin a new one, add official artefacts.",
    )
    work = parser.add_subparsers(metavar="diff|check|new|add|list|remove", required=True)
    diff = work.add_parser("diff", help="tell what changed from one release to another")
    diff.add_argument("ruleset", choices=[NATIONAL, CORE], metavar="RULESET", help=f"{NATIONAL} or {CORE}")
    diff.add_argument("old", metavar="OLD", help="a release, such as 2.3.1")
    diff.add_argument("new", metavar="NEW", help="a later one, such as 3.0.2")
    add_lang(diff)
    diff.set_defaults(run=run_diff)
    folder = argparse.ArgumentParser(add_help=False)
    folder.add_argument("--folder", type=Path, help="of the rule data (default: the one that einvoice runs on)")
    check = work.add_parser("check", parents=[folder], help="prove all rules and their examples")
    check.set_defaults(run=run_check)
    new = work.add_parser("new", parents=[folder], help="begin the file of a new rule")
    new.add_argument("code", metavar="CODE", help="such as BR-CO-10")
    new.add_argument("ruleset", metavar="RULESET", help="the folder it goes into, such as en16931")
    new.set_defaults(run=run_new)
    reference.add_to(work)


def run_diff(options: argparse.Namespace) -> int:
    """Print the rules that are new, gone, or judge otherwise, with their titles; return the exit status."""
    from einvoice.result.rule_changes import rule_changes

    try:
        old, new = (f"{options.ruleset}-{version}" for version in (options.old, options.new))
        print(rule_changes(old, new, lang=options.lang))
    except ValueError as error:
        print(error, file=sys.stderr)
        return IMPOSSIBLE
    return 0


def run_check(options: argparse.Namespace) -> int:
    """Print every problem of the rule data, return the exit status."""
    from einvoice.rulebook.check import check_all

    problems = check_all(options.folder)
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems" if problems else "All rules are in order.", file=sys.stderr)
    return WRONG if problems else 0


def run_new(options: argparse.Namespace) -> int:
    """Write the file of a new rule and print its path, return the exit status."""
    from einvoice.rulebook.check import new_rule

    try:
        print(new_rule(options.code, options.ruleset, options.folder))
    except FileExistsError:
        print(f"{options.code} is there already.", file=sys.stderr)
        return IMPOSSIBLE
    except (LookupError, OSError) as error:
        print(error, file=sys.stderr)
        return IMPOSSIBLE
    return 0
