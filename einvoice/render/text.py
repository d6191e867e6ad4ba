"""Plain text: findings, results and rule changes."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from einvoice.code_catalog.formatting import show
from einvoice.localization import Language, Messages
from einvoice.localization.formatting import with_colon
from einvoice.quotation import excerpt, quote
from einvoice.result.finding import Finding
from einvoice.result.stack import Layer
from einvoice.result.validation import ValidationResult
from einvoice.rulebook.releases import ruleset_label

if TYPE_CHECKING:
    from einvoice.result.agreement import Agreement
    from einvoice.result.container import Container
    from einvoice.result.differences import Difference

#: Names of the compared values, in display order.
NUMBERS: Final = ("expected", "actual", "difference")

_UNKNOWN: Final = "unknown"
_MAX_LISTED: Final = 20
_MIN_DIGITS: Final = 3
_SEVERITIES: Final = ("information", "warning", "fatal")

LABELS: Final = Messages("einvoice.render", "results")


def verdict(result: ValidationResult, lang: Language) -> str:
    """Return "valid" or "not valid"."""
    return LABELS[lang]["valid" if result.is_valid else "invalid"]


def counts(result: ValidationResult, lang: Language) -> str:
    """Return the number of findings by severity: "2 errors, 1 warning"."""
    return finding_counts(result.findings, lang)


def finding_counts(findings: Iterable[Finding], lang: Language) -> str:
    """Return the number of these findings by severity; see `counts`."""
    labels, severities = LABELS[lang], [finding.severity for finding in findings]
    parts = []
    for severity in reversed(_SEVERITIES):
        count = severities.count(severity)
        if count:
            parts.append(f"{count} {labels[severity if count == 1 else severity + '_many']}")
    return ", ".join(parts) or labels["none"]


def declared(result: ValidationResult, lang: Language) -> str:
    """Return the declared specification and the syntax: "XRechnung 3.0 (UBL)"."""
    return named(result.identity.profile, result.identity.version, result.identity.syntax, lang)


def named(profile: str, version: str, syntax: str, lang: Language) -> str:
    """Return the name of a specification, in words if it is unknown, with its version and syntax."""
    name = LABELS[lang]["unknown_specification"] if profile == _UNKNOWN else profile
    return f"{name} {version}".strip() + f" ({syntax})"


def container(pdf: Container, lang: Language) -> str:
    """Return one line about the PDF container: "PDF: valid · factur-x.xml (Alternative)"."""
    verdict = LABELS[lang]["valid" if pdf.is_valid else "invalid"]
    relationship = f" ({quote(pdf.relationship)})" if pdf.relationship else ""
    return f"PDF: {verdict} · {quote(pdf.name)}{relationship}"


def layer(layer: Layer, lang: Language) -> str:
    """Return one line about a layer, with the number of evaluated rules or a remark that it did not run."""
    labels = LABELS[lang]
    if not layer.executed:
        return with_colon(layer.description(lang) or layer.name, lang, labels["not_run"])
    rules = f" · {labels['rules'].format(count=layer.rules)}" if layer.rules else ""
    return layer.description(lang) + rules


def layers(stack: Iterable[Layer], lang: Language) -> str:
    """Return the layers that decide the verdict: "Validated against: XML schema of UBL, EN 16931, XRechnung"."""
    deciding = (it for it in stack if it.kind != "plausibility")
    names = (it.description(lang).partition(",")[0] if it.executed else layer(it, lang) for it in deciding)
    return with_colon(LABELS[lang]["validated_against"], lang, ", ".join(names))


def headline(result: ValidationResult, lang: Language) -> str:
    """Return the verdict in one line."""
    number = quote(result.summary.invoice_number)
    name = ", ".join(part for part in (number, declared(result, lang)) if part)
    return with_colon(name, lang, f"{verdict(result, lang)}, {counts(result, lang)}")


def result_text(result: ValidationResult, lang: Language) -> str:
    """Return the verdict and the most severe findings, one line each."""
    findings = [f"  {finding_line(finding, lang)}" for finding in by_severity(result.findings)[:_MAX_LISTED]]
    omitted = len(result.findings) - len(findings)
    rest = [f"  … + {omitted}"] if omitted else []
    differences = [f"  {difference(it, lang)}" for it in result.differences[:_MAX_LISTED]]
    heading = [LABELS[lang]["differences"]] if differences else []
    comparison = agreement_lines(result.agreement, lang) if result.agreement else ()
    return "\n".join((headline(result, lang), *findings, *rest, *heading, *differences, *comparison))


def by_severity(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings sorted by descending severity; the order within a severity is kept.

    A warning about the declared specification comes first: it says by which rules the others were found.
    """
    return sorted(findings, key=lambda it: (not _explains_others(it), -_SEVERITIES.index(it.severity)))


def _explains_others(finding: Finding) -> bool:
    return finding.code.startswith("DECL-") and finding.severity == "warning"


def finding_line(finding: Finding, lang: Language) -> str:
    """Return a finding in one line: "BR-CO-10 (line 35, BT-106): The line net amounts do not add up"."""
    location = position(finding, lang)
    name = f"{finding.code} ({location})" if location else finding.code
    override = with_colon(capitalize(severity(finding, lang)), lang, finding.override_reason(lang))
    return with_colon(name, lang, finding.title(lang)) + (f". {override}" if finding.override else "")


