"""Severities that KoSIT publishes for documents that declare XRechnung; they override the flags of the rules."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from einvoice import errors
from einvoice.codelists import holds
from einvoice.resources import rules_folder
from einvoice.syntax.detect import Identity, specifications

Severity: TypeAlias = Literal["fatal", "warning", "information"]


@dataclass(frozen=True, slots=True)
class Override:
    """The severity that replaces the flag of a rule, and the reason in both languages."""

    severity: Severity
    reason_de: str
    reason_en: str


def overrides(identity: Identity, release: str | None = None) -> Mapping[str, Override]:
    """Return the published overrides for a document, by rule code; none for most specifications.

    `release` is that of the XRechnung rules; None is the newest.

    Raises:
        errors.RuleError: `rules/overrides.toml` is invalid.
    """
    return _table(release).get((identity.specification.name, identity.root), {})


@cache
def _table(release: str | None) -> Mapping[tuple[str, str], Mapping[str, Override]]:
    """Return the overrides of a release by specification and root element."""
    file = rules_folder() / "overrides.toml"
    with file.open("rb") as source:
        entries = tomllib.load(source)["override"]
    table: dict[tuple[str, str], dict[str, Override]] = {}
    for entry in entries:
        if not holds(entry.get("since", ""), entry.get("until", ""), release):
            continue
        override = Override(entry["severity"], entry["de"], entry["en"])
        for name in entry.get("specifications", specifications()):
            if name not in specifications():
                raise errors.RuleError(f"unknown specification {name!r}", file=file.name, key="specifications")
            for root in entry["roots"]:
                codes = table.setdefault((name, root), {})
                for code in entry["codes"]:
                    if code in codes:
                        raise errors.RuleError(f"{code} is overridden twice for {name}, {root}", file=file.name)
                    codes[code] = override
    return table
