"""`einvoice completion SHELL`: print the completion script of a shell."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

SHELLS: Final = ("bash", "zsh", "fish")
NOT_INSTALLED: Final = 2
_FILES: Final = ("file", "files", "other", "pdf", "invoice")
"""Positional arguments that are paths."""


def add_to(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "completion",
        help="print the completion script of a shell",
        description="Print the script that completes commands, options and paths of `einvoice` in a shell.",
    )
    parser.add_argument("shell", choices=SHELLS)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the script and return the exit status."""
    from einvoice.cli import _parser

    try:
        shtab = import_module("shtab")
    except ImportError:
        print("completion needs shtab: pip install 'einvoice-toolkit[completion]'", file=sys.stderr)
        return NOT_INSTALLED
    parser = _parser(())
    for action in _actions(parser):
        if action.type is Path or (not action.option_strings and action.dest in _FILES):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(parser, shell=options.shell))
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the arguments of a command and of its subcommands."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
        else:
            yield action
