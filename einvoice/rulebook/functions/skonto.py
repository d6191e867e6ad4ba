"""What is wrong with a line of cash discounts (BR-DE-18), for texts; none of this is XPath of the official rule."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from einvoice.rulebook.functions import patterns
from einvoice.rulebook.functions.registry import function

_NUMBER: Final = re.compile(r"(PROZENT|BASISBETRAG)=(-?[0-9]+)(?:[.]([0-9]?))?(?=#)")


def _repaired(line: str) -> Iterator[str]:
    """Yield the line after each kind of repair: letters, commas, percent signs, blanks, the end, decimals."""
    line = line.upper()
    yield line
    for wrong, right in ((",", "."), ("%", ""), (" ", "")):
        line = line.replace(wrong, right)
        yield line
    line = line.removesuffix("#") + "#"
    yield line
    yield _NUMBER.sub(lambda number: f"{number[1]}={number[2]}.{number[3] or '':0<2}", line)


@function()
def skonto_fault_count(x: str, pattern: str) -> int:
    """BR-DE-18: the number of kinds of faults of a line, such as small letters and a decimal comma.

    It is 0 if the line does not match the pattern without them either.

    >>> form = "^#SKONTO#PROZENT=[0-9]+[.][0-9]{2}#$"
    >>> skonto_fault_count("#Skonto#PROZENT=2,00#", form), skonto_fault_count("#SKONTO#2#", form)
    (2, 0)
    """
    steps = [x, *_repaired(x)]
    is_repaired = patterns.compile(pattern).search(steps[-1])
    return sum(before != after for before, after in pairwise(steps)) if is_repaired else 0


@function()
def corrected_skonto_line(x: str) -> str:
    """BR-DE-18: the line with points for commas and so on; see `skonto_fault_count`.

    >>> corrected_skonto_line("#Skonto#TAGE=7#PROZENT=2,5%")
    '#SKONTO#TAGE=7#PROZENT=2.50#'
    """
    *_, corrected = _repaired(x)
    return corrected


@function()
def corrected_skonto_parts(x: str) -> str:
    """BR-DE-18: the parts of a line that `corrected_skonto_line` changes, each with what it becomes.

    >>> corrected_skonto_parts("#Skonto# TAGE=7#PROZENT=2,5%")
    'Skonto → SKONTO; ␣TAGE=7 → TAGE=7; PROZENT=2,5% → PROZENT=2.50#'
    """
    parts, corrected = x.split("#"), corrected_skonto_line(x).split("#")
    if len(corrected) > len(parts):  # without # at the end
        corrected[-2:] = [f"{corrected[-2]}#"]
    changes = [(part, new) for part, new in zip(parts, corrected, strict=True) if part != new]
    return "; ".join(f"{part.replace(' ', '␣')} → {new}" for part, new in changes)


@function()
def ends_in_skonto_line(x: str) -> bool:
    """BR-DE-18: the last line has text between two #, so that no line end follows it.

    >>> ends_in_skonto_line("#SKONTO#"), ends_in_skonto_line("#SKONTO#\\n"), ends_in_skonto_line("#SKONTO#\\n#1")
    (True, False, False)
    """
    return re.search("#[^#]+#", x.rpartition("\n")[2]) is not None
