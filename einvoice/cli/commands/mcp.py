"""`einvoice mcp [FOLDER…]`: serve the Model Context Protocol on the standard streams."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from einvoice.cli.common import add_lang
from einvoice.cli.outcome import report_problem
from einvoice.errors import MissingDependency

DONE, FAILED = 0, 2


def add_to(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "mcp",
        help="serve invoices to an assistant (MCP)",
        description="Serve the Model Context Protocol on the standard streams: validate, causes, explain, read, "
        "convert, generate. Exit status: 0 ended by the client, 2 a folder cannot be used.",
    )
    parser.add_argument(
        "folders", nargs="*", metavar="FOLDER", type=Path, help="folders whose files may be read, and new ones written"
    )
    add_lang(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Serve until the client ends it; return the exit status."""
    from einvoice.mcp import server

    try:
        made = server(options.folders, options.lang)
    except MissingDependency as error:
        print(error, file=sys.stderr)
        return FAILED
    except OSError as error:
        report_problem("", error, options.lang)
        return FAILED
    made.run("stdio")
    return DONE
