"""Writes the letter: one item per cause, each with what is wrong, where, and what is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from einvoice.assessment import assess
from einvoice.assessment.assessment import basis
from einvoice.assessment.law import CONTENT
from einvoice.causes.applicability import SAFE
from einvoice.causes.change import capitalized
from einvoice.letter.wording import names_element, without_codes
from einvoice.localization import Language, Messages, choose
from einvoice.localization.formatting import format_date, format_number
from einvoice.model.terms import leading, name
from einvoice.quotation import quote
from einvoice.render.text import LABELS, capitalize, compared

if TYPE_CHECKING:
    from einvoice.assessment import Assessment
    from einvoice.causes import Cause
    from einvoice.result import Finding, ValidationResult

_TEXTS: Final = Messages("einvoice.letter", "letter")
_MAX_ITEMS: Final = 20
_MAX_TEXT: Final = 600
_MAX_NAME: Final = 80
_OF_VALIDATION: Final = "file"
"""Layer of the errors that say why a document was not validated; no issuer can correct them."""


def letter(
    result: ValidationResult,
    lang: Language,
    law: str | None = None,
    *,
    items: bool = False,
    causes: Sequence[Cause] | None = None,
) -> str:
    """Return the letter to the issuer; see `ValidationResult.letter`."""
    words = _TEXTS[lang]
    kind = words["kind_credit_note" if result.invoice.is_credit_note else "kind"]
    assessment = assess(result, law, items)
    errors = list(_errors(result, causes, lang))
    questions = list(_questions(result, assessment, lang)) if assessment and items else []
    asked = [*errors, *questions, *(_missing(it, lang) for it in (assessment.further_items if assessment else ()))]
    form = choose(assessment.follows["letter"], lang) if assessment and "letter" in assessment.follows else ""
    if not asked and not (form and items):
        key = "nothing" if result.is_valid else "not_checked"
        return words[key].format(invoice=_invoice(result, lang), kind=kind) + "\n"
    listed = [f"{number}. {text}" for number, text in enumerate(asked[:_MAX_ITEMS], 1)]
    if (left := len(asked) - _MAX_ITEMS) > 0:
        listed.append(words["more"].format(count=left))
    paragraphs = (
        words["subject"].format(invoice=_invoice(result, lang), kind=kind),
        words["greeting"],
        words["request_items" if result.is_valid else "request"].format(kind=kind) if asked else "",
        "\n".join(_facts(result, lang)),
        words["items"] if asked else "",
        *listed,
        _required_by(assessment, len(errors) + len(questions), form, lang) if assessment else "",
        words["close"],
        words["regards"],
    )
    return "\n\n".join(filter(None, paragraphs)) + "\n"


def _invoice(result: ValidationResult, lang: Language) -> str:
    return quote(result.summary.invoice_number, limit=_MAX_NAME) or _TEXTS[lang]["without_number"]


def _facts(result: ValidationResult, lang: Language) -> Iterator[str]:
    """Yield what identifies the invoice, one line each."""
    summary, words = result.summary, _TEXTS[lang]
    due = result.invoice.totals.due.number
    amount = format_number(due, lang, decimals=2) if isinstance(due, Decimal) else summary.amount_due
    date = result.invoice.issue_date.date
    facts = {
        name("BT-1", lang): summary.invoice_number,
        name("BT-2", lang): format_date(date, lang) if date else str(result.invoice.issue_date),
        name("BT-27", lang): summary.seller,
        name("BT-44", lang): summary.buyer,
    }
    label = words["credit_due"] if result.invoice.is_credit_note else name("BT-115", lang)
    facts[label] = f"{amount} {summary.currency}" if amount else ""
    for label, value in facts.items():
        yield words["fact"].format(name=label, value=quote(value, limit=_MAX_NAME) or words["absent"])
    if result.filename:
        yield words["fact"].format(name=words["file"], value=quote(result.filename, limit=_MAX_NAME))


def _errors(result: ValidationResult, causes: Sequence[Cause] | None, lang: Language) -> Iterator[str]:
    """Yield an item for each cause of errors; causes that read the same are one."""
    errors = {id(it) for it in result.errors if it.layer != _OF_VALIDATION}
    known: dict[tuple[str, ...], list[Finding]] = {}
    for cause in (causes or result.causes()) if errors else ():
        if any(id(it) in errors for it in cause.findings):
            known.setdefault(tuple(_of_cause(cause, lang)), []).extend(cause.findings)
    for lines, findings in known.items():
        yield _item(lines, findings, lang)


def _questions(result: ValidationResult, assessment: Assessment, lang: Language) -> Iterator[str]:
    """Yield an item for findings with the same title that are no errors and about which the law has to ask."""
    known: dict[tuple[str, str], list[Finding]] = {}
    for finding in result.findings:
        if finding.severity != "fatal" and (question := assessment.law.question(finding.code, lang)):
            known.setdefault((finding.title(lang), question), []).append(finding)
    for (title, question), findings in known.items():
        values = [f"{name(it.terms[0], lang)}: {text}." for it in findings if it.terms and (text := _values(it, lang))]
        yield _item((_sentence(title, lang), *values, question), findings, lang)


def _values(finding: Finding, lang: Language) -> str:
    """Return the compared values: those of data and picture, or the one found."""
    values, words = dict(compared(finding, lang)), _TEXTS[lang]
    names = words if finding.layer == "pdf" else LABELS[lang]
    return ", ".join(f"{names[key]} {value}" for key, value in values.items() if key != "difference")


def _missing(finding: Finding, lang: Language) -> str:
    """Return the item for what the law requires and EN 16931 does not."""
    return _item((_sentence(finding.title(lang), lang), _ask(finding.fix(lang), lang)), [finding], lang)


def _item(lines: Sequence[str], findings: Sequence[Finding], lang: Language) -> str:
    """Return an item; at its end, for the software of the issuer, the lines that name elements, places and codes."""
    words = _TEXTS[lang]
    technical = [it for it in lines if names_element(it)]
    plain = [it for it in lines if it not in technical]
    places = list(dict.fromkeys(str(it.line) for it in findings if it.line))
    shown = ", ".join(places[:_MAX_ITEMS]) + (" …" if len(places) > _MAX_ITEMS else "")
    terms = dict.fromkeys(it.terms[0] for it in findings if it.terms)
    notes = [re.sub(r"\s+- ", " ", it) for it in technical]
    notes += [words["line" if len(places) == 1 else "lines"].format(lines=shown)] if places else []
    notes += [", ".join((*terms, *dict.fromkeys(it.code for it in findings)))]
    head = [words["technical"]] if lines[0] in technical else []
    return "\n   ".join((*head, *plain, words["software"].format(notes="; ".join(notes))))


def _of_cause(cause: Cause, lang: Language) -> Iterator[str]:
    """Yield what is wrong, where, the value found, and what is asked for; only what the invoice proves is stated."""
    first, words = cause.findings[0], _TEXTS[lang]
    if len(cause.changes) == 1 and cause.changes[0].applicability is SAFE:
        yield _sentence(cause.text(lang), lang, first)
        yield _ask(cause.changes[0].text(lang), lang, first)
        return
    text = _sentence(first.title(lang) if cause.changes else cause.text(lang), lang, first)
    yield text
    yield from _where(cause, text, lang)
    if cause.changes:
        question = words["either" if len(cause.changes) > 1 else "perhaps"]
        yield "\n   - ".join((question, *(without_codes(it.text(lang), lang, first) for it in cause.changes)))
    elif cause.amount is not None or cause.includes_vat:
        yield words["check"]
    else:
        yield _ask(first.fix(lang), lang, first)


def _where(cause: Cause, text: str, lang: Language) -> Iterator[str]:
    """Yield the term that the cause is about, with its lines, and the value found, unless the text has them."""
    first, words = cause.findings[0], _TEXTS[lang]
    lines = cause.lines or tuple(dict.fromkeys(it for one in cause.changes for step in one.steps for it in step.lines))
    term = leading(first.terms)
    place = [name(term, lang)] if term and name(term, lang) not in text else []
    place += [words["position"].format(lines=", ".join(lines[:_MAX_ITEMS]))] if lines else []
    if place and not cause.missing:
        yield words["place"].format(place=", ".join(place))
    values = [f"{LABELS[lang][key]} {value}" for key, value in compared(first, lang, text) if key != "difference"]
    if values:
        yield f"{capitalize('; '.join(values))}."


def _ask(text: str, lang: Language, finding: Finding | None = None) -> str:
    return _TEXTS[lang]["ask"].format(text=without_codes(text, lang, finding)[:_MAX_TEXT])


def _sentence(text: str, lang: Language, finding: Finding | None = None) -> str:
    plain = capitalized(without_codes(text, lang, finding))[:_MAX_TEXT]
    return plain if plain[-1:] in ".?!" else f"{plain}."


def _required_by(assessment: Assessment, before: int, form: str, lang: Language) -> str:
    """Return why the law requires a correction, and how to make it; "" if no class of error and no missing item does.

    The missing items have the numbers after the items `before` them; `form` says why an e-invoice is required.
    """
    law = assessment.law
    affected = [it.classification for it in assessment.errors if it.error_class == CONTENT]
    items = dict.fromkeys(f"{choose(it.item, lang)} ({it.source})" for it in affected)
    texts = [law.letter(CONTENT, lang).format(items="; ".join(items))] if items else []
    if sources := "; ".join(dict.fromkeys(map(basis, assessment.further_items))):
        numbers = [str(it) for it in range(before + 1, before + 1 + len(assessment.further_items))]
        points = _TEXTS[lang]["points" if len(numbers) > 1 else "point"].format(numbers=", ".join(numbers))
        texts.append(capitalize(law.text("letter_items", lang).format(points=points, sources=sources)))
    paragraphs = [*filter(None, (" ".join(texts), assessment.case("letter", lang), form))]
    return "\n\n".join((*paragraphs, law.text("note", lang))) if paragraphs else ""
