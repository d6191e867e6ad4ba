"""The findings of the report, grouped by severity and text, in the order of the sections of the invoice.

Large numbers of similar findings are limited: every code is shown, and the remaining findings are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, TypeAlias

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

_SEVERITIES: Final = ("fatal", "warning", "information")
_MAX_SHOWN: Final = 200
"""Maximum number of groups of findings shown, distributed evenly among the codes."""
_MAX_LOCATIONS: Final = 8
"""Maximum number of locations listed per group."""
_MAX_PATH_LENGTH: Final = 300

#: Findings with equal texts.
_Same: TypeAlias = list["Finding"]


def findings(found: Sequence[Finding], lang: Language) -> Markup:
    """Return the findings, the most severe first."""
    by_words = _by_words(found, lang)
    shown, left = _chosen(by_words)
    indicative = any(finding.indicative for finding in found)
    return join(
        tag("p", RESULT_WORDS[lang]["indicative"], class_="remark") if indicative else EMPTY,
        *(_of_severity(kind, shown, found, lang) for kind in _SEVERITIES),
        _left(left, lang) if left else EMPTY,
    )


def _by_words(found: Iterable[Finding], lang: Language) -> list[_Same]:
    """Group findings that differ only in their location, in the order of the report."""
    same: dict[tuple[Any, ...], _Same] = {}
    for finding in found:
        words = (finding.title(lang), finding.explanation(lang), finding.fix(lang), finding.notes(lang))
        key = (finding.code, finding.section, finding.severity, finding.terms, finding.override, *words)
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


def _of_severity(kind: str, shown: list[_Same], found: Sequence[Finding], lang: Language) -> Markup:
    own = [same for same in shown if same[0].severity == kind]
    if not own:
        return EMPTY
    words = WORDS[lang]
    count = Decimal(sum(finding.severity == kind for finding in found))
    head = (
        tag("h2", f"{words[kind]} ({format_number(count, lang)})"),
        tag("p", words[kind + "_means"], class_="means"),
    )
    return tag("section", *head, *(_finding(same, lang) for same in own), class_=kind)


def _finding(same: _Same, lang: Language) -> Markup:
    first, words = same[0], WORDS[lang]
    return tag(
        "div",
        tag("h3", tag("span", first.code, class_="code"), " ", first.title(lang)),
        tag("p", " · ".join(_about(same, lang)), class_="where"),
        tag("p", first.explanation(lang)),
        _numbers(first, lang),
        _labelled(words["fix"], first.fix(lang), "fix"),
        _labelled(words["severity"], _override(first, lang), "more"),
        *(_labelled(words["note"], text, "more") for text in _notes(first, lang)),
        _locations(same, lang),
        class_="finding",
    )


def _about(same: _Same, lang: Language) -> Iterator[str]:
    """Yield section, line, business term and rule set of a finding."""
    first, words = same[0], WORDS[lang]
    yield title(first.section, lang)
    if len(same) > 1:
        yield words["places"].format(count=len(same))
    elif first.line:
        known = RESULT_WORDS[lang]
        column = f", {known['column']} {first.column}" if first.column else ""
        yield f"{capitalize(known['line'])} {first.line}{column}"
    if term := leading(first.terms):
        yield f"{term} {name(term, lang)}"
    yield words.get(f"layer_{first.layer}") or ruleset_label(first.layer)


def _numbers(finding: Finding, lang: Language) -> Markup:
    """Return the compared amounts in one line."""
    amounts = [
        tag("span", WORDS[lang][name], " ", tag("strong", text), class_="amount")
        for name, text in compared(finding, lang, finding.title(lang), finding.explanation(lang))
    ]
    return tag("p", *(part for amount in amounts for part in (amount, " ")), class_="numbers") if amounts else EMPTY


def _labelled(name: str, text: str, kind: str) -> Markup:
    return tag("p", tag("strong", f"{name}:"), " ", text, class_=kind) if text else EMPTY


def _override(finding: Finding, lang: Language) -> str:
    reason = finding.override_reason(lang)
    return f"{capitalize(severity_label(finding, lang))}. {reason}" if reason else ""


def _notes(finding: Finding, lang: Language) -> Iterator[str]:
    for note in finding.notes(lang):
        yield f"{note.text} ({RESULT_WORDS[lang]['see']} {note.source})" if note.source else note.text


def _locations(same: _Same, lang: Language) -> Markup:
    """Return the XPaths of the findings, with line numbers if there are several."""
    with_line = len(same) > 1
    shown = [_location(finding, lang, with_line=with_line) for finding in same[:_MAX_LOCATIONS] if finding.xpath]
    left = len(same) - _MAX_LOCATIONS
    if left > 0:
        shown.append(tag("p", WORDS[lang]["more_places"].format(count=left), class_="path"))
    return join(*shown)


def _location(finding: Finding, lang: Language, *, with_line: bool) -> Markup:
    path = quote(finding.xpath, limit=_MAX_PATH_LENGTH, keep_end=True)
    line = f"{capitalize(RESULT_WORDS[lang]['line'])} {finding.line}: " if with_line and finding.line else ""
    return tag("p", line, path, class_="path")


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
