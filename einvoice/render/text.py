"""The words around findings, in both languages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from einvoice.errors import quote
from einvoice.result.languages import Language
from einvoice.rulebook.catalog.formatting import show

if TYPE_CHECKING:
    from einvoice.result.agreement import Agreement
    from einvoice.result.container import Container
    from einvoice.result.differences import Difference
    from einvoice.result.finding import Finding
    from einvoice.result.stack import Layer
    from einvoice.result.validation import ValidationResult

#: What is compared, in the order in which it is told.
NUMBERS: Final = ("expected", "actual", "difference")

_SHOWN: Final = 20
_SEVERITIES: Final = ("information", "warning", "fatal")
_RULES: Final = {"en16931": "EN 16931", "cius": "XRechnung", "extension": "XRechnung Extension"}

WORDS: Final[Mapping[Language, Mapping[str, str]]] = {
    "de": {
        "valid": "gültig",
        "invalid": "nicht gültig",
        "fatal": "Fehler",
        "warning": "Warnung",
        "information": "Hinweis",
        "fatal_many": "Fehler",
        "warning_many": "Warnungen",
        "information_many": "Hinweise",
        "none": "keine Befunde",
        "line": "Zeile",
        "column": "Spalte",
        "expected": "erwartet",
        "actual": "gefunden",
        "quote": "„{}“",
        "difference": "Differenz",
        "indicative": "Die Datei entspricht nicht dem XML-Schema. Befunde der anderen Ebenen können daraus folgen.",
        "not_opened": "Die Datei lässt sich nicht öffnen",
        "FileNotFoundError": "Datei oder Ordner nicht gefunden; den Namen prüfen.",
        "IsADirectoryError": "Das ist ein Ordner, keine Datei.",
        "PermissionError": "Keine Leseberechtigung.",
        "unknown_code": "Unbekannter Code {code}.",
        "did_you_mean": "Meinten Sie: {near}?",
        "rule": "Regel",
        "place": "Stelle",
        "finding": "Befund",
        "fix": "Abhilfe",
        "profile": "Profil",
        "several_invoices": "Mehrere Anlagen kommen als Rechnung in Frage ({names}). Gewählt wurde {chosen}: "
        "CII geht vor, dann gilt die Reihenfolge der vorgeschriebenen Namen.",
        "note": "Hinweis",
        "see": "siehe",
        "a_fatal": "ein Fehler",
        "a_warning": "eine Warnung",
        "a_information": "ein Hinweis",
        "milder": "{severity} (in {rules} {flag}, hier herabgestuft)",
        "stricter": "{severity} (in {rules} {flag}, hier heraufgestuft)",
        "differences": "Abweichungen nach dem aktuellen Regelwerk:",
        "current": "neu mit {release}",
        "declared": "entfallen mit {release}",
        "judged_by": "Geprüft nach",
        "rules": "{count} Regeln",
        "not_run": "nicht ausgeführt",
        "agreed": "Das offizielle Schematron kommt zum selben Ergebnis (verglichen: {layers}).",
        "disagreed": "Das offizielle Schematron kommt zu einem anderen Ergebnis (verglichen: {layers}):",
        "not_compared": "Kein offizielles Schematron hat diese Rechnung geprüft; es wurde nichts verglichen.",
        "only_native": "nur einvoice",
        "only_reference": "nur Schematron",
        "nothing_to_do": "Hier ist nichts zu tun.",
        "more": "Weitere Verstöße gegen dieselbe Regel, nicht einzeln aufgeführt: {count}.",
    },
    "en": {
        "valid": "valid",
        "invalid": "not valid",
        "fatal": "error",
        "warning": "warning",
        "information": "informational",
        "fatal_many": "errors",
        "warning_many": "warnings",
        "information_many": "informational",
        "none": "no findings",
        "line": "line",
        "column": "column",
        "expected": "expected",
        "actual": "found",
        "quote": "“{}”",
        "difference": "difference",
        "indicative": "The file does not conform to the XML schema. Findings in other layers may be a consequence.",
        "not_opened": "The file cannot be opened",
        "FileNotFoundError": "No such file or folder; check the name.",
        "IsADirectoryError": "This is a folder, not a file.",
        "PermissionError": "Permission denied.",
        "unknown_code": "Unknown code {code}.",
        "did_you_mean": "Did you mean: {near}?",
        "rule": "Rule",
        "place": "Location",
        "finding": "Finding",
        "fix": "What to do",
        "profile": "Profile",
        "several_invoices": "Several attachments qualify as the invoice ({names}). {chosen} was selected: "
        "CII first, then the order of the prescribed file names.",
        "note": "Note",
        "see": "see",
        "a_fatal": "an error",
        "a_warning": "a warning",
        "a_information": "informational",
        "milder": "{severity} ({flag} in {rules}, lowered here)",
        "stricter": "{severity} ({flag} in {rules}, raised here)",
        "differences": "Different under the current rule set:",
        "current": "new in {release}",
        "declared": "removed in {release}",
        "judged_by": "Validated against",
        "rules": "{count} rules",
        "not_run": "not run",
        "agreed": "The official Schematron reports the same findings (compared: {layers}).",
        "disagreed": "The official Schematron reports different findings (compared: {layers}):",
        "not_compared": "No official Schematron applies to this invoice; nothing was compared.",
        "only_native": "only einvoice",
        "only_reference": "only Schematron",
        "nothing_to_do": "No action needed.",
        "more": "Further violations of the same rule, not listed individually: {count}.",
    },
}


def verdict(result: ValidationResult, lang: Language) -> str:
    """Valid or not, in words."""
    return WORDS[lang]["valid" if result.is_valid else "invalid"]


def counts(result: ValidationResult, lang: Language) -> str:
    """How many findings there are of each severity: "2 errors, 1 warning"."""
    words = WORDS[lang]
    parts = []
    for kind in reversed(_SEVERITIES):
        number = sum(finding.severity == kind for finding in result.findings)
        if number:
            parts.append(f"{number} {words[kind if number == 1 else kind + '_many']}")
    return ", ".join(parts) or words["none"]


def declared(result: ValidationResult) -> str:
    """What the document says it is, and its syntax: "XRechnung 3.0 (UBL)"."""
    identity = result.identity
    return f"{identity.profile} {identity.version}".strip() + f" ({identity.syntax})"


def container(it: Container, lang: Language) -> str:
    """The PDF around an invoice in one line: "PDF: valid · factur-x.xml (Alternative)"."""
    judged = WORDS[lang]["valid" if it.is_valid else "invalid"]
    relationship = f" ({quote(it.relationship)})" if it.relationship else ""
    return f"PDF: {judged} · {quote(it.name)}{relationship}"


def layer(it: Layer, lang: Language) -> str:
    """A layer in one line, and how many rules of it were evaluated; or that it did not run."""
    words = WORDS[lang]
    if not it.executed:
        return f"{it.description(lang) or it.name}: {words['not_run']}"
    rules = f" · {words['rules'].format(count=it.rules)}" if it.rules else ""
    return it.description(lang) + rules


def layers(stack: Iterable[Layer], lang: Language) -> str:
    """The layers in a line: "Judged by: XML schema of UBL, EN 16931, XRechnung"."""
    names = (it.description(lang).partition(",")[0] if it.executed else layer(it, lang) for it in stack)
    return f"{WORDS[lang]['judged_by']}: {', '.join(names)}"


def headline(result: ValidationResult, lang: Language) -> str:
    """The verdict in one line."""
    number = quote(result.summary.invoice_number)
    name = ", ".join(part for part in (number, declared(result)) if part)
    return f"{name}: {verdict(result, lang)}, {counts(result, lang)}"


def in_words(result: ValidationResult, lang: Language) -> str:
    """The verdict and the first findings, a line each."""
    shown = [f"  {in_line(finding, lang)}" for finding in gravest_first(result.findings)[:_SHOWN]]
    left = len(result.findings) - len(shown)
    told = [f"  {difference(one, lang)}" for one in result.differences[:_SHOWN]]
    heading = [WORDS[lang]["differences"]] if told else []
    second = second_opinion(result.agreement, lang) if result.agreement else ()
    more = [f"  … + {left}"] if left else []
    return "\n".join((headline(result, lang), *shown, *more, *heading, *told, *second))


def gravest_first(findings: Iterable[Finding]) -> list[Finding]:
    """Errors, then warnings, then what is for information, each in the order that they have."""
    return sorted(findings, key=lambda it: -_SEVERITIES.index(it.severity))


def in_line(finding: Finding, lang: Language) -> str:
    """A finding in one line: "BR-CO-10 (line 35, BT-106): The line net amounts do not add up"."""
    where = place(finding, lang)
    name = f"{finding.code} ({where})" if where else finding.code
    judged = f". {capital(severity(finding, lang))}: {finding.override_reason(lang)}" if finding.override else ""
    return f"{name}: {finding.title(lang)}{judged}"


def difference(one: Difference, lang: Language) -> str:
    """A difference in one line: the finding, and the release since which it is there, or is not any more."""
    rules = _RULES["en16931" if one.ruleset == "en16931" else "cius"]
    specification = "" if one.ruleset == "en16931" else f" {one.changed_in.specification}"
    release = f"{rules}{specification} ({one.version})"
    return f"{in_line(one.finding, lang)} [{WORDS[lang][one.only_in].format(release=release)}]"


def second_opinion(agreement: Agreement, lang: Language) -> tuple[str, ...]:
    """What the official artefacts found in a line, and under it what only one of the two found, a line each."""
    words = WORDS[lang]
    key = {True: "agreed", False: "disagreed", None: "not_compared"}[agreement.agreed]
    heading = words[key].format(layers=", ".join(_RULES.get(name, name) for name in agreement.compared))
    alone = [(finding, "only_native") for finding in agreement.only_native]
    alone += [(finding, "only_reference") for finding in agreement.only_reference]
    return heading, *(f"{in_line(finding, lang)} [{words[where]}]" for finding, where in alone)


def capital(text: str) -> str:
    """A text as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def severity(finding: Finding, lang: Language) -> str:
    """How much a finding counts, and how much it would by itself: "warning (in EN 16931 an error, lowered here)"."""
    words, said = WORDS[lang], WORDS[lang][finding.severity]
    if finding.flag == finding.severity:
        return said
    verdict = "milder" if _SEVERITIES.index(finding.severity) < _SEVERITIES.index(finding.flag) else "stricter"
    rules = _RULES.get(finding.layer, finding.layer)
    return words[verdict].format(severity=said, rules=rules, flag=words[f"a_{finding.flag}"])


