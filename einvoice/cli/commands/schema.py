"""`einvoice schema`: the JSON Schema of drafts."""

from __future__ import annotations

import argparse
import sys
from typing import Any


def add_to(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "schema",
        help="print the JSON Schema of drafts",
        description="Print the JSON Schema (2020-12) of the drafts that `einvoice generate` reads.",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the schema and return the exit status."""
    import json

    from einvoice.draft import draft_schema

    text = json.dumps(draft_schema(), ensure_ascii=False, indent=2)
    sys.stdout.buffer.write(f"{text}\n".encode())
    return 0
