"""Options of a validation."""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from einvoice.errors import SettingError
from einvoice.resources import RuleData
from einvoice.result.languages import Language, check_language
from einvoice.result.stack import Engine, Mode
from einvoice.rulebook.releases import releases

MODES: Final[tuple[Mode, ...]] = ("current", "compatibility")
ENGINES: Final[tuple[Engine, ...]] = ("native", "reference", "both")
PLAUSIBILITY: Final = "EINVOICE_PLAUSIBILITY"
"""Environment variable for the default of the option `plausibility`: on or off."""
PICTURE: Final = "EINVOICE_PICTURE"
"""Environment variable for the default of the option `picture`: on or off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How documents are validated; `einvoice.validate` describes each option. `data` is the rule data.

    Raises:
        ValueError: an option has an unknown value; the message lists the valid ones.
        TypeError: `as_of` is not a date.
    """

    lang: Language = "de"
    mode: Mode = "current"
    profile: str | None = None
    ruleset: str | None = None
    as_of: datetime.date | None = None
    engine: Engine = "native"
    plausibility: bool = True
    picture: bool = True
    data: RuleData | None = None

    def __post_init__(self) -> None:
        check_language(self.lang)
        _check("mode", self.mode, MODES)
        _check("engine", self.engine, ENGINES)
        if self.profile is not None:
            known = releases(self.data).sets
            _check("profile", self.profile, (None, *(name for name in known if not known[name].is_informative)))
        if self.ruleset:
            releases(self.data).named(self.ruleset)
        if self.as_of is not None and not isinstance(self.as_of, datetime.date):
            raise TypeError(f"argument 'as_of' must be a datetime.date, not {type(self.as_of).__name__}")


def plausibility(value: bool | None) -> bool:
    """Return the option `plausibility`, by default that of the environment.

    Raises:
        ValueError: the environment variable is neither "on" nor "off".
    """
    return _is_on(PLAUSIBILITY) if value is None else value


def picture(value: bool | None) -> bool:
    """Return the option `picture`, by default that of the environment.

    Raises:
        ValueError: the environment variable is neither "on" nor "off".
    """
    return _is_on(PICTURE) if value is None else value


def _is_on(variable: str) -> bool:
    setting = os.environ.get(variable) or "on"
    if setting not in ("on", "off"):
        raise SettingError(f"environment variable {variable} must be 'on' or 'off', not {setting!r}")
    return setting == "on"


def _check(name: str, value: str, valid: Sequence[str | None]) -> None:
    if value not in valid:
        raise ValueError(f"argument {name!r} must be {' or '.join(map(repr, valid))}, not {value!r}")
