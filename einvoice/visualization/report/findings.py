"""The findings of the report, grouped by severity and rule, in the order of the sections of the invoice.

Large numbers of similar findings are limited: every code is shown, and the remaining findings are counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from einvoice.localization.formatting import with_colon
from einvoice.model.terms import leading, name
from einvoice.quotation import quote
from einvoice.render.text import LABELS as RESULT_WORDS
from einvoice.render.text import capitalize, compared
from einvoice.render.text import severity as severity_label
from einvoice.rulebook.releases import ruleset_label
from einvoice.rulebook.sections import SECTIONS, title
from einvoice.visualization.formatting import format_number
from einvoice.visualization.markup import EMPTY, Markup, join, tag
from einvoice.visualization.report.labels import WORDS

if TYPE_CHECKING:
    from einvoice.result import Finding, Language

_NO_CAUSES: Final[Mapping[int, int]] = {}
_PDF: Final = "pdf"
_SEVERITIES: Final = ("fatal", "warning", "information")
_MAX_SHOWN: Final = 200
"""Maximum number of groups of findings shown, distributed evenly among the codes."""
_MAX_LINES: Final = 12
"""Maximum number of line numbers listed per group."""
_MAX_DIFFERENCES: Final = 8
"""Maximum number of findings of a group whose own sentences are listed."""
_MAX_DIFFERENCE: Final = 200
_SENTENCE_END: Final = re.compile(r"(?<=[.!?]) (?=[A-ZÄÖÜÀÉ„«])")
_POSITION: Final = re.compile(r"\[\d+\]")
_MAX_PATH_LENGTH: Final = 300

#: Findings of a rule with the same title.
_Same: TypeAlias = list["Finding"]


def findings(
    found: Sequence[Finding], lang: Language, words: Mapping[str, str], causes: Mapping[int, int] = _NO_CAUSES
) -> Markup:
    """Return the findings, the most severe first.

    Args:
        found: the findings.
        lang: language of the texts.
        words: labels of the report; those of an assessment have further ones.
        causes: number of the cause whose change replaces the fix of a finding, by the `id` of the finding.
    """
    by_words = _by_words(found, lang, "concerns" in words)
    shown, left = _chosen(by_words)
    indicative = any(finding.indicative for finding in found)
    return join(
        tag("p", RESULT_WORDS[lang]["indicative"], class_="remark") if indicative else EMPTY,
        *(_of_severity(kind, shown, found, lang, words, causes) for kind in _SEVERITIES),
        _left(left, lang) if left else EMPTY,
    )


def _by_words(found: Iterable[Finding], lang: Language, any_term: bool) -> list[_Same]:
    """Group findings of a rule with the same title, in the order of the report; with `any_term` those of the picture
    are one group."""
    same: dict[tuple[Any, ...], _Same] = {}
    for finding in found:
        words = (finding.title(lang), finding.notes(lang))
        terms = () if any_term and finding.layer == _PDF else (finding.section, finding.terms)
        key = (finding.code, finding.severity, terms, finding.override, *words)
        same.setdefault(key, []).append(finding)
    return sorted(same.values(), key=lambda it: (_SEVERITIES.index(it[0].severity), SECTIONS.index(it[0].section)))


def _chosen(by_words: list[_Same]) -> tuple[list[_Same], list[_Same]]:
    """Return the groups to show, and those that are only counted: further groups of the most frequent codes."""
    numbers = Counter(same[0].code for same in by_words)
    max_per_code = _MAX_SHOWN
    while max_per_code > 1 and sum(min(count, max_per_code) for count in numbers.values()) > _MAX_SHOWN:
        max_per_code -= 1
    seen: Counter[str] = Counter()
    shown: list[_Same] = []
    left: list[_Same] = []
    for same in by_words:
        code = same[0].code
        seen[code] += 1
        (shown if seen[code] <= max_per_code and len(shown) < _MAX_SHOWN else left).append(same)
    return shown, left


def _of_severity(
    kind: str,
    shown: list[_Same],
    found: Sequence[Finding],
    lang: Language,
    words: Mapping[str, str],
    causes: Mapping[int, int],
) -> Markup:
    own = [same for same in shown if same[0].severity == kind]
    if not own:
        return EMPTY
    count = Decimal(sum(finding.severity == kind for finding in found))
    head = (
        tag("h2", f"{words[kind]} ({format_number(count, lang)})"),
        tag("p", words[kind + "_means"], class_="means"),
    )
    return tag("section", *head, *(_finding(same, lang, words, causes) for same in own), class_=kind)


def _finding(same: _Same, lang: Language, words: Mapping[str, str], causes: Mapping[int, int]) -> Markup:
    first = same[0]
    cause, label = causes.get(id(first)), words.get(f"fix_{first.severity}", words["fix"])
    fix = words["see_cause"].format(number=cause) if cause else first.fix(lang)
    if len({it.terms for it in same}) > 1:
        return tag(
            "div",
            _head(first, lang),
            _compared(same, lang, words),
            _labelled(label, fix, "fix", lang),
            class_="finding",
        )
    return tag(
        "div",
        _head(first, lang),
        tag("p", " · ".join(_about(same, lang)), class_="where"),
        tag("p", first.explanation(lang)),
        _numbers(first, lang) if len(same) == 1 else EMPTY,
        _labelled(label, fix, "fix", lang),
        _labelled(words["severity"], _override(first, lang), "more", lang),
        *(_labelled(words["note"], text, "more", lang) for text in _notes(first, lang)),
        _differences(same, lang),
        _path(same),
        class_="finding",
    )


def _head(finding: Finding, lang: Language) -> Markup:
    return tag("h3", tag("span", finding.code, class_="code"), " ", finding.title(lang))


def _compared(same: _Same, lang: Language, words: Mapping[str, str]) -> Markup:
    """Return what the data and the picture state, one row for each term."""
    columns = ("expected", "actual")
    head = [words["concerns"], *(words[f"{it}_{_PDF}"] for it in columns), capitalize(RESULT_WORDS[lang]["line"])]
    rows = []
    for finding in same:
        values, term = dict(compared(finding, lang)), leading(finding.terms)
        cells = [*(values.get(it, "–") for it in columns), str(finding.line or "–")]
        rows.append(tag("tr", tag("th", f"{name(term, lang)} ({term})", scope="row"), *(tag("td", it) for it in cells)))
    return tag(
        "table",
        tag("thead", tag("tr", *(tag("th", it, scope="col") for it in head))),
        tag("tbody", *rows),
        class_="plain compared",
    )


def _about(same: _Same, lang: Language) -> Iterator[str]:
    """Yield section, line, business term and rule set of a finding."""
    first, words = same[0], WORDS[lang]
    yield title(first.section, lang)
    if len(same) > 1:
        yield words["places"].format(count=len(same))
    if place := _lines((it.line for it in same if it.line), lang):
        column = f", {RESULT_WORDS[lang]['column']} {first.column}" if len(same) == 1 and first.column else ""
        yield f"{place}{column}"
    if term := leading(first.terms):
        yield f"{term} {name(term, lang)}"
    yield words.get(f"layer_{first.layer}") or ruleset_label(first.layer, lang=lang)


def _numbers(finding: Finding, lang: Language) -> Markup:
    """Return the compared amounts in one line."""
    amounts = [
        tag("span", WORDS[lang][name], " ", tag("strong", text), class_="amount")
        for name, text in compared(finding, lang, finding.title(lang), finding.explanation(lang))
    ]
    return tag("p", *(part for amount in amounts for part in (amount, " ")), class_="numbers") if amounts else EMPTY


def _labelled(name: str, text: str, kind: str, lang: Language) -> Markup:
    return tag("p", tag("strong", with_colon(name, lang)), " ", text, class_=kind) if text else EMPTY


def _override(finding: Finding, lang: Language) -> str:
    reason = finding.override_reason(lang)
    return f"{capitalize(severity_label(finding, lang))}. {reason}" if reason else ""


def _notes(finding: Finding, lang: Language) -> Iterator[str]:
    for note in finding.notes(lang):
        yield f"{note.text} ({RESULT_WORDS[lang]['see']} {note.source})" if note.source else note.text


def _differences(same: _Same, lang: Language) -> Markup:
    """Return what the texts of further findings say otherwise than that of the first, each with its line."""
    known = set(_sentences(same[0], lang))
    lines: dict[str, list[int]] = {}
    for finding in same[1:]:
        text = " ".join(it for it in _sentences(finding, lang) if it not in known)
        lines.setdefault(text, []).append(finding.line or 0)
    lines.pop("", None)
    shown = [_difference(text, numbers, lang) for text, numbers in list(lines.items())[:_MAX_DIFFERENCES]]
    left = len(lines) - _MAX_DIFFERENCES
    if left > 0:
        shown.append(tag("li", WORDS[lang]["more_places"].format(count=left)))
    return tag("ul", *shown, class_="also") if shown else EMPTY


def _sentences(finding: Finding, lang: Language) -> list[str]:
    return _SENTENCE_END.split(finding.explanation(lang))


def _difference(text: str, numbers: list[int], lang: Language) -> Markup:
    place = _lines(filter(None, numbers), lang)
    return tag("li", f"{with_colon(place, lang)} " if place else "", quote(text, limit=_MAX_DIFFERENCE))


def _lines(numbers: Iterable[int], lang: Language) -> str:
    """Return "line 3" or "lines 3, 7, 9", with at most `_MAX_LINES` numbers; '' without numbers."""
    found = sorted(set(numbers))
    if not found:
        return ""
    if len(found) == 1:
        return f"{capitalize(RESULT_WORDS[lang]['line'])} {found[0]}"
    shown = ", ".join(map(str, found[:_MAX_LINES])) + (" …" if len(found) > _MAX_LINES else "")
    return f"{WORDS[lang]['lines']} {shown}"


def _path(same: _Same) -> Markup:
    """Return the XPath of a finding, or the common one of several without positions."""
    paths = {finding.xpath for finding in same}
    if len(same) > 1:
        paths = {_POSITION.sub("", it) for it in paths}
    path = paths.pop() if len(paths) == 1 else ""
    return tag("p", quote(path, limit=_MAX_PATH_LENGTH, keep_end=True), class_="path") if path else EMPTY


def _left(left: list[_Same], lang: Language) -> Markup:
    words = WORDS[lang]
    counted: Counter[str] = Counter()
    titles: dict[str, str] = {}
    for same in left:
        counted[same[0].code] += len(same)
        titles.setdefault(same[0].code, same[0].title(lang))
    head = tag(
        "tr",
        *(tag("th", words[key], scope="col") for key in ("rule", "title")),
        tag("th", words["count"], scope="col", class_="n"),
    )
    rows = [
        tag(
            "tr",
            tag("th", code, scope="row"),
            tag("td", titles[code]),
            tag("td", format_number(Decimal(count), lang), class_="n"),
        )
        for code, count in counted.most_common()
    ]
    return join(
        tag("h2", words["left"]),
        tag("p", words["left_means"].format(count=format_number(Decimal(counted.total()), lang)), class_="means"),
        tag("table", tag("thead", head), tag("tbody", *rows), class_="plain left"),
    )
