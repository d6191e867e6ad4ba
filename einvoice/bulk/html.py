"""Many files, and what has changed among them, as a notebook shows it: plain HTML without scripts."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from einvoice.bulk.comparison import judged_otherwise
from einvoice.bulk.labels import VERDICT_WORDS, WORDS, whole
from einvoice.errors import quote
from einvoice.render.html import STYLE
from einvoice.render.text import WORDS as RESULT_WORDS
from einvoice.render.text import place
from einvoice.result.languages import Language

if TYPE_CHECKING:
    from einvoice.bulk.comparison import Change, Comparison
    from einvoice.bulk.overview import Frequent, Overview

_STYLE = (
    STYLE
    + """
.einvoice .bar{display:flex;height:.6em;max-width:32em;border-radius:.3em;overflow:hidden;margin:.5em 0}
.einvoice .bar span{display:block}
.einvoice .is-valid{background:#2f9e5b}.einvoice .is-invalid{background:#d1383d}
.einvoice .is-unreadable{background:#8a8f98}
.einvoice ul.verdicts{display:flex;flex-wrap:wrap;gap:.2em 1.6em;list-style:none;margin:.3em 0;padding:0}
.einvoice .verdicts i{display:inline-block;width:.7em;height:.7em;border-radius:.15em;margin-right:.45em}
.einvoice td.number,.einvoice th.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
""".replace("\n", "")
)
_SHOWN = 10
_MOST_CHANGES = 50
_NAME = 60


def html(overview: Overview, lang: Language) -> str:
    """The overview as HTML; everything from files and from the catalog is escaped."""
    words = WORDS[lang]
    count = f"{whole(overview.files, lang)} {words['file' if overview.files == 1 else 'files']}"
    broken_off = "" if overview.complete else f"<p><em>{escape(words['interrupted'])}</em></p>"
    return (
        f'<div class="einvoice" lang="{lang}"><style>{_STYLE}</style>'
        f"<p><strong>{escape(count)}</strong></p>{broken_off}"
        f"{_verdicts(overview, lang)}{_codes(overview, lang)}{_worst(overview, lang)}</div>"
    )


def _verdicts(overview: Overview, lang: Language) -> str:
    """A bar for the eye, and the same as a list for everybody."""
    there = {verdict: number for verdict, number in overview.verdicts.items() if number}
    if not there:
        return ""
    bar = "".join(f'<span class="is-{name}" style="flex:{number}"></span>' for name, number in there.items())
    items = "".join(
        f'<li><i class="is-{name}"></i>{whole(number, lang)} {escape(VERDICT_WORDS[lang][name])}</li>'
        for name, number in there.items()
    )
    return f'<div class="bar" aria-hidden="true">{bar}</div><ul class="verdicts">{items}</ul>'


def _codes(overview: Overview, lang: Language) -> str:
    if not overview.codes:
        return ""
    words = WORDS[lang]
    heads = (("code", ""), ("title", ""), ("files", "number"), ("findings", "number"))
    head = "".join(f'<th scope="col" class="{kind}">{escape(words[key])}</th>' for key, kind in heads)
    rows = "".join(_code(it, lang) for it in overview.codes[:_SHOWN])
    left = len(overview.codes) - _SHOWN
    if left > 0:
        rows += f'<tr><td colspan="4">… + {left} {escape(words["further"])}</td></tr>'
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _code(it: Frequent, lang: Language) -> str:
    severity = RESULT_WORDS[lang][it.severity]
    return (
        f'<tr><td class="mark {it.severity}">{escape(it.code)}<br>{escape(severity)}</td>'
        f"<td>{escape(it.title(lang))}<br>"
        f"<small>{escape(WORDS[lang]['example'])} {escape(quote(it.example, limit=_NAME, keep_end=True))}</small></td>"
        f'<td class="number">{whole(it.files, lang)}</td><td class="number">{whole(it.findings, lang)}</td></tr>'
    )


def _worst(overview: Overview, lang: Language) -> str:
    if not overview.worst:
        return ""
    words = WORDS[lang]
    rows = "".join(
        f'<tr><td>{escape(name)}</td><td class="number">{whole(number, lang)}</td></tr>'
        for name, number in overview.worst
    )
    head = f'<th scope="col">{escape(words["file"])}</th><th scope="col" class="number">{escape(words["errors"])}</th>'
    return (
        f"<details><summary>{escape(words['worst'])}</summary>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></details>"
    )


def comparison_html(comparison: Comparison, lang: Language) -> str:
    """What has changed as HTML; everything from files and from the catalog is escaped."""
    words = WORDS[lang]
    counts = " · ".join(
        f"{words[kind]}: {whole(len(getattr(comparison, kind)), lang)}"
        for kind in ("new", "fixed", "same", "turned", "missing", "added")
    )
    lists = "".join(_changes(words[kind], getattr(comparison, kind), lang) for kind in ("new", "fixed"))
    turned = [
        f"{quote(it.file, limit=_NAME)}: {VERDICT_WORDS[lang][it.before]} → {VERDICT_WORDS[lang][it.after]}"
        for it in comparison.turned
    ]
    names = {kind: [quote(name, limit=_NAME) for name in getattr(comparison, kind)] for kind in ("missing", "added")}
    lists += "".join(_list(words[kind], entries) for kind, entries in {"turned": turned, **names}.items())
    otherwise = "".join(f"<p>{escape(it)}</p>" for it in judged_otherwise(comparison, lang))
    return (
        f'<div class="einvoice" lang="{lang}"><style>{_STYLE}</style>'
        f'<p class="{"invalid" if comparison else "valid"}">{escape(counts)}</p>{otherwise}{lists}</div>'
    )


def _changes(title: str, changes: tuple[Change, ...], lang: Language) -> str:
    if not changes:
        return ""
    rows = "".join(
        f'<tr><td class="mark {it.finding.severity}">{escape(it.finding.code)}</td>'
        f"<td>{escape(quote(it.file, limit=_NAME))}</td><td>{escape(place(it.finding, lang))}</td>"
        f"<td>{escape(it.finding.title(lang))}</td></tr>"
        for it in changes[:_MOST_CHANGES]
    )
    left = len(changes) - _MOST_CHANGES
    rows += f'<tr><td colspan="4">… + {left}</td></tr>' if left > 0 else ""
    summary = f"{escape(title)}: {whole(len(changes), lang)}"
    return f"<details open><summary>{summary}</summary><table><tbody>{rows}</tbody></table></details>"


def _list(title: str, entries: list[str]) -> str:
    if not entries:
        return ""
    items = "".join(f"<li>{escape(it)}</li>" for it in entries[:_MOST_CHANGES])
    left = len(entries) - _MOST_CHANGES
    items += f"<li>… + {left}</li>" if left > 0 else ""
    return f"<details><summary>{escape(title)}: {len(entries)}</summary><ul>{items}</ul></details>"