def notes(finding: Finding, lang: Language) -> Iterator[str]:
    """The finding's notes, a text each: "Note: … (see https://…)"."""
    words = WORDS[lang]
    for note in finding.notes(lang):
        yield f"{words['note']}: {note.text}" + (f" ({words['see']} {note.source})" if note.source else "")


def place(finding: Finding, lang: Language) -> str:
    """Where a finding points, for people: "line 35, BT-106"; in a generated invoice "/totals/net_amount, BT-109"."""
    line = f"{WORDS[lang]['line']} {finding.line}" if finding.line else ""
    where = line if finding.draft_pointer is None else finding.draft_pointer
    return ", ".join(part for part in (where, finding.bt_field) if part)


def numbers(finding: Finding, lang: Language) -> str:
    """What was compared: "expected 119.00, found 119.01, difference 0.01"; "" where nothing was."""
    return ", ".join(f"{WORDS[lang][name]} {text}" for name, text in compared(finding, lang))


def compared(finding: Finding, lang: Language) -> Iterator[tuple[str, str]]:
    """What was compared, by the names of ``NUMBERS``.

    Numbers that agree are not told, since then something else is wrong; where a rule is about how a number is written,
    it is told as it stands, and so is a text that its explanation quotes.
    """
    values = finding.values
    if values.get("difference") == 0:
        return
    if "written" in values:
        yield "actual", WORDS[lang]["quote"].format(values["written"])
        return
    if (found := values.get("found")) and isinstance(found, str) and finding.explains("found"):
        yield "actual", WORDS[lang]["quote"].format(quote(found))
    for name in NUMBERS:
        text = show(values[name], values, lang).strip() if name in values else ""
        if text:
            yield name, text
