"""The option `--attach` of the commands that write PDFs."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Final

from einvoice.pdf.writer.attachments import RELATIONSHIPS, AttachedFile, NotAttachable, file_at

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
        NotAttachable: a file cannot be attached, or there is no such relationship.
    """
    return [_attached(it) for it in arguments]


def _attached(argument: str) -> AttachedFile:
    name = _existing(argument)
    if not name:
        raise NotAttachable("no_file")
    relationship, description = (*argument[len(name) + 1 :].split(",", 1), "")[:_PARTS]
    return file_at(Path(name), relationship or RELATIONSHIPS[0], description)


def _existing(argument: str) -> str:
    """Return the name of the file: the longest one that exists, since names may have commas; else the first part."""
    parts = argument.split(",")
    names = (",".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next(filter(os.path.exists, names), parts[0])
