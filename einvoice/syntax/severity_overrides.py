"""Published severities that override the flags of the rules, for documents that declare certain specifications.

They are in the file `overrides.toml` of a rule set.
"""

import functools
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from einvoice import cache, errors
from einvoice.codelists import holds
from einvoice.localization import Language, TranslatedTexts, languages
from einvoice.resources import RuleData, shipped
from einvoice.syntax.detect import Identity
from einvoice.syntax.specifications import specifications

Stack: TypeAlias = tuple[tuple[str, str], ...]
"""Rule sets, each with its release."""
Severity: TypeAlias = Literal["fatal", "warning", "information"]


class Override(NamedTuple):
    """The severity that replaces the flag of a rule, and the reasons by language."""

    severity: Severity
    reasons: Mapping[Language, str]

    def __hash__(self) -> int:
        return hash(self.severity)  # findings are hashable, mappings are not


def overrides(identity: Identity, stack: Stack, data: RuleData | None = None) -> Mapping[str, Override]:
    """Return the published overrides for a document, by rule code; none for most specifications.

    Args:
        identity: identity of the document.
        stack: the rule sets, each with its release.
        data: the rule data; None is the shipped one.

    Raises:
        errors.RuleError: a file `overrides.toml` is invalid.
    """
    return read(stack, data or shipped()).get((identity.specification.name, identity.root), {})


@functools.cache
def read(stack: Stack, data: RuleData) -> Mapping[tuple[str, str], Mapping[str, Override]]:
    """Return the overrides of the rule sets by specification and root element.

    Raises:
        errors.RuleError: a file `overrides.toml` is invalid.
    """
    table: dict[tuple[str, str], dict[str, Override]] = {}
    for ruleset, release in stack:
        file = data.sets[ruleset] / "overrides.toml"
        if file.exists():
            for entry in cache.toml(file)["override"]:
                if holds(entry.get("since", ""), entry.get("until", ""), release):
                    _add(table, entry, data, ruleset)
    return table


def _add(
    table: dict[tuple[str, str], dict[str, Override]], entry: Mapping[str, Any], data: RuleData, ruleset: str
) -> None:
    texts = {lang: entry[lang] for lang in languages() if lang in entry}
    reasons = TranslatedTexts(texts, data.sets[ruleset], "overrides", entry.get("name", ""))
    override, file = Override(entry["severity"], reasons), f"{ruleset}/overrides.toml"
    known = specifications(data)
    for name in entry.get("specifications", known):
        if name not in known:
            raise errors.RuleError(f"unknown specification {name!r}", file=file, key="specifications")
        for root in entry["roots"]:
            codes = table.setdefault((name, root), {})
            for code in entry["codes"]:
                if code in codes:
                    raise errors.RuleError(f"{code} is overridden twice for {name}, {root}", file=file)
                codes[code] = override
