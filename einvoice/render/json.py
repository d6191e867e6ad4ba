"""The answer of the HTTP interface: a result as plain data, ready for JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from einvoice.result.languages import Language
from einvoice.rulebook.releases import declared

if TYPE_CHECKING:
    from einvoice.result.stack import Stack
    from einvoice.result.validation import ValidationResult

_ARTIFACTS: Final = ("validation_report_pdf", "readable_invoice_pdf")

_NOT_APPLIED: Final[Mapping[Language, str]] = {
    "de": "nicht angewendet, da die Rechnung XRechnung nicht angibt",
    "en": "not applied, since the invoice does not declare XRechnung",
}
_NO_EN16931: Final[Mapping[Language, str]] = {
    "de": "nicht angewendet, da die angegebene Stufe keine Rechnung nach EN 16931 ist",
    "en": "not applied, since the declared level is not an invoice under EN 16931",
}
_MESSAGES: Final[Mapping[str, Mapping[Language, str]]] = {
    "outdated": {
        "de": "Die Rechnung gibt {declared} an, eine überholte Fassung; beurteilt wurde sie nach {judged}.",
        "en": "The invoice declares {declared}, an outdated version; it was judged by {judged}.",
    },
    "not_there": {
        "de": "Die Rechnung gibt {declared} an. Diese Fassung ist hier nicht vorhanden; beurteilt wurde nach den "
        "heutigen Regeln.",
        "en": "The invoice declares {declared}. That version is not part of this installation; it was judged by the "
        "rules of today.",
    },
    "later": {
        "de": "Die Rechnung gibt {declared} an, eine spätere Fassung als die hier geltende; beurteilt wurde sie nach "
        "{judged}.",
        "en": "The invoice declares {declared}, a later version than the one in force here; it was judged by {judged}.",
    },
    "unknown": {
        "de": "Die Rechnung gibt keine bekannte Spezifikation an; beurteilt wurde sie nach {judged}.",
        "en": "The invoice declares no known specification; it was judged by {judged}.",
    },
}
_DIFFERENCES: Final[Mapping[Language, tuple[str, str, str]]] = {
    "de": (
        "Die heutigen Regeln kommen zu denselben Befunden.",
        "Nach den heutigen Regeln ist ein Befund anders.",
        "Nach den heutigen Regeln sind {count} Befunde anders.",
    ),
    "en": (
        "The rules of today come to the same findings.",
        "By the rules of today one finding differs.",
        "By the rules of today {count} findings differ.",
    ),
}


def answer(result: ValidationResult, lang: Language) -> dict[str, Any]:
    """The result in the shape of the HTTP interface; texts in `lang`, numbers as decimal text."""
    return {
        "status": "done",
        "validation_mode": result.stack.mode,
        "is_valid": result.is_valid,
        "xrechnung_version": result.stack.national.specification,
        "validation_profile": result.identity.profile,
        "validation_format": result.identity.syntax,
        "processing_time_ms": result.processing_time_ms,
        "errors": [finding.to_dict(lang) for finding in result.errors],
        "warnings": [finding.to_dict(lang) for finding in result.warnings],
        "validation_details": {
            "invoice_identity": _identity(result),
            "validation_stack": _stack(result, lang),
            "compatibility": {
                "status": result.stack.status,
                "message": standing(result, lang),
                "differences": [difference.to_dict(lang) for difference in result.differences],
            },
            **({"container": result.container.to_dict(lang)} if result.container else {}),
            **({"reference": result.agreement.to_dict(lang)} if result.agreement else {}),
        },
        "invoice_summary": dataclasses.asdict(result.summary),
        "artifacts": {name: {"available": False, "url": None, "expires_in_seconds": None} for name in _ARTIFACTS},
    }


def _identity(result: ValidationResult) -> dict[str, str]:
    identity = result.identity
    known = {
        "syntax": identity.syntax,
        "root": identity.root,
        "declared_profile": identity.profile,
        "declared_version": identity.version,
    }
    if identity.customization_id is not None:
        known["customization_id"] = identity.customization_id
    return known


def _stack(result: ValidationResult, lang: Language) -> dict[str, Any]:
    stack = result.stack
    return {
        "mode": stack.mode,
        "scenario_id": result.identity.scenario_id,
        "status": stack.status,
        "engine": stack.engine,
        "en16931": _described(stack, "en16931", lang) or _NO_EN16931[lang],
        "xrechnung": _described(stack, "cius", lang) or _NOT_APPLIED[lang],
        "layers": [layer.to_dict(lang) for layer in stack.layers],
    }


def _described(stack: Stack, name: str, lang: Language) -> str:
    layer = stack.layer(name)
    return "" if layer is None else layer.description(lang)


def standing(result: ValidationResult, lang: Language) -> str | None:
    """How the declared specification stands to the rules that judged, in words; None where it is the current one."""
    status: str = result.stack.status
    if status == "unknown" and result.identity.kind != "unknown":
        status = "later" if declared(result.identity.family) else "not_there"
    texts = _MESSAGES.get(status)
    if texts is None:
        return None
    said = f"{result.identity.profile} {result.identity.version}"
    message = texts[lang].format(declared=said, judged=_judged(result.stack))
    if result.stack.mode == "current":
        return message
    count = len(result.differences)
    return f"{message} {_DIFFERENCES[lang][min(count, 2)].format(count=count)}"


def _judged(stack: Stack) -> str:
    """By which rules: "XRechnung 3.0.2" or "EN 16931 (1.3.16)"."""
    national, core = stack.layer("cius"), stack.layer("en16931")
    if national and national.executed:
        return f"XRechnung {national.specification}"
    return f"EN 16931 ({core.version})" if core else "EN 16931"
