"""Unified diff of two XML documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from einvoice.syntax import xml

_NO_LINE_BREAK: Final = "\n\\ No newline at end of file\n"
_CONTEXT: Final = 3
_SAME: Final = 2
"""Number of equal lines that end a difference."""
_MAX_LINES: Final = 500
"""Maximum number of lines of a difference; a longer one extends to the end of the documents."""


class _Difference(NamedTuple):
    """Lines `start` to `end` of one document, replaced by `new_start` to `new_end` of the other."""

    start: int
    end: int
    new_start: int
    new_end: int


def unified(before: bytes, after: bytes, before_name: str, after_name: str) -> str:
    """Return the differences as a unified diff with three lines of context; "" if there are none.

    Lines end at "\\n" only, so the diff shows line ends as they are, and `patch` can apply it to documents in UTF-8.
    The time is linear: edits are local, and documents can have 300,000 lines, for which difflib takes half a minute.
    """
    old, new = _lines(before), _lines(after)
    hunks = list(_hunks(_differences(old, new)))
    head = [f"--- {before_name}\n", f"+++ {after_name}\n"] if hunks else []
    return "".join([*head, *(line for hunk in hunks for line in _hunk(hunk, old, new))])


def _lines(data: bytes) -> list[str]:
    *lines, last = xml.text(data).split("\n")
    return [f"{line}\n" for line in lines] + ([last + _NO_LINE_BREAK] if last else [])


def _differences(old: Sequence[str], new: Sequence[str]) -> Iterator[_Difference]:
    i = j = 0
    while i < len(old) and j < len(new):
        if old[i] == new[j]:
            i, j = i + 1, j + 1
            continue
        end, new_end = _end(old, i, new, j)
        yield _Difference(i, end, j, new_end)
        i, j = end, new_end
    if i < len(old) or j < len(new):
        yield _Difference(i, len(old), j, len(new))


def _end(old: Sequence[str], i: int, new: Sequence[str], j: int) -> tuple[int, int]:
    """Return where a difference ends that begins at these lines: the nearest lines that are equal again."""
    for distance in range(1, _MAX_LINES):
        for added in range(distance + 1):
            end, new_end = i + distance - added, j + added
            if end > len(old) or new_end > len(new):
                continue
            if old[end : end + _SAME] == new[new_end : new_end + _SAME]:
                return end, new_end
    return len(old), len(new)


def _hunks(differences: Iterator[_Difference]) -> Iterator[list[_Difference]]:
    """Yield the differences, in groups whose context would overlap."""
    group: list[_Difference] = []
    for difference in differences:
        if group and difference.start - group[-1].end > 2 * _CONTEXT:
            yield group
            group = []
        group.append(difference)
    if group:
        yield group


def _hunk(differences: Sequence[_Difference], old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    first, last = differences[0], differences[-1]
    before = min(_CONTEXT, first.start)
    after = min(_CONTEXT, len(old) - last.end)
    start, new_start = first.start - before, first.new_start - before
    ranges = _range(start, last.end + after), _range(new_start, last.new_end + after)
    yield "@@ -{} +{} @@\n".format(*ranges)
    for difference in differences:
        yield from (f" {line}" for line in old[start : difference.start])
        yield from (f"-{line}" for line in old[difference.start : difference.end])
        yield from (f"+{line}" for line in new[difference.new_start : difference.new_end])
        start = difference.end
    yield from (f" {line}" for line in old[start : start + after])


def _range(start: int, end: int) -> str:
    """Return lines as a unified diff names them: the first line, counted from 1, and their number."""
    if end - start == 1:
        return str(start + 1)
    return f"{start + 1 if end > start else start},{end - start}"
