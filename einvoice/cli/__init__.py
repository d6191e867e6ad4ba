"""The command `einvoice`: judge files, take invoices out of PDFs, explain codes, work on rules.

Exit status: 0 all is well; 1 an invoice has errors, or a rule file is wrong; 2 a file cannot be read, or the command
line is wrong.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from einvoice.cli.commands import catalog, convert, embed, explain, extract, generate, rules, schema, validate


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, by default those of the process; return the exit status."""
    options = _parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # an invoice may say what the terminal's encoding cannot
            stream.reconfigure(errors="replace")
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="einvoice",
        description="Judge and make e-invoices (EN 16931, XRechnung; UBL, CII, ZUGFeRD), and say what is wrong.",
        epilog="Exit status: 0 all is well, 1 errors were found, 2 a file cannot be read.",
    )
    parser.add_argument("--version", action=_Version, help="print the version, and exit")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in (validate, generate, schema, extract, convert, embed, explain, catalog, rules):
        command.add_to(commands)
    return parser


class _Version(argparse.Action):
    """Prints the version, which takes a while to find out and is seldom asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"einvoice {version('einvoice-toolkit')}")
        parser.exit()
