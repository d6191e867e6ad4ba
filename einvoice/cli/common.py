"""Shared command-line options and stream settings."""

from __future__ import annotations

import argparse
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import BinaryIO

from einvoice.localization import Language, fallbacks, is_available, languages
from einvoice.localization.options import DEFAULT, ENVIRONMENT, options


def columns(default: int = 80) -> int:
    """Return the width of the terminal. `shutil` has this too, but its import takes longer than a validation."""
    stated = os.environ.get("COLUMNS", "")
    if stated.isdecimal() and int(stated):
        return int(stated)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or default  # type: ignore[union-attr]
    except (AttributeError, OSError, ValueError):
        return default


def add_lang(parser: argparse.ArgumentParser) -> None:
    """Add the option --lang."""
    parser.add_argument(
        "--lang",
        type=_language,
        metavar="LANG",
        default=options.chosen or _locale_language(),
        help=f"language of the texts (default: {ENVIRONMENT}, the locale, or {DEFAULT})",
    )


def _locale_language() -> Language:
    """Return the language of the locale, English if it has no texts; the default without a locale.

    The locale is that of POSIX or, if it is not set on Windows, the language of the user there.
    """
    locale = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "") or _windows_locale()
    tag = locale.partition(".")[0].partition("@")[0].replace("_", "-")
    return DEFAULT if tag in ("", "C", "POSIX") else next(it for it in fallbacks(tag) if it in languages())


def _windows_locale() -> str:
    """Return the language of the user's Windows, such as "de_DE"; "" on other systems."""
    if sys.platform != "win32":
        return ""
    import ctypes  # imported on use: only there
    import locale

    return locale.windows_locale.get(ctypes.windll.kernel32.GetUserDefaultUILanguage(), "")


def _language(lang: str) -> Language:
    if not is_available(lang):
        raise argparse.ArgumentTypeError(f"must be one of {', '.join(languages())}, not {lang!r}")
    return lang


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Add the option --rules."""
    parser.add_argument("--rules", type=Path, metavar="DIR", help="folder or archive of further rule sets")


def source(file: str) -> Path | BinaryIO:
    """Return the source for a FILE argument; "-" is standard input."""
    return sys.stdin.buffer if file == "-" else Path(file)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file completely or not at all; an existing file keeps its permissions, and a link its target.

    Raises:
        OSError: the file cannot be written; `filename` is that of `path`.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():  # such as /dev/stdout
        path.write_bytes(content)
        return
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        try:
            temporary.write_bytes(content)
            if target.exists():
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise


def use_utf8_stdout() -> None:
    """Switch standard output to UTF-8 without newline translation, for output read by programs."""
    use_stdout_encoding("utf-8")


def use_stdout_encoding(encoding: str) -> None:
    """Switch standard output to an encoding, without newline translation."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace", newline="")


@contextmanager
def output_to(path: Path | None, *, quiet: bool = False, encoding: str = "utf-8") -> Iterator[None]:
    """Redirect standard output to a file, if there is one, or to nowhere if `quiet`."""
    if path is None and not quiet:
        yield
        return
    place = path or Path(os.devnull)
    with place.open("w", encoding=encoding, errors="backslashreplace", newline="") as file, redirect_stdout(file):
        yield
