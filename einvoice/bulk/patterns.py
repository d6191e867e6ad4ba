"""Selection of findings by code, pattern or severity."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any, Final

from einvoice.rulebook.rule import SEVERITIES

_MAX_LISTED: Final = 5


def check(name: str, value: str | None, valid: Sequence[str]) -> None:
    """Raise ValueError if the value is not valid; list the valid ones, or of many the most similar ones."""
    if value is None or value in valid:
        return
    listed = valid if len(valid) <= _MAX_LISTED else get_close_matches(str(value), valid)
    hint = f"; {'valid are' if listed is valid else 'similar are'} {', '.join(listed)}" if listed else ""
    raise ValueError(f"unknown {name} {value!r}{hint}")


def check_patterns(patterns: Iterable[str], codes: Collection[str]) -> None:
    """Raise ValueError if a pattern of `ResultSet.select_findings` is neither a severity nor matches a code."""
    for pattern in patterns:
        if pattern not in SEVERITIES and not any(fnmatchcase(code, pattern) for code in codes):
            check("code", pattern, tuple(codes))


def matches(finding: Mapping[str, Any], patterns: Sequence[str]) -> bool:
    """Return whether the code or the severity of a stored finding is among the patterns."""
    return finding["severity"] in patterns or any(fnmatchcase(finding["code"], pattern) for pattern in patterns)
