"""A result as a notebook shows it: plain HTML without scripts, for light and dark pages."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from einvoice.errors import quote
from einvoice.result.finding import Finding
from einvoice.result.texts import Language
from einvoice.result.words import WORDS, counts, declared, notes, numbers, place, severity, verdict

if TYPE_CHECKING:
    from einvoice.result.validation import ValidationResult

_SHOWN: Final = 200

# Colours are mixed from the page's own text colour, so that they suit light and dark pages alike.
STYLE: Final = """
.einvoice{font-size:13px;line-height:1.45;max-width:64em}
.einvoice table{border-collapse:collapse;width:100%;margin:.5em 0;font-size:inherit}
.einvoice td,.einvoice th{text-align:left;vertical-align:top;padding:.35em .7em;background:none;
border-bottom:1px solid color-mix(in srgb,currentColor 20%,transparent)}
.einvoice .mark{font-weight:600;white-space:nowrap;border-left:4px solid #8a8f98}
.einvoice .fatal{border-left-color:#d1383d}
.einvoice .warning{border-left-color:#c98a00}
.einvoice .valid{border-left:4px solid #2f9e5b;padding-left:.6em}
.einvoice .invalid{border-left:4px solid #d1383d;padding-left:.6em}
.einvoice summary{cursor:pointer}
.einvoice code{background:none;color:inherit;overflow-wrap:anywhere}
""".replace("\n", "")


def html(result: ValidationResult, lang: Language) -> str:
    """The result as HTML; everything from the document and from the catalog is escaped."""
    number = quote(result.summary.invoice_number)
    title = " · ".join(part for part in (number, declared(result), counts(result, lang)) if part)
    kind = "valid" if result.is_valid else "invalid"
    rows = "".join(_row(finding, lang) for finding in result.findings[:_SHOWN])
    left = len(result.findings) - _SHOWN
    if left > 0:
        rows += f'<tr><td colspan="3">… + {left}</td></tr>'
    return (
        f'<div class="einvoice" lang="{lang}"><style>{STYLE}</style>'
        f'<p class="{kind}"><strong>{escape(verdict(result, lang))}</strong> · {escape(title)}</p>'
        f"{_table(rows, lang)}</div>"
    )


def finding_html(finding: Finding, lang: Language) -> str:
    """One finding as HTML, unfolded."""
    row = _row(finding, lang).replace("<details>", "<details open>", 1)
    return f'<div class="einvoice" lang="{lang}"><style>{STYLE}</style>{_table(row, lang)}</div>'


def _table(rows: str, lang: Language) -> str:
    if not rows:
        return ""
    words = WORDS[lang]
    head = "".join(f'<th scope="col">{escape(words[key])}</th>' for key in ("rule", "place", "finding"))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _row(finding: Finding, lang: Language) -> str:
    details = _lines(numbers(finding, lang), finding.explanation(lang), finding.override_reason(lang))
    return (
        f'<tr><td class="mark {finding.severity}">{escape(finding.code)}<br>{escape(severity(finding, lang))}</td>'
        f"<td>{escape(place(finding, lang))}</td>"
        f"<td><details><summary>{escape(finding.title(lang))}</summary>{details}"
        f"<div><strong>{escape(WORDS[lang]['fix'])}:</strong> {escape(finding.fix(lang))}</div>"
        f"{_lines(*notes(finding, lang))}"
        f"<div><code>{escape(finding.xpath)}</code></div></details></td></tr>"
    )


def _lines(*texts: str) -> str:
    return "".join(f"<div>{escape(text)}</div>" for text in texts if text)
