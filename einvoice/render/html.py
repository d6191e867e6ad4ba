"""A result as a notebook shows it: plain HTML without scripts, for light and dark pages."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Final

from einvoice.errors import quote
from einvoice.render.json import standing
from einvoice.render.text import (
    WORDS,
    container,
    counts,
    declared,
    difference,
    gravest_first,
    layer,
    layers,
    notes,
    numbers,
    place,
    second_opinion,
    severity,
    verdict,
)
from einvoice.result.languages import Language

if TYPE_CHECKING:
    from einvoice.result.container import Container
    from einvoice.result.finding import Finding
    from einvoice.result.validation import ValidationResult

_SHOWN: Final = 200

# Colours are mixed from the page's own text colour, so that they suit light and dark pages alike. The class is named
# twice where JupyterLab has a say: it puts the text of tables to the right, in columns of one width.
STYLE: Final = """
.einvoice{font-size:13px;line-height:1.45;max-width:64em}
div.einvoice.einvoice table{border-collapse:collapse;table-layout:auto;width:100%;margin:.5em 0;font-size:inherit}
.einvoice caption{text-align:left;color:inherit;padding:0 0 .4em}
div.einvoice.einvoice :is(td,th){text-align:left;vertical-align:top;padding:.35em .7em;background:none;
border-bottom:1px solid color-mix(in srgb,currentColor 20%,transparent)}
.einvoice .mark{font-weight:600;white-space:nowrap;border-left:4px solid #8a8f98}
.einvoice .fatal{border-left-color:#d1383d}
.einvoice .warning{border-left-color:#c98a00}
.einvoice .valid{border-left:4px solid #2f9e5b;padding-left:.6em}
.einvoice .invalid{border-left:4px solid #d1383d;padding-left:.6em}
div.einvoice.einvoice .number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.einvoice summary{cursor:pointer}
.einvoice>details{margin:.5em 0}
.einvoice code{background:none;color:inherit;overflow-wrap:anywhere}
""".replace("\n", "")


def html(result: ValidationResult, lang: Language) -> str:
    """The result as HTML; everything from the document and from the catalog is escaped."""
    number = quote(result.summary.invoice_number)
    about = " · ".join(part for part in (number, declared(result), counts(result, lang)) if part)
    shown = gravest_first(result.findings)[:_SHOWN]
    left = len(result.findings) - _SHOWN
    return page(
        lang,
        _verdict(result.is_valid, verdict(result, lang), f" · {about}"),
        _table((it for it in shown if it.layer != "pdf"), lang),
        _container(result.container, (it for it in shown if it.layer == "pdf"), lang) if result.container else "",
        f"<p>… + {left}</p>" if left > 0 else "",
        _differences(result, lang),
        _second_opinion(result, lang),
        _folded(layers(result.stack.layers, lang), (layer(it, lang) for it in result.stack.layers)),
    )


def finding_html(finding: Finding, lang: Language) -> str:
    """One finding as HTML, unfolded."""
    return page(lang, _table([finding], lang).replace("<details>", "<details open>", 1))


def container_html(it: Container, lang: Language) -> str:
    """The PDF around an invoice as HTML: the verdict on it, the attachments to choose from, and its findings."""
    others = it.candidates if len(it.candidates) > 1 else ()
    return page(lang, _container(it, it.findings, lang), _list(others), f"<p>{escape(it.title[lang])}</p>")


def page(lang: Language, *parts: str) -> str:
    """Parts of HTML as a notebook shows them, with their style."""
    return f'<div class="einvoice" lang="{lang}"><style>{STYLE}</style>{"".join(parts)}</div>'


def _verdict(is_valid: bool, said: str, about: str = "") -> str:
    return f'<p class="{"valid" if is_valid else "invalid"}"><strong>{escape(said)}</strong>{escape(about)}</p>'


def _container(it: Container, findings: Iterable[Finding], lang: Language) -> str:
    return _verdict(it.is_valid, container(it, lang)) + _table(findings, lang)


def _differences(result: ValidationResult, lang: Language) -> str:
    """How the rules that judged stand to those of today, where that was compared."""
    said = standing(result, lang) or ""
    if not result.differences:
        return f"<p>{escape(said)}</p>" if said else ""
    told = [difference(it, lang) for it in result.differences]
    return _folded(said or WORDS[lang]["differences"], told)


def _second_opinion(result: ValidationResult, lang: Language) -> str:
    """What the official artefacts say, where they were asked."""
    if result.agreement is None:
        return ""
    heading, *told = second_opinion(result.agreement, lang)
    return _folded(heading, told) if told else f"<p>{escape(heading)}</p>"


def _folded(summary: str, lines: Iterable[str]) -> str:
    shown = list(lines)
    left = len(shown) - _SHOWN
    told = [*shown[:_SHOWN], f"… + {left}"] if left > 0 else shown
    return f"<details><summary>{escape(summary)}</summary>{_list(told)}</details>"


def _list(lines: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(it)}</li>" for it in lines)
    return f"<ul>{items}</ul>" if items else ""


def _table(findings: Iterable[Finding], lang: Language) -> str:
    rows = "".join(_row(finding, lang) for finding in findings)
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
