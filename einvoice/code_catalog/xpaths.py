"""Convert the paths of syntax rules to XPath 1.0.

`rules/syntax/README.md` describes the notation of the tables. Prefixes are those of `einvoice.NAMESPACES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from einvoice.resources import RuleData
from einvoice.rulebook.files.conditions import xpath_of

#: The root of a context that begins with `/`; in UBL it is an invoice or a credit note.
_ROOTS: Final = {"UBL": "/*", "CII": "/rsm:CrossIndustryInvoice"}


def xpath_of_row(row: Mapping[str, str], syntax: str, data: RuleData | None = None) -> str:
    """Return the XPath of a row.

    >>> xpath_of_row({"context": "//ram:*Amount", "path": "@currencyID"}, "CII")
    "//ram:*[substring(local-name(), string-length(local-name()) - 5) = 'Amount']/@currencyID"
    """
    return " | ".join(
        "/".join(_step(step, syntax, data) for step in _whole(context, path, syntax).split("/"))
        for context in row["context"].split(" ")
        for path in row["path"].split(", ")
    )


def _whole(context: str, path: str, syntax: str) -> str:
    if path.startswith("//"):
        return path
    above = context if context.startswith("//") else _ROOTS[syntax] + context.rstrip("/")
    return above if path == "." else f"{above}/{path}"


def _step(step: str, syntax: str, data: RuleData | None) -> str:
    names, bracket, word = step.partition("[")
    return _named(names) + (f"[{xpath_of(syntax, word.rstrip(']'), data)}]" if bracket else "")


def _named(names: str) -> str:
    if "|" in names:
        return "*[" + " or ".join(f"self::{name}" for name in names.split("|")) + "]"
    prefix, star, ending = names.partition("*")
    if not star or not ending:
        return names
    return f"{prefix}*[substring(local-name(), string-length(local-name()) - {len(ending) - 1}) = '{ending}']"
