"""Options of a validation."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Final

from einvoice.resources import RuleData
from einvoice.result.languages import Language, check_language
from einvoice.result.stack import Engine, Mode
from einvoice.rulebook.releases import releases

MODES: Final[tuple[Mode, ...]] = ("current", "compatibility")
ENGINES: Final[tuple[Engine, ...]] = ("native", "reference", "both")


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
    data: RuleData | None = None

    def __post_init__(self) -> None:
        check_language(self.lang)
        profiles = (None, *releases(self.data).sets)
        for name, valid in (("mode", MODES), ("profile", profiles), ("engine", ENGINES)):
            if getattr(self, name) not in valid:
                raise ValueError(
                    f"argument {name!r} must be {' or '.join(map(repr, valid))}, not {getattr(self, name)!r}"
                )
        if self.ruleset:
            releases(self.data).named(self.ruleset)
        if self.as_of is not None and not isinstance(self.as_of, datetime.date):
            raise TypeError(f"argument 'as_of' must be a datetime.date, not {type(self.as_of).__name__}")
