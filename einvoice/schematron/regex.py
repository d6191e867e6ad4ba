"""Regular expressions of XPath: read into a tree, then a pattern of Python, or a search without backtracking.

Python searches by trying; a repetition such as `(a+)+` or `(a|aa)+` can then take time that grows exponentially with
the text. Patterns that repeat more than single characters are therefore matched by following all possible places at
once.

Sources: XML Schema Part 2, F (regular expressions); XQuery 1.0 and XPath 2.0 Functions and Operators, 7.6.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from einvoice.schematron.errors import LimitReached, Stopped

_MAX_PATTERN: Final = 50_000
_MAX_TRIES: Final = 200_000
"""Attempts up to which trying takes acceptable time."""
_ENDLESS: Final = -1
_MAX_STEPS: Final = 5_000_000
_MAX_STATES: Final = 20_000
_INFINITE: Final = -1
_FLAGS: Final = "smixq"


@dataclass(frozen=True, slots=True)
class _Characters:
    """One character of a set, as the content of a class of Python's patterns."""

    content: str
    is_negated: bool = False
    without: _Characters | None = None

    def pattern(self) -> str:
        """Return the pattern of Python."""
        own = f"[{'^' * self.is_negated}{self.content}]"
        return f"(?!{self.without.pattern()}){own}" if self.without else own


@dataclass(frozen=True, slots=True)
class _Anchor:
    """The begin (`^`) or the end (`$`) of the text, or of a line."""

    sign: str


@dataclass(frozen=True, slots=True)
class _Reference:
    """The text of a group before it."""

    number: int


@dataclass(frozen=True, slots=True)
class _Repeat:
    """A part `least` to `most` times; `most` -1 is any number of times."""

    part: _Part
    least: int
    most: int
    is_lazy: bool


@dataclass(frozen=True, slots=True)
class _Group:
    """A part in parentheses; number 0 for `(?:…)`."""

    part: _Part
    number: int


@dataclass(frozen=True, slots=True)
class _Chain:
    """Parts one after another."""

    parts: tuple[_Part, ...]


@dataclass(frozen=True, slots=True)
class _Choice:
    """One of several parts."""

    parts: tuple[_Part, ...]


_Part = _Characters | _Anchor | _Reference | _Repeat | _Group | _Chain | _Choice

_BLANK: Final = r" \t\n\r"
_INITIAL: Final = r"_:A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u1fff\u200c\u200d\u2070-\u218f\u3001-\ud7ff"
_CLASSES: Final = {
    "s": _BLANK,
    "d": r"\d",
    "w": r"\w",
    "i": _INITIAL,
    "c": _INITIAL + r"\-.0-9\u00b7\u0300-\u036f",
}
_SINGLE: Final = {"n": r"\n", "r": r"\r", "t": r"\t"}
_BLOCKS: Final = {
    "BasicLatin": r"\x00-\x7f",
    "Latin-1Supplement": r"\x80-\xff",
    "LatinExtended-A": r"\u0100-\u017f",
    "LatinExtended-B": r"\u0180-\u024f",
    "Greek": r"\u0370-\u03ff",
    "GreekandCoptic": r"\u0370-\u03ff",
    "Cyrillic": r"\u0400-\u04ff",
    "Hebrew": r"\u0590-\u05ff",
    "Arabic": r"\u0600-\u06ff",
}
_MARKS: Final = "\\|.?*+(){}[]-^$"


