"""Read TOML files, and find the line of a key for error messages: the parser of the standard library keeps none."""

from __future__ import annotations

import re
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from einvoice.errors import RuleError
from einvoice.resources import RuleData

_HEADER: Final = re.compile(r"\s*\[{1,2}\s*([^\[\]]+?)\s*\]{1,2}\s*(?:#.*)?$")
_KEY: Final = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_PART: Final = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")


#: How the parser states the place of an error.
_PLACE: Final = re.compile(r" \(at line (\d+), column (\d+)\)")


def read_toml(path: Path, file: str) -> dict[str, Any]:
    """Return the tables of a file, with exact numbers. Raise `RuleError` if it is not TOML; `file` is its name."""
    try:
        return tomllib.loads(path.read_text("utf-8"), parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise RuleError(str(error), file=file, hint=_hint(str(error))) from None
    except RecursionError:
        raise RuleError("is nested too deeply", file=file) from None


def _hint(message: str) -> str:
    if message.startswith("Unescaped"):
        return r"write [0-9] for \d, [.] for \., and any other backslash of a text in quotes as \\"
    return "enclose texts in quotes; write a table as [name]"


def located(error: RuleError, data: RuleData) -> RuleError:
    """Return the error with the line of its key in the file; for one of the parser, with line and column."""
    name, _, rest = error.file.partition("/")
    path = data.sets[name] / rest if name in data.sets else data.root / error.file
    if error.line is not None or path.suffix != ".toml" or not path.is_file():
        return error
    place = _PLACE.search(error.message)
    if not place:
        return error.at_line(line_of(path.read_text("utf-8"), error.key) or 1)
    line, column = map(int, place.groups())
    message = _PLACE.sub("", error.message)
    return RuleError(message, file=error.file, key=error.key, line=line, column=column, hint=error.hint)


def line_of(content: str, key: str) -> int | None:
    """Return the line of a key such as `let.expected` or `valid."a number"`, counted from 1.

    If the file does not have the key, return the line of the innermost table on the way to it; None if there is none.

    >>> line_of('code = "X"\\n\\n[en]\\ntitle = ""', "en.title"), line_of('code = "X"\\n[en]', "en.title")
    (4, 2)
    """
    wanted = _parts(key)
    table: list[str] = []
    best, best_length = None, 0
    for number, line in enumerate(content.splitlines(), 1):
        header, assignment = _HEADER.match(line), _KEY.match(line)
        if header:
            table = _parts(header[1])
        found = table if header else [*table, *_parts(assignment[1])] if assignment else []
        common = len(found) if found == wanted[: len(found)] else 0
        if common > best_length:
            best, best_length = number, common
    return best


def _parts(key: str) -> list[str]:
    return [part.strip("\"'") for part in _PART.findall(key)]
