"""HTML of results and findings for notebooks: without scripts, for light and dark pages."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Final

from einvoice.localization import Language, choose
from einvoice.localization.formatting import with_colon
from einvoice.quotation import quote
from einvoice.render.compatibility import compatibility_message
from einvoice.render.text import (
    LABELS,
    agreement_lines,
    by_severity,
    compared_text,
    container,
    counts,
    declared,
    difference,
    layer,
    layers,
    notes,
    position,
    severity,
    verdict,
)
from einvoice.result.container import Container
from einvoice.result.finding import Finding
from einvoice.result.validation import ValidationResult

_MAX_LISTED: Final = 200

# Colours derive from the page's text colour, to suit light and dark pages. The class is repeated to override the table
# styles of JupyterLab (right-aligned text, columns of equal width).
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
.einvoice .place{min-width:9em}
.einvoice summary{cursor:pointer}
.einvoice>details{margin:.5em 0}
.einvoice code{background:none;color:inherit;overflow-wrap:anywhere}
""".replace("\n", "")


def result_html(result: ValidationResult, lang: Language) -> str:
    """Return the verdict, the causes if they are known, and the findings; all content is escaped."""
    number = quote(result.summary.invoice_number)
    about = " · ".join(part for part in (number, declared(result, lang), counts(result, lang)) if part)
    findings = by_severity(result.findings)[:_MAX_LISTED]
    omitted = len(result.findings) - _MAX_LISTED
    of_pdf = [finding for finding in findings if finding.layer == "pdf"]
    return page(
        lang,
        _verdict(result.is_valid, verdict(result, lang), f" · {about}"),
        result.known_causes.to_html(lang) if result.known_causes else "",
        _table((finding for finding in findings if finding.layer != "pdf"), lang),
        _container(result.container, of_pdf, lang) if result.container else "",
        f"<p>… + {omitted}</p>" if omitted > 0 else "",
        _differences(result, lang),
        _agreement(result, lang),
        _details(layers(result.stack.layers, lang), (layer(it, lang) for it in result.stack.layers)),
    )


def finding_html(finding: Finding, lang: Language) -> str:
    """Return a finding with its details open; all content is escaped."""
    return page(lang, _table([finding], lang).replace("<details>", "<details open>", 1))


def container_html(pdf: Container, lang: Language) -> str:
    """Return the verdict on a PDF container and its findings; all content is escaped."""
    candidates = pdf.candidates if len(pdf.candidates) > 1 else ()
    return page(
        lang, _container(pdf, pdf.findings, lang), _list(candidates), f"<p>{escape(choose(pdf.title, lang))}</p>"
    )


def page(lang: Language, *parts: str) -> str:
    """Return HTML fragments in one element, with their style sheet."""
    return f'<div class="einvoice" lang="{lang}"><style>{STYLE}</style>{"".join(parts)}</div>'


def _verdict(is_valid: bool, text: str, about: str = "") -> str:
    return f'<p class="{"valid" if is_valid else "invalid"}"><strong>{escape(text)}</strong>{escape(about)}</p>'


def _container(pdf: Container, findings: Iterable[Finding], lang: Language) -> str:
    return _verdict(pdf.is_valid, container(pdf, lang)) + _table(findings, lang)


def _differences(result: ValidationResult, lang: Language) -> str:
    """Return the compatibility message and the differences from the current release."""
    message = compatibility_message(result, lang) or ""
    if not result.differences:
        return f"<p>{escape(message)}</p>" if message else ""
    lines = [difference(it, lang) for it in result.differences]
    return _details(message or LABELS[lang]["differences"], lines)


def _agreement(result: ValidationResult, lang: Language) -> str:
    """Return the comparison with the official Schematron; "" if there is none."""
    if result.agreement is None:
        return ""
    heading, *lines = agreement_lines(result.agreement, lang)
    return _details(heading, lines) if lines else f"<p>{escape(heading)}</p>"


def _details(summary: str, lines: Iterable[str]) -> str:
    items = list(lines)
    omitted = len(items) - _MAX_LISTED
    listed = [*items[:_MAX_LISTED], f"… + {omitted}"] if omitted > 0 else items
    return f"<details><summary>{escape(summary)}</summary>{_list(listed)}</details>"


def _list(lines: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""


def _table(findings: Iterable[Finding], lang: Language) -> str:
    rows = "".join(_row(finding, lang) for finding in findings)
    if not rows:
        return ""
    labels = LABELS[lang]
    head = "".join(f'<th scope="col">{escape(labels[key])}</th>' for key in ("rule", "place", "finding"))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _row(finding: Finding, lang: Language) -> str:
    title, explanation = finding.title(lang), finding.explanation(lang)
    values = compared_text(finding, lang, title, explanation)
    details = _lines(values, explanation, finding.override_reason(lang))
    return (
        f'<tr><td class="mark {finding.severity}">{escape(finding.code)}<br>{escape(severity(finding, lang))}</td>'
        f'<td class="place">{escape(position(finding, lang))}</td>'
        f"<td><details><summary>{escape(title)}</summary>{details}"
        f"<div><strong>{escape(with_colon(LABELS[lang]['fix'], lang))}</strong> {escape(finding.fix(lang))}</div>"
        f"{_lines(*notes(finding, lang))}"
        f"<div><code>{escape(finding.xpath)}</code></div></details></td></tr>"
    )


def _lines(*texts: str) -> str:
    return "".join(f"<div>{escape(text)}</div>" for text in texts if text)
