"""What several commands are asked in the same labels: the language, the standard input, UTF-8 for programs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import BinaryIO

from einvoice.result import LANGUAGES


def add_lang(parser: argparse.ArgumentParser) -> None:
    """Let a command be asked for the language of its texts."""
    parser.add_argument("--lang", choices=LANGUAGES, default="de", help="language of the texts (default: de)")


def source(file: str) -> Path | BinaryIO:
    """What a FILE on the command line stands for: "-" is the standard input."""
    return sys.stdin.buffer if file == "-" else Path(file)


def print_for_programs() -> None:
    """From here on the standard output is UTF-8, whatever the terminal has, and line ends are left alone."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", newline="")