class _Reader:
    """Reads a pattern by the grammar of XML Schema, with the additions of XPath."""

    def __init__(self, text: str, flags: str) -> None:
        self._text = _without_blanks(text) if "x" in flags else text
        self._flags = flags
        self._at = 0
        self.groups = 0

    def whole(self) -> _Part:
        """Read the whole pattern."""
        found = self._choice()
        if self._at < len(self._text):
            self._fail("unexpected character")
        return found

    def _fail(self, reason: str) -> Stopped:
        raise Stopped("FORX0002", f"{reason} at {self._at} in the pattern '{self._text[:60]}'")

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self, text: str) -> bool:
        found = self._text.startswith(text, self._at)
        self._at += len(text) * found
        return found

    def _next(self) -> str:
        if self._at >= len(self._text):
            self._fail("unexpected end")
        self._at += 1
        return self._text[self._at - 1]

    def _choice(self) -> _Part:
        parts = [self._chain()]
        while self._take("|"):
            parts.append(self._chain())
        return parts[0] if len(parts) == 1 else _Choice(tuple(parts))

    def _chain(self) -> _Part:
        parts = []
        while self._peek() not in ("", "|", ")"):
            parts.append(self._repeated())
        return parts[0] if len(parts) == 1 else _Chain(tuple(parts))

    def _repeated(self) -> _Part:
        part = self._atom()
        while (sign := self._peek()) and sign in "?*+{":
            self._at += 1
            least, most = {"?": (0, 1), "*": (0, _INFINITE), "+": (1, _INFINITE)}.get(sign) or self._quantity()
            part = _Repeat(part, least, most, self._take("?"))
        return part

    def _quantity(self) -> tuple[int, int]:
        match = re.compile(r"(\d{1,9})(?:(,)(\d{0,9}))?\}", re.ASCII).match(self._text, self._at)
        if match is None:
            self._fail("a quantity is not valid")
            raise AssertionError
        self._at = match.end()
        least = int(match[1])
        most = least if not match[2] else int(match[3]) if match[3] else _INFINITE
        return least, most

    def _atom(self) -> _Part:
        sign = self._next()
        if sign == "(":
            number = 0
            if not self._take("?:"):
                self.groups += 1
                number = self.groups
            part = self._choice()
            if not self._take(")"):
                self._fail("a parenthesis is not closed")
            return _Group(part, number)
        if sign == "[":
            return self._class()
        if sign == ".":
            return _Characters(r"\s\S") if "s" in self._flags else _Characters(r"\n\r", is_negated=True)
        if sign in "^$":
            return _Anchor(sign)
        if sign == "\\":
            return self._escape()
        if sign in "?*+{}])":
            self._fail("unexpected character")
        return _Characters(_escaped(sign))

    def _escape(self) -> _Part:
        if self._peek().isdecimal() and self._peek() != "0":
            return _Reference(int(self._next()))
        content, is_negated = self._escaped_set()
        return _Characters(content, is_negated)

    def _escaped_set(self) -> tuple[str, bool]:
        """Read what follows a backslash; return the content of a class, and whether it is negated."""
        sign = self._next()
        if sign in _SINGLE:
            return _SINGLE[sign], False
        if sign.lower() in _CLASSES:
            return _CLASSES[sign.lower()], sign.isupper()
        if sign in "pP":
            if not self._take("{"):
                self._fail("a category is missing")
            end = self._text.find("}", self._at)
            name = self._text[self._at : end]
            self._at = end + 1
            return _category(name), sign == "P"
        if sign not in _MARKS:
            self._fail(f"'\\{sign}' is not known")
        return _escaped(sign), False

    def _class(self) -> _Characters:
        is_negated = self._take("^")
        parts: list[str] = []
        without = None
        while not (parts and self._take("]")):
            if parts and self._take("-["):
                without = self._class()
                if not self._take("]"):
                    self._fail("a class is not closed")
                break
            parts.append(self._member())
        return _Characters("".join(parts), is_negated, without)

    def _member(self) -> str:
        first, is_set = self._one()
        is_range = not is_set and self._peek() == "-" and self._text[self._at + 1 : self._at + 2] not in ("]", "[", "")
        if not is_range:
            return first
        self._at += 1
        last, is_set = self._one()
        if is_set:
            self._fail("a range ends with a set")
        return f"{first}-{last}"

    def _one(self) -> tuple[str, bool]:
        sign = self._next()
        if sign != "\\":
            return _escaped(sign), False
        kind = self._peek()
        content, is_negated = self._escaped_set()
        if is_negated:
            content = _complement(content)
        return content, kind.lower() in _CLASSES or kind in "pP"


