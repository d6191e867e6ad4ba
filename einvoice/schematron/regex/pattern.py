"""A regular expression of XPath, and what its functions do with it."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import Final

from einvoice.schematron.errors import LimitReached, Stopped
from einvoice.schematron.regex.automaton import Automaton
from einvoice.schematron.regex.parts import ENDLESS, Chain, Characters, Part, choices, written
from einvoice.schematron.regex.reader import Reader, escaped

_MAX_PATTERN: Final = 50_000
_MAX_TRIES: Final = 200_000
"""Attempts up to which trying takes acceptable time."""
_FLAGS: Final = "smixq"


class Pattern:
    """A regular expression of XPath.

    Args:
        part: its tree.
        flags: the flags of XPath.
        groups: number of its groups.
    """

    def __init__(self, part: Part, flags: str, groups: int) -> None:
        self._part, self._flags, self._groups = part, flags, groups
        self._choices = choices(part)
        self._python = re.compile(written(part, flags), re.IGNORECASE if "i" in flags else 0)

    @cached_property
    def _automaton(self) -> Automaton:
        return Automaton(self._part, self._flags)

    def _can_be_tried(self, text: str) -> bool:
        if self._choices in (0, 1):
            return True
        return self._choices != ENDLESS and (len(text) + 1) ** self._choices <= _MAX_TRIES

    def is_in(self, text: str) -> bool:
        """Return whether it occurs in a text (`fn:matches`)."""
        if self._can_be_tried(text):
            return self._python.search(text) is not None
        return self._automaton.found_in(text)

    def replace(self, text: str, replacement: str) -> str:
        """Return a text with each occurrence replaced (`fn:replace`)."""
        parts = _replacement(replacement, self._groups)
        return self._tried(text).sub(lambda it: "".join(_part_of(it, part) for part in parts), text)

    def split(self, text: str) -> list[str]:
        """Return the parts of a text between the occurrences (`fn:tokenize`)."""
        tried = self._tried(text)
        if not text:
            return []
        found, start = [], 0
        for it in tried.finditer(text):
            found.append(text[start : it.start()])
            start = it.end()
        return [*found, text[start:]]

    def _tried(self, text: str) -> re.Pattern[str]:
        if not self._can_be_tried(text):
            raise LimitReached("a pattern that could take long to replace")
        if self._python.match(""):
            raise Stopped("FORX0003", "a pattern that matches nothing")
        return self._python


def _part_of(match: re.Match[str], part: str | int) -> str:
    return part if isinstance(part, str) else match[part] or ""


def _replacement(text: str, groups: int) -> list[str | int]:
    found: list[str | int] = []
    for it in re.finditer(r"\\(?P<sign>[\\$])|\$(?P<group>\d)|(?P<plain>[^\\$]+)|(?P<wrong>.)", text, re.DOTALL):
        if it["wrong"]:
            raise Stopped("FORX0004", f"the replacement '{text[:40]}' is not valid")
        if it["group"]:
            found.append(int(it["group"]) if int(it["group"]) <= groups else "")
        else:
            found.append(it["sign"] or it["plain"])
    return found


@lru_cache(maxsize=2048)
def pattern(text: str, flags: str = "") -> Pattern:
    """Return a regular expression.

    Raises:
        Stopped: it is not valid.
        LimitReached: it would need too much time or memory.
    """
    if not set(flags) <= set(_FLAGS):
        raise Stopped("FORX0001", f"the flags '{flags}' are not valid")
    if len(text) > _MAX_PATTERN:
        raise LimitReached("a pattern is too long")
    if "q" in flags:
        return Pattern(Chain(tuple(Characters(escaped(it)) for it in text)), flags, 0)
    reader = Reader(text, flags)
    try:
        return Pattern(reader.whole(), flags, reader.groups)
    except RecursionError:
        raise LimitReached("a pattern is nested too deeply") from None
    except (re.error, OverflowError) as error:
        raise Stopped("FORX0002", f"the pattern '{text[:60]}' is not valid: {error}") from None
