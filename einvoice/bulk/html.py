"""HTML of overviews and comparisons for notebooks, without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Literal

from einvoice.bulk.comparison import (
    MARKS,
    Change,
    Comparison,
    RuleCount,
    changed_verdict,
    count_label,
    in_files,
    rulesets_line,
    settings_lines,
)
from einvoice.bulk.labels import LABELS, VERDICT_LABELS, validated_with, whole
from einvoice.bulk.overview import Frequent, Overview, comparison_lines
from einvoice.localization import Language
from einvoice.localization.formatting import with_colon
from einvoice.quotation import quote
from einvoice.render.html import STYLE
from einvoice.render.text import LABELS as RESULT_LABELS
from einvoice.render.text import position

_STYLE = (
    STYLE
    + """
.einvoice .bar{display:flex;height:.6em;max-width:32em;border-radius:.3em;overflow:hidden;margin:.5em 0}
.einvoice .bar span{display:block}
.einvoice .is-valid{background:#2f9e5b}.einvoice .is-invalid{background:#d1383d}
.einvoice .is-unreadable{background:#8a8f98}
.einvoice ul.verdicts{display:flex;flex-wrap:wrap;gap:.2em 1.6em;list-style:none;margin:.3em 0;padding:0}
.einvoice .verdicts i{display:inline-block;width:.7em;height:.7em;border-radius:.15em;margin-right:.45em}
.einvoice span.fixed{background:#1a7f37}.einvoice span.new{background:#b3261e}
.einvoice :is(span.fixed,span.new){color:#fff;font-weight:600;padding:.1em .5em;border-radius:.3em}
.einvoice details.fixed .mark{border-left-color:#2f9e5b}
.einvoice .changes td:first-child{width:8em}.einvoice .changes .place{width:9em}
.einvoice td.number,.einvoice th.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
""".replace("\n", "")
)
_MAX_CODES = 10
_MAX_CHANGES = 50
_MAX_NAME = 60


def overview_html(overview: Overview, lang: Language) -> str:
    """Return the overview as HTML; all content is escaped."""
    labels = LABELS[lang]
    count = f"{whole(overview.files, lang)} {labels['file' if overview.files == 1 else 'files']}"
    rulesets = f"<p>{escape(validated_with(overview.rulesets, lang))}</p>" if overview.files else ""
    comparisons = "".join(f"<p>{escape(line)}</p>" for line in comparison_lines(overview, lang))
    notice = "" if overview.complete else f"<p><em>{escape(labels['interrupted'])}</em></p>"
    if overview.consequences:
        notice += f"<p>{escape(labels['consequences'].format(count=whole(overview.consequences, lang)))}</p>"
    return (
        f'<div class="einvoice" lang="{lang}"><style>{_STYLE}</style>'
        f"<p><strong>{escape(count)}</strong></p>{notice}{rulesets}{comparisons}"
        f"{_verdicts(overview, lang)}{_codes(overview, lang)}{_worst(overview, lang)}</div>"
    )


def _verdicts(overview: Overview, lang: Language) -> str:
    """Return a bar chart, and the same figures as an accessible list."""
    verdicts = {verdict: number for verdict, number in overview.verdicts.items() if number}
    if not verdicts:
        return ""
    bar = "".join(f'<span class="is-{name}" style="flex:{number}"></span>' for name, number in verdicts.items())
    items = "".join(
        f'<li><i class="is-{name}"></i>{whole(number, lang)} {escape(VERDICT_LABELS[lang][name])}</li>'
        for name, number in verdicts.items()
    )
    return f'<div class="bar" aria-hidden="true">{bar}</div><ul class="verdicts">{items}</ul>'


def _codes(overview: Overview, lang: Language) -> str:
    if not overview.codes:
        return ""
    labels = LABELS[lang]
    heads = (("code", ""), ("title", ""), ("files", "number"), ("findings", "number"))
    head = "".join(f'<th scope="col" class="{kind}">{escape(labels[key])}</th>' for key, kind in heads)
    rows = "".join(_code(it, lang) for it in overview.codes[:_MAX_CODES])
    omitted = len(overview.codes) - _MAX_CODES
    if omitted > 0:
        rows += f'<tr><td colspan="4">… + {omitted} {escape(labels["further"])}</td></tr>'
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _code(code: Frequent, lang: Language) -> str:
    severity = RESULT_LABELS[lang][code.severity]
    example = quote(code.example, limit=_MAX_NAME, keep_end=True)
    return (
        f'<tr><td class="mark {code.severity}">{escape(code.code)}<br>{escape(severity)}</td>'
        f"<td>{escape(code.title(lang))}<br>"
        f"<small>{escape(LABELS[lang]['example'])} {escape(example)}</small></td>"
        f'<td class="number">{whole(code.files, lang)}</td><td class="number">{whole(code.findings, lang)}</td></tr>'
    )


def _worst(overview: Overview, lang: Language) -> str:
    if not overview.worst:
        return ""
    labels = LABELS[lang]
    rows = "".join(
        f'<tr><td>{escape(name)}</td><td class="number">{whole(number, lang)}</td></tr>'
        for name, number in overview.worst
    )
    file, errors = escape(labels["file"]), escape(labels["errors"])
    head = f'<th scope="col">{file}</th><th scope="col" class="number">{errors}</th>'
    return (
        f"<details><summary>{escape(labels['worst'])}</summary>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></details>"
    )


def comparison_html(comparison: Comparison, lang: Language) -> str:
    """Return the comparison as HTML; all content is escaped."""
    labels = LABELS[lang]
    counts = " · ".join(
        with_colon(labels[kind], lang, whole(len(getattr(comparison, kind)), lang))
        for kind in ("unchanged", "changed_verdicts", "missing", "added")
    )
    kinds: tuple[Literal["new", "fixed"], ...] = ("new", "fixed")
    badges = {kind: f'<span class="{kind}">{MARKS[kind]} {escape(count_label(comparison, kind, lang))}</span>'
              for kind in kinds}  # fmt: skip
    lists = "".join(_changes(kind, badges[kind], comparison, lang) for kind in kinds)
    verdicts = [changed_verdict(it, lang, _MAX_NAME) for it in comparison.changed_verdicts]
    lists += _list(labels["changed_verdicts"], verdicts, lang)
    for kind in ("missing", "added"):
        lists += _list(labels[kind], [quote(name, limit=_MAX_NAME) for name in getattr(comparison, kind)], lang)
    settings = "".join(f"<p>{escape(line)}</p>" for line in settings_lines(comparison, lang))
    return (
        f'<div class="einvoice" lang="{lang}"><style>{_STYLE}</style>'
        f'<p class="{"invalid" if comparison.new else "valid"}">{badges["fixed"]} {badges["new"]} '
        f"{escape(comparison.message(lang))}</p><p>{escape(rulesets_line(comparison, lang))}</p>"
        f"<p>{escape(counts)}</p>{settings}{lists}</div>"
    )


def _changes(kind: Literal["new", "fixed"], badge: str, comparison: Comparison, lang: Language) -> str:
    """Return the changes of a kind: counts by rule, then the findings."""
    rules = comparison.by_rule(kind)
    changes: Sequence[Change] = getattr(comparison, kind)
    if not changes:
        return ""
    counts = "".join(_rule(rule, lang) for rule in rules[:_MAX_CODES])
    omitted = len(rules) - _MAX_CODES
    counts += f'<tr><td colspan="3">… + {omitted}</td></tr>' if omitted > 0 else ""
    rows = "".join(
        f'<tr><td class="mark {change.finding.severity}">{escape(change.finding.code)}</td>'
        f"<td>{escape(quote(change.file, limit=_MAX_NAME))}</td>"
        f'<td class="place">{escape(position(change.finding, lang))}</td>'
        f"<td>{escape(change.finding.title(lang))}</td></tr>"
        for change in changes[:_MAX_CHANGES]
    )
    omitted = len(changes) - _MAX_CHANGES
    rows += f'<tr><td colspan="4">… + {omitted}</td></tr>' if omitted > 0 else ""
    tables = "".join(f'<table class="changes"><tbody>{body}</tbody></table>' for body in (counts, rows))
    return f'<details open class="{kind}"><summary>{badge}</summary>{tables}</details>'


def _rule(rule: RuleCount, lang: Language) -> str:
    return (
        f'<tr><td class="mark {rule.severity}">{escape(rule.code)}</td>'
        f'<td class="place">{escape(in_files(rule, lang))}</td>'
        f"<td>{escape(rule.example.finding.entry.title(lang))}</td></tr>"
    )


def _list(title: str, entries: list[str], lang: Language) -> str:
    if not entries:
        return ""
    items = "".join(f"<li>{escape(entry)}</li>" for entry in entries[:_MAX_CHANGES])
    omitted = len(entries) - _MAX_CHANGES
    items += f"<li>… + {omitted}</li>" if omitted > 0 else ""
    return f"<details><summary>{escape(with_colon(title, lang, len(entries)))}</summary><ul>{items}</ul></details>"
