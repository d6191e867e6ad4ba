"""Reads a pattern by the grammar of XML Schema, with the additions of XPath."""

from __future__ import annotations

import re
from typing import Final

from einvoice.schematron.errors import Stopped
from einvoice.schematron.regex.characters import category, complement
from einvoice.schematron.regex.parts import INFINITE, Anchor, Chain, Characters, Choice, Group, Part, Reference, Repeat

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
_MARKS: Final = "\\|.?*+(){}[]-^$"


class Reader:
    """Reads a pattern by the grammar of XML Schema, with the additions of XPath."""

    def __init__(self, text: str, flags: str) -> None:
        self._text = _without_blanks(text) if "x" in flags else text
        self._flags = flags
        self._at = 0
        self.groups = 0

    def whole(self) -> Part:
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

    def _choice(self) -> Part:
        parts = [self._chain()]
        while self._take("|"):
            parts.append(self._chain())
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def _chain(self) -> Part:
        parts = []
        while self._peek() not in ("", "|", ")"):
            parts.append(self._repeated())
        return parts[0] if len(parts) == 1 else Chain(tuple(parts))

    def _repeated(self) -> Part:
        part = self._atom()
        while (sign := self._peek()) and sign in "?*+{":
            self._at += 1
            least, most = {"?": (0, 1), "*": (0, INFINITE), "+": (1, INFINITE)}.get(sign) or self._quantity()
            part = Repeat(part, least, most, self._take("?"))
        return part

    def _quantity(self) -> tuple[int, int]:
        match = re.compile(r"(\d{1,9})(?:(,)(\d{0,9}))?\}", re.ASCII).match(self._text, self._at)
        if match is None:
            self._fail("a quantity is not valid")
            raise AssertionError
        self._at = match.end()
        least = int(match[1])
        most = least if not match[2] else int(match[3]) if match[3] else INFINITE
        return least, most

    def _atom(self) -> Part:
        sign = self._next()
        if sign == "(":
            number = 0
            if not self._take("?:"):
                self.groups += 1
                number = self.groups
            part = self._choice()
            if not self._take(")"):
                self._fail("a parenthesis is not closed")
            return Group(part, number)
        if sign == "[":
            return self._class()
        if sign == ".":
            return Characters(r"\s\S") if "s" in self._flags else Characters(r"\n\r", is_negated=True)
        if sign in "^$":
            return Anchor(sign)
        if sign == "\\":
            return self._escape()
        if sign in "?*+{}])":
            self._fail("unexpected character")
        return Characters(escaped(sign))

    def _escape(self) -> Part:
        if self._peek().isdecimal() and self._peek() != "0":
            return Reference(int(self._next()))
        content, is_negated = self._escaped_set()
        return Characters(content, is_negated)

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
            return category(name), sign == "P"
        if sign not in _MARKS:
            self._fail(f"'\\{sign}' is not known")
        return escaped(sign), False

    def _class(self) -> Characters:
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
        return Characters("".join(parts), is_negated, without)

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
            return escaped(sign), False
        kind = self._peek()
        content, is_negated = self._escaped_set()
        if is_negated:
            content = complement(content)
        return content, kind.lower() in _CLASSES or kind in "pP"


def _without_blanks(text: str) -> str:
    """Return a pattern without the white space outside of classes (flag x)."""
    return "".join(
        it if it.startswith("[") else "".join(it.split()) for it in re.findall(r"\[[^\]]*\]|[^\[]+|\[", text)
    )


def escaped(sign: str) -> str:
    """Return a character as the content of a class of Python's patterns."""
    return re.escape(sign) if sign in "\\]^-[&~|" or not sign.isprintable() else sign
