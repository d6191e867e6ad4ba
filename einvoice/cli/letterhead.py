"""The options --logo and --accent: the letterhead of an invoice page."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_letterhead(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--logo", metavar="FILE", type=Path, help="image for the letterhead of the PDF, such as a PNG")
    parser.add_argument("--accent", metavar="#RRGGBB", help="colour of lines and headings of the PDF, such as #005a9c")


def letterhead(options: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments `logo` and `accent`.

    Raises:
        OSError: the file cannot be read.
    """
    return {"logo": options.logo.read_bytes() if options.logo else None, "accent": options.accent}
