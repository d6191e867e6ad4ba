"""The parts of a pattern, and the pattern of Python that says the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

INFINITE: Final = -1
"""How often a part occurs that may occur any number of times."""
ENDLESS: Final = -1
"""What `choices` returns for a part for which trying could take too long."""


@dataclass(frozen=True, slots=True)
class Characters:
    """One character of a set, as the content of a class of Python's patterns."""

    content: str
    is_negated: bool = False
    without: Characters | None = None

    def pattern(self) -> str:
        """Return the pattern of Python."""
        own = f"[{'^' * self.is_negated}{self.content}]"
        return f"(?!{self.without.pattern()}){own}" if self.without else own


@dataclass(frozen=True, slots=True)
class Anchor:
    """The begin (`^`) or the end (`$`) of the text, or of a line."""

    sign: str


@dataclass(frozen=True, slots=True)
class Reference:
    """The text of a group before it."""

    number: int


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part `least` to `most` times; `most` -1 is any number of times."""

    part: Part
    least: int
    most: int
    is_lazy: bool


@dataclass(frozen=True, slots=True)
class Group:
    """A part in parentheses; number 0 for `(?:…)`."""

    part: Part
    number: int


@dataclass(frozen=True, slots=True)
class Chain:
    """Parts one after another."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several parts."""

    parts: tuple[Part, ...]


Part = Characters | Anchor | Reference | Repeat | Group | Chain | Choice


def walk(part: Part) -> Iterator[Part]:
    """Yield a part and all parts inside it."""
    yield part
    inner = part.parts if isinstance(part, Chain | Choice) else ()
    for it in (*inner, part.part) if isinstance(part, Repeat | Group) else inner:
        yield from walk(it)


def written(part: Part, flags: str) -> str:
    """Return a pattern of Python."""
    match part:
        case Characters():
            return part.pattern()
        case Anchor(sign):
            return {"^": "(?m:^)", "$": "(?m:$)"}[sign] if "m" in flags else {"^": r"\A", "$": r"\Z"}[sign]
        case Reference(number):
            return f"(?:\\{number})"
        case Group(inner, number):
            return f"({written(inner, flags)})" if number else f"(?:{written(inner, flags)})"
        case Repeat(inner, least, most, is_lazy):
            quantity = f"{{{least},{'' if most == INFINITE else most}}}{'?' * is_lazy}"
            return f"(?:{written(inner, flags)}){quantity}"
        case Chain(parts):
            return "".join(written(it, flags) for it in parts)
        case Choice(parts):
            return f"(?:{'|'.join(written(it, flags) for it in parts)})"


def choices(part: Part) -> int:
    """Return how many parts match a number of characters found by trying; `ENDLESS` if that could take too long.

    Trying `n` of them takes time that grows with the length of the text to the power of `n`.
    """
    repeats = [it for it in walk(part) if isinstance(it, Repeat)]
    variable = [it for it in repeats if it.least != it.most]
    if any(isinstance(it, Reference) for it in walk(part)) and variable:
        return ENDLESS
    many = [it for it in repeats if it.most == INFINITE or it.most > 1]
    single = all(isinstance(without_groups(it.part), Characters) for it in many)
    return len(variable) if single else ENDLESS


def without_groups(part: Part) -> Part:
    """Return what is in the parentheses of a part."""
    while isinstance(part, Group):
        part = part.part
    return part