def _without_blanks(text: str) -> str:
    """Return a pattern without the white space outside of classes (flag x)."""
    return "".join(
        it if it.startswith("[") else "".join(it.split()) for it in re.findall(r"\[[^\]]*\]|[^\[]+|\[", text)
    )


def _escaped(sign: str) -> str:
    return re.escape(sign) if sign in "\\]^-[&~|" or not sign.isprintable() else sign


_PLANE: Final = 0x10000


@lru_cache(maxsize=128)
def _category(name: str) -> str:
    """Return the characters of a Unicode category or block, as ranges."""
    if name.startswith("Is"):
        if name[2:] not in _BLOCKS:
            raise Stopped("FORX0002", f"the block '{name}' is not supported")
        return _BLOCKS[name[2:]]
    if not re.fullmatch("[LMNPZSC][a-z]?", name):
        raise Stopped("FORX0002", f"the category '{name}' is not known")
    return _ranges(lambda sign: unicodedata.category(sign).startswith(name))


@lru_cache(maxsize=128)
def _complement(content: str) -> str:
    """Return the characters that a class does not contain; a class within a class cannot be negated in Python."""
    known = re.compile(f"[{content}]")
    return _ranges(lambda sign: not known.match(sign))


def _ranges(test: Callable[[str], bool]) -> str:
    found, start = [], None
    for code in range(_PLANE + 1):
        is_in = code < _PLANE and test(chr(code))
        if is_in and start is None:
            start = code
        elif not is_in and start is not None:
            found.append(f"\\u{start:04x}-\\u{code - 1:04x}")
            start = None
    return "".join(found)


def _walk(part: _Part) -> Iterator[_Part]:
    yield part
    inner = part.parts if isinstance(part, _Chain | _Choice) else ()
    for it in (*inner, part.part) if isinstance(part, _Repeat | _Group) else inner:
        yield from _walk(it)


def _written(part: _Part, flags: str) -> str:
    """Return a pattern of Python."""
    match part:
        case _Characters():
            return part.pattern()
        case _Anchor(sign):
            return {"^": "(?m:^)", "$": "(?m:$)"}[sign] if "m" in flags else {"^": r"\A", "$": r"\Z"}[sign]
        case _Reference(number):
            return f"(?:\\{number})"
        case _Group(inner, number):
            return f"({_written(inner, flags)})" if number else f"(?:{_written(inner, flags)})"
        case _Repeat(inner, least, most, is_lazy):
            quantity = f"{{{least},{'' if most == _INFINITE else most}}}{'?' * is_lazy}"
            return f"(?:{_written(inner, flags)}){quantity}"
        case _Chain(parts):
            return "".join(_written(it, flags) for it in parts)
        case _Choice(parts):
            return f"(?:{'|'.join(_written(it, flags) for it in parts)})"


def _choices(part: _Part) -> int:
    """Return how many parts match a number of characters that is found by trying; -1 if trying could take too long.

    Trying `n` of them takes time that grows with the length of the text to the power of `n`.
    """
    repeats = [it for it in _walk(part) if isinstance(it, _Repeat)]
    variable = [it for it in repeats if it.least != it.most]
    if any(isinstance(it, _Reference) for it in _walk(part)) and variable:
        return _ENDLESS
    many = [it for it in repeats if it.most == _INFINITE or it.most > 1]
    single = all(isinstance(_without_groups(it.part), _Characters) for it in many)
    return len(variable) if single else _ENDLESS


def _without_groups(part: _Part) -> _Part:
    while isinstance(part, _Group):
        part = part.part
    return part


# ---------------------------------------------------------------- search without trying