def difference(difference: Difference, lang: Language) -> str:
    """Return a difference in one line: the finding, and the release that added or removed it."""
    release = release_of(difference)
    return f"{finding_line(difference.finding, lang)} [{LABELS[lang][difference.only_in].format(release=release)}]"


def release_of(difference: Difference) -> str:
    """Return the release that changed: "XRechnung 3.0.2 (2.6.0)", "EN 16931 (1.3.16)"."""
    is_base = difference.ruleset in dict(difference.changed_in.base)
    specification = "" if is_base else difference.changed_in.specification
    return f"{ruleset_label(difference.ruleset)} {specification}".strip() + f" ({difference.version})"


def agreement_lines(agreement: Agreement, lang: Language) -> tuple[str, ...]:
    """Return the comparison with the official Schematron: a heading, then one line per deviating finding."""
    labels = LABELS[lang]
    key = {True: "agreed", False: "disagreed", None: "not_compared"}[agreement.agreed]
    heading = labels[key].format(layers=", ".join(map(ruleset_label, agreement.compared)))
    deviating = [(finding, "only_native") for finding in agreement.only_native]
    deviating += [(finding, "only_reference") for finding in agreement.only_reference]
    return heading, *(f"{finding_line(finding, lang)} [{labels[side]}]" for finding, side in deviating)


def capitalize(text: str) -> str:
    """Return the text with its first letter in upper case, the rest unchanged."""
    return text[:1].upper() + text[1:]


def severity(finding: Finding, lang: Language) -> str:
    """Return the severity and, if overridden, that of the rule: "warning (error in EN 16931, lowered here)"."""
    labels = LABELS[lang]
    label = labels[finding.severity]
    if finding.flag == finding.severity:
        return label
    change = "lowered" if _SEVERITIES.index(finding.severity) < _SEVERITIES.index(finding.flag) else "raised"
    rules = ruleset_label(finding.layer, lang=lang)
    return labels[change].format(severity=label, rules=rules, flag=labels[f"a_{finding.flag}"])


def notes(finding: Finding, lang: Language) -> Iterator[str]:
    """Yield the notes of the finding: "Note: … (see https://…)"."""
    labels = LABELS[lang]
    for note in finding.notes(lang):
        yield with_colon(labels["note"], lang, note.text) + (f" ({labels['see']} {note.source})" if note.source else "")


def position(finding: Finding, lang: Language) -> str:
    """Return "line 35, BT-106", or "/totals/net_amount, BT-109" for an invoice generated from a draft.

    A finding about a whole group has its number: "line 139, BG-25".
    """
    line = f"{LABELS[lang]['line']} {finding.line}" if finding.line else ""
    where = line if finding.draft_pointer is None else finding.draft_pointer
    return ", ".join(part for part in (where, *finding.terms[:1]) if part)


def compared_text(finding: Finding, lang: Language, *beside: str) -> str:
    """Return the compared values: "expected 119.00, found 119.01, difference 0.01"; "" if there are none."""
    return ", ".join(f"{LABELS[lang][name]} {text}" for name, text in compared(finding, lang, *beside))


def compared(finding: Finding, lang: Language, *beside: str) -> Iterator[tuple[str, str]]:
    """Yield the compared values that explain the finding, each with its name from `NUMBERS`.

    Equal numbers are skipped, because the problem is then a different one. If the rule concerns the notation of a
    number or quotes a text, the document's text is yielded verbatim, and not again as a value.

    Args:
        finding: the finding.
        lang: language of the values.
        beside: texts of the finding that are shown with the values. A value that one of them quotes is skipped, unless
            it has a difference to another: amounts are shown together.
    """
    values = list(_compared(finding, lang))
    are_amounts = any(name == "difference" for name, _, _ in values)
    for name, text, shown in values:
        value = finding.values.get(name)
        spellings = (text, f"{value:%Y%m%d}") if isinstance(value, datetime.date) else (text,)
        if are_amounts or not any(_quotes(it, spelling) for it in beside for spelling in spellings):
            yield name, shown


def _compared(finding: Finding, lang: Language) -> Iterator[tuple[str, str, str]]:
    """Yield name, text and shown text of each compared value."""
    values = finding.values
    if values.get("difference") == 0:
        return
    if "raw_text" in values:
        notation = excerpt(values["raw_text"])
        yield "actual", notation, LABELS[lang]["quote"].format(notation)
        return
    names: tuple[str, ...] = NUMBERS
    if (text := values.get("found")) and isinstance(text, str) and finding.explains("found"):
        yield "actual", quote(text), LABELS[lang]["quote"].format(quote(text))
        names = tuple(name for name in names if name != "actual")
    for name in names:
        text = excerpt(show(values[name], values, lang).strip()) if name in values else ""
        if text:
            yield name, text, text


def _quotes(text: str, value: str) -> bool:
    """Return whether a text contains a value as a word; a short number only as a percentage or in quotation marks.

    >>> _quotes("The net price of line 1 is “-50.00”.", "-50.00"), _quotes("The net price of line 1 is wrong", "1")
    (True, False)
    """
    after = r"( ?%|[“”»])" if value.isdigit() and len(value) < _MIN_DIGITS else r"(?!\w|[.,]\d)"
    return re.search(rf"(?<![\w.,]){re.escape(value)}{after}", text) is not None
