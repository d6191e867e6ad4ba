"""Writes documents for readers: as text to standard output, as PDF or HTML to a file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from einvoice.cli.common import columns, replace_file

FORMATS: Final = (".pdf", ".html", ".htm", ".txt")
_DEFAULT_WIDTH: Final = 100


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add the option --output."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        type=_output,
        help="file to write: .pdf, .html or .txt (default: text to standard output)",
    )


def _output(name: str) -> Path:
    path = Path(name)
    if path.suffix.lower() not in FORMATS:
        raise argparse.ArgumentTypeError(f"must end with .pdf, .html or .txt, not {path.suffix or 'nothing'!r}")
    return path


def write(path: Path | None, pdf: Callable[[], bytes], html: Callable[[], str], text: Callable[[int], str]) -> None:
    """Write a document.

    Args:
        path: of the file; its suffix decides the format. None means text on standard output.
        pdf, html: render the document.
        text: renders it in lines of the width of the terminal.

    Raises:
        OSError: the file cannot be written.
    """
    if path is None:
        sys.stdout.write(text(columns(_DEFAULT_WIDTH)))
    elif path.suffix.lower() == ".pdf":
        replace_file(path, pdf())
    else:
        content = text(_DEFAULT_WIDTH) if path.suffix.lower() == ".txt" else html()
        replace_file(path, content.encode())