class _Automaton:
    """States of a pattern: `steps` are characters with the next state, `free` the states reached without one."""

    def __init__(self, part: _Part, flags: str) -> None:
        self._ignore = re.IGNORECASE if "i" in flags else 0
        self._flags = flags
        self.steps: dict[int, tuple[re.Pattern[str], int]] = {}
        self.free: dict[int, list[tuple[str, int]]] = {}
        self._count = 0
        self.start = self._state()
        self.end = self._add(part, self.start)

    def _state(self) -> int:
        self._count += 1
        if self._count > _MAX_STATES:
            raise LimitReached("a pattern with too many states")
        return self._count

    def _go(self, start: int, end: int, anchor: str = "") -> int:
        self.free.setdefault(start, []).append((anchor, end))
        return end

    def _add(self, part: _Part, start: int) -> int:
        """Add a part behind a state; return the state after it."""
        match part:
            case _Characters():
                end = self._state()
                self.steps[start] = re.compile(part.pattern(), self._ignore), end
                return end
            case _Anchor(sign):
                return self._go(start, self._state(), sign)
            case _Reference():
                raise LimitReached("a pattern that refers to a group and repeats what repeats")
            case _Group(inner, _):
                return self._add(inner, start)
            case _Chain(parts):
                for it in parts:
                    start = self._add(it, start)
                return start
            case _Choice(parts):
                end = self._state()
                for it in parts:
                    self._go(self._add(it, self._go(start, self._state())), end)
                return end
            case _Repeat(inner, least, most, _):
                return self._repeat(inner, least, most, start)

    def _repeat(self, part: _Part, least: int, most: int, start: int) -> int:
        for _ in range(least):
            start = self._add(part, self._go(start, self._state()))
        if most == _INFINITE:
            start = self._go(start, self._state())
            end = self._state()
            self._go(start, end)
            self._go(self._add(part, self._go(start, self._state())), start)
            return end
        end = self._state()
        for _ in range(most - least):
            self._go(start, end)
            start = self._add(part, self._go(start, self._state()))
        return self._go(start, end)

    def found_in(self, text: str) -> bool:
        """Return whether the pattern occurs in a text."""
        steps = 0
        states: set[int] = set()
        for place in range(len(text) + 1):
            states = self._reached({*states, self.start}, text, place)
            if self.end in states:
                return True
            steps += len(states)
            if steps > _MAX_STEPS:
                raise LimitReached("a pattern takes too long")
            if place < len(text):
                tried = (self.steps[it] for it in states if it in self.steps)
                states = {end for characters, end in tried if characters.match(text, place, place + 1)}
        return False

    def _reached(self, states: set[int], text: str, place: int) -> set[int]:
        found, waiting = set(states), list(states)
        while waiting:
            for anchor, end in self.free.get(waiting.pop(), ()):
                if end not in found and (not anchor or self._holds(anchor, text, place)):
                    found.add(end)
                    waiting.append(end)
        return found

    def _holds(self, anchor: str, text: str, place: int) -> bool:
        if "m" in self._flags:
            around = text[place - 1 : place] if anchor == "^" else text[place : place + 1]
            return around in ("", "\n")
        return place == (0 if anchor == "^" else len(text))


class Pattern:
    """A regular expression of XPath.

    Args:
        part: its tree.
        flags: the flags of XPath.
        groups: number of its groups.
    """

    def __init__(self, part: _Part, flags: str, groups: int) -> None:
        self._part, self._flags, self._groups = part, flags, groups
        self._choices = _choices(part)
        self._python = re.compile(_written(part, flags), re.IGNORECASE if "i" in flags else 0)

    @cached_property
    def _automaton(self) -> _Automaton:
        return _Automaton(self._part, self._flags)

    def _can_be_tried(self, text: str) -> bool:
        if self._choices in (0, 1):
            return True
        return self._choices != _ENDLESS and (len(text) + 1) ** self._choices <= _MAX_TRIES

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
        return Pattern(_Chain(tuple(_Characters(_escaped(it)) for it in text)), flags, 0)
    reader = _Reader(text, flags)
    try:
        return Pattern(reader.whole(), flags, reader.groups)
    except RecursionError:
        raise LimitReached("a pattern is nested too deeply") from None
    except (re.error, OverflowError) as error:
        raise Stopped("FORX0002", f"the pattern '{text[:60]}' is not valid: {error}") from None
