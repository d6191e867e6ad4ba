"""The option `--attach` of the commands that write PDFs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from einvoice.pdf.writer.attachments import RELATIONSHIPS, AttachedFile

_PARTS: Final = 2


def add_attach(parser: argparse.ArgumentParser) -> None:
    """Add the option."""
    parser.add_argument(
        "--attach",
        action="append",
        default=[],
        metavar="FILE[,RELATIONSHIP[,TEXT]]",
        help=f"also attach a file to the PDF; relationship: {', '.join(RELATIONSHIPS)} (default: {RELATIONSHIPS[0]}); "
        "text: a description. The files in the invoice (BG-24) are always attached",
    )


def attached_files(arguments: list[str]) -> list[AttachedFile]:
    """Return the files that the option names.

    Raises:
        OSError: a file cannot be read.
        ValueError: there is no such relationship.
    """
    return [_attached(it) for it in arguments]


def _attached(argument: str) -> AttachedFile:
    name, *rest = [argument] if Path(argument).exists() else argument.split(",", _PARTS)
    relationship, description = (*rest, "", "")[:_PARTS]
    path = Path(name)
    return AttachedFile(path.name, path.read_bytes(), relationship or RELATIONSHIPS[0], description)
