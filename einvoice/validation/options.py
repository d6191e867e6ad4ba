"""The options of a validation, checked when they are made."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from einvoice.result import LANGUAGES, Engine, Language, Mode
from einvoice.rulebook import releases

MODES: Final[tuple[Mode, ...]] = ("current", "compatibility")
ENGINES: Final[tuple[Engine, ...]] = ("native", "reference", "both")
PROFILES: Final = (None, "xrechnung", "facturx")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How documents are validated; `einvoice.validate` describes each option.

    Raises:
        ValueError: an option has an unknown value; the message lists the known ones.
        TypeError: `as_of` is not a date.
    """

    lang: Language = "de"
    mode: Mode = "current"
    profile: str | None = None
    ruleset: str | None = None
    as_of: datetime.date | None = None
    engine: Engine = "native"

    def __post_init__(self) -> None:
        check_language(self.lang)
        _check("mode", self.mode, MODES)
        _check("profile", self.profile, PROFILES)
        _check("engine", self.engine, ENGINES)
        if self.ruleset:
            releases.named(self.ruleset)
        if self.as_of is not None and not isinstance(self.as_of, datetime.date):
            raise TypeError(f"argument 'as_of' must be a datetime.date, not {type(self.as_of).__name__}")


def check_language(lang: str) -> None:
    """Raise ValueError for an unsupported language."""
    _check("lang", lang, LANGUAGES)


def _check(name: str, value: object, known: Iterable[object]) -> None:
    if value not in (allowed := tuple(known)):
        raise ValueError(f"argument {name!r} must be {' or '.join(map(repr, allowed))}, not {value!r}")
