"""The command `einvoice`: validate, show, generate, convert, compare and explain invoices; manage rules.

Exit status: 0 success; 1 errors in an invoice or a rule file; 2 unreadable file or invalid command line.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Final

from einvoice.cli.common import columns
from einvoice.errors import SettingError

_COMMANDS: Final = (
    "validate",
    "report",
    "letter",
    "show",
    "fix",
    "generate",
    "schema",
    "extract",
    "convert",
    "diff",
    "embed",
    "watch",
    "mcp",
    "explain",
    "catalog",
    "rules",
    "completion",
)
"""Modules of `einvoice.cli.commands`, in the order of the help."""


_OBJECTS_PER_COLLECTION: Final = 100_000
"""New objects after which garbage is collected; validating one file makes about 80,000, most of which stay in use."""


def command() -> int:
    """Run the command as a process of its own. Collecting garbage would take a tenth of its time."""
    gc.set_threshold(_OBJECTS_PER_COLLECTION)
    status = main()
    gc.freeze()
    return status


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (default: those of the process) and return the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options = _parser(arguments).parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # the terminal's encoding may lack characters of an invoice
            stream.reconfigure(errors="replace")
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except SettingError as error:
        print(error, file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, such as `head`, closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser of the command that the arguments begin with, or of all commands. Imports only these."""
    parser = _Parser(
        prog="einvoice",
        description="Validate and generate e-invoices (EN 16931, XRechnung; UBL, CII, ZUGFeRD).",
        epilog="Exit status: 0 success, 1 errors found, 2 unreadable file.",
    )
    parser.add_argument("--version", action=_Version, help="print the version and exit")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    requested = [name for name in _COMMANDS if name in arguments[:1]]
    for name in requested or _COMMANDS:
        import_module(f"einvoice.cli.commands.{name}").add_to(commands)
    return parser


class _Parser(argparse.ArgumentParser):
    """Parser that knows the width of its help; argparse would import `shutil` for each command line."""

    def _get_formatter(self) -> argparse.HelpFormatter:
        return argparse.HelpFormatter(self.prog, width=columns() - 2)


class _Version(argparse.Action):
    """Prints the version; the lookup is slow and therefore deferred."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"einvoice {version('einvoice-toolkit')}")
        parser.exit()
