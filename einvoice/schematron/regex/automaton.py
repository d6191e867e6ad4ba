"""Search without trying: all possible places are followed at once."""

from __future__ import annotations

import re
from typing import Final

from einvoice.schematron.errors import LimitReached
from einvoice.schematron.regex.parts import INFINITE, Anchor, Chain, Characters, Choice, Group, Part, Reference, Repeat

_MAX_STEPS: Final = 5_000_000
_MAX_STATES: Final = 20_000


class Automaton:
    """States of a pattern: `steps` are characters with the next state, `free` the states reached without one."""

    def __init__(self, part: Part, flags: str) -> None:
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

    def _add(self, part: Part, start: int) -> int:
        """Add a part behind a state; return the state after it."""
        match part:
            case Characters():
                end = self._state()
                self.steps[start] = re.compile(part.pattern(), self._ignore), end
                return end
            case Anchor(sign):
                return self._go(start, self._state(), sign)
            case Reference():
                raise LimitReached("a pattern that refers to a group and repeats what repeats")
            case Group(inner, _):
                return self._add(inner, start)
            case Chain(parts):
                for it in parts:
                    start = self._add(it, start)
                return start
            case Choice(parts):
                end = self._state()
                for it in parts:
                    self._go(self._add(it, self._go(start, self._state())), end)
                return end
            case Repeat(inner, least, most, _):
                return self._repeat(inner, least, most, start)

    def _repeat(self, part: Part, least: int, most: int, start: int) -> int:
        for _ in range(least):
            start = self._add(part, self._go(start, self._state()))
        if most == INFINITE:
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
