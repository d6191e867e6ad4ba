"""Report of a whole run as one HTML file, which needs no network and no scripts."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import islice
from typing import Any, Final

from einvoice.bulk.groups import Group, Groups, grouped
from einvoice.bulk.html import overview_html
from einvoice.bulk.labels import COLUMN_LABELS, GROUP_LABELS, LABELS, REPORT_LABELS, VERDICT_LABELS, whole
from einvoice.bulk.overview import Overview, headline
from einvoice.bulk.record import COUNTERS, decode
from einvoice.bulk.stored_findings import FindingTexts
from einvoice.localization import Language
from einvoice.localization.formatting import with_colon
from einvoice.quotation import quote
from einvoice.render.text import LABELS as RESULT_LABELS

_FACTS: Final = ("month", "seller", "software", "folder")
_MAX_FILES: Final = 500
_MAX_FINDINGS: Final = 50
_MAX_NAME: Final = 120
_COLORS: Final = {"valid": "#2f9e5b", "invalid": "#d1383d", "unreadable": "#8a8f98"}
_PAGE: Final = (
    '<!DOCTYPE html><html lang="{lang}"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width,initial-scale=1"><title>{title}</title>'
    "<style>body{{margin:2rem auto;max-width:70rem;padding:0 1rem;font-family:system-ui,sans-serif}}"
    "summary{{cursor:pointer}}h2{{margin-top:2rem;font-size:1.2rem}}td{{vertical-align:top}}"
    ".bar{{display:flex;height:.7em;width:16em}}</style></head><body>{body}</body></html>\n"
)


def report(lines: Sequence[bytes], overview: Overview, lang: Language) -> str:
    """Return the report of encoded records; see `ResultSet.report_html`. All content is escaped."""
    labels = REPORT_LABELS[lang]
    parts = [f"<h1>{escape(labels['title'])}</h1>", overview_html(overview, lang)]
    for fact in _FACTS:
        groups = grouped((decode(line, lang) for line in lines), fact, lang)
        if len(groups) > 1:
            parts.append(_groups(groups, lang))
    parts += _files(lines, lang)
    title = with_colon(labels["title"], lang, headline(overview, lang))
    return _PAGE.format(lang=lang, title=escape(title), body="".join(parts))


def _groups(groups: Groups, lang: Language) -> str:
    """Return a table with a bar per group."""
    heads, rows = groups.cells(lang)
    longest = max(group.files for group in groups)
    head = "".join(f'<th scope="col">{escape(it)}</th>' for it in (heads[0], "", *heads[1:]))
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th><td>{_bar(group, longest)}</td>'
        + "".join(f'<td class="number">{escape(cell)}</td>' for cell in row[1:])
        + "</tr>"
        for row, group in zip(rows, groups, strict=False)
    )
    omitted = len(groups) - len(rows)
    more = f"<p>… + {whole(omitted, lang)}</p>" if omitted else ""
    title = GROUP_LABELS[lang][groups.by]
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
    return f'<h2>{escape(title)}</h2><div class="einvoice">{table}</div>'


def _bar(group: Group, longest: int) -> str:
    counts = {"invalid": group.invalid, "unreadable": group.unreadable}
    counts["valid"] = group.files - sum(counts.values())
    parts = "".join(
        f'<span style="background:{_COLORS[name]};width:{100 * count / longest:.1f}%"></span>'
        for name, count in counts.items()
    )
    return f'<div class="bar" aria-hidden="true">{parts}</div>'


def _files(lines: Iterable[bytes], lang: Language) -> Iterator[str]:
    """Yield the files with errors, those with the most first, each with its findings."""
    labels = REPORT_LABELS[lang]
    records = (json.loads(line) for line in lines)
    faulty = ((-it["errors"], number, it) for number, it in enumerate(records) if it.get("errors"))
    shown = heapq.nsmallest(_MAX_FILES + 1, faulty)
    if not shown:
        return
    texts = FindingTexts(["title", "fix"], lang)
    yield f'<h2>{escape(labels["files_with_errors"])}</h2><div class="einvoice">'
    for _, _, record in islice(shown, _MAX_FILES):
        yield _file(record, texts, lang)
    if len(shown) > _MAX_FILES:
        yield f"<p>{escape(labels['more_files'].format(count=whole(_MAX_FILES, lang)))}</p>"
    yield "</div>"


def _file(record: Mapping[str, Any], texts: FindingTexts, lang: Language) -> str:
    errors = f"{whole(record['errors'], lang)} {LABELS[lang]['errors']}"
    facts = [record.get("number", ""), record.get("seller", ""), VERDICT_LABELS[lang][record["verdict"]], errors]
    about = " · ".join(quote(it, limit=_MAX_NAME) for it in facts if it)
    findings = sorted(record.get("findings", ()), key=lambda it: list(COUNTERS).index(it["severity"]))
    rows = "".join(_finding(it, texts.of(it, record), lang) for it in findings[:_MAX_FINDINGS])
    omitted = len(findings) - _MAX_FINDINGS
    more = f"<p>… + {whole(omitted, lang)}</p>" if omitted > 0 else ""
    name = escape(quote(record["file"], limit=_MAX_NAME, keep_end=True))
    return (
        f"<details><summary><strong>{name}</strong> {escape(about)}</summary>"
        f"<table><tbody>{rows}</tbody></table>{more}</details>"
    )


def _finding(finding: Mapping[str, Any], texts: Sequence[str], lang: Language) -> str:
    title, fix = texts
    severity = RESULT_LABELS[lang][finding["severity"]]
    line = f"{COLUMN_LABELS[lang]['line']} {finding['line']}" if finding.get("line") else ""
    place = ", ".join(filter(None, (line, " ".join(finding.get("terms", ())))))
    return (
        f'<tr><td class="mark {finding["severity"]}">{escape(finding["code"])}<br>{escape(severity)}</td>'
        f"<td>{escape(place)}</td><td>{escape(title)}<br><small>{escape(fix)}</small></td></tr>"
    )
