"""Messages about the declared specification and the applied rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from einvoice.presentation import Language
from einvoice.result.stack import Stack
from einvoice.result.validation import ValidationResult
from einvoice.rulebook.releases import releases

_MESSAGES: Final[Mapping[str, Mapping[Language, str]]] = {
    "outdated": {
        "de": "Die Rechnung gibt {declared} an, eine veraltete Version; geprüft wurde sie nach {rules}.",
        "en": "The invoice declares {declared}, an outdated version; it was validated against {rules}.",
    },
    "not_there": {
        "de": "Die Rechnung gibt {declared} an. Diese Version ist hier nicht enthalten; geprüft wurde nach den "
        "aktuellen Regeln.",
        "en": "The invoice declares {declared}. That version is not included; it was validated against the "
        "current rules.",
    },
    "later": {
        "de": "Die Rechnung gibt {declared} an, eine neuere Version als die geltende; geprüft wurde sie nach {rules}.",
        "en": "The invoice declares {declared}, a later version than the one in force; it was validated against "
        "{rules}.",
    },
    "unknown": {
        "de": "Die Rechnung gibt keine bekannte Spezifikation an; geprüft wurde sie nach {rules}.",
        "en": "The invoice declares no known specification; it was validated against {rules}.",
    },
}
_DIFFERENCES: Final[Mapping[Language, tuple[str, str, str]]] = {
    "de": (
        "Das aktuelle Regelwerk führt zu denselben Befunden.",
        "Nach dem aktuellen Regelwerk weicht ein Befund ab.",
        "Nach dem aktuellen Regelwerk weichen {count} Befunde ab.",
    ),
    "en": (
        "The current rules report the same findings.",
        "Under the current rules, one finding differs.",
        "Under the current rules, {count} findings differ.",
    ),
}


def compatibility_message(result: ValidationResult, lang: Language) -> str | None:
    """Return how the declared specification relates to the applied rules; None if it is current."""
    status: str = result.stack.status
    if status == "unknown" and result.identity.kind != "unknown":
        status = "later" if releases(result.identity.data).declared(result.identity.family) else "not_there"
    texts = _MESSAGES.get(status)
    if texts is None:
        return None
    specification = f"{result.identity.profile} {result.identity.version}"
    message = texts[lang].format(declared=specification, rules=_applied_rules(result.stack))
    if result.stack.mode == "current":
        return message
    count = len(result.differences)
    return f"{message} {_DIFFERENCES[lang][min(count, 2)].format(count=count)}"


def _applied_rules(stack: Stack) -> str:
    """Return the applied rule set: "XRechnung 3.0.2" or "EN 16931 (1.3.16)"."""
    applied = [layer for layer in stack.layers if layer.kind and layer.executed]
    specific = [layer for layer in applied if layer.kind == "cius" and layer.specification]
    if specific:
        return f"{specific[0].label} {specific[0].specification}"
    return f"{applied[0].label} ({applied[0].version})" if applied else "EN 16931"
