"""Messages about the declared specification and the applied rules."""

from __future__ import annotations

from typing import Final

from einvoice.localization import Language, Messages
from einvoice.result.stack import Stack
from einvoice.result.validation import ValidationResult
from einvoice.rulebook.releases import releases

_MESSAGES: Final = Messages("einvoice.render", "compatibility")
_DIFFERENCES: Final = Messages("einvoice.render", "differences")


def compatibility_message(result: ValidationResult, lang: Language) -> str | None:
    """Return how the declared specification relates to the applied rules; None if it is current."""
    status: str = result.stack.status
    if status == "current":
        return None
    if result.identity.kind == "edition":
        status = "edition"
    elif not result.identity.specification.has_rules:
        status = "without_rules"
    elif status == "unknown" and result.identity.kind != "unknown":
        status = "later" if releases(result.identity.data).declared(result.identity.family) else "not_there"
    text = _MESSAGES[lang][status]
    specification = f"{result.identity.profile} {result.identity.version}".rstrip()
    message = text.format(declared=specification, rules=_applied_rules(result.stack))
    if result.stack.mode == "current":
        return message
    count = len(result.differences)
    number = "none" if count == 0 else "one" if count == 1 else "many"
    return f"{message} {_DIFFERENCES[lang][number].format(count=count)}"


def _applied_rules(stack: Stack) -> str:
    """Return the applied rule set: "XRechnung 3.0.2" or "EN 16931 (1.3.16)"."""
    applied = [layer for layer in stack.layers if layer.kind and layer.executed]
    specific = [layer for layer in applied if layer.kind == "cius" and layer.specification]
    if specific:
        return f"{specific[0].label} {specific[0].specification}"
    return f"{applied[0].label} ({applied[0].version})" if applied else "EN 16931"
