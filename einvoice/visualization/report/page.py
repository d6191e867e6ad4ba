"""The validation report: result, validated document, causes, findings with their fixes, and rule sets."""

from __future__ import annotations

import datetime
import os
import pkgutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Final, TypeAlias

from einvoice.localization.formatting import with_colon
from einvoice.render.text import LABELS as RESULT_WORDS
from einvoice.render.text import agreement_lines, counts, declared, difference
from einvoice.visualization import formatting
from einvoice.visualization.formatting import format_number
from einvoice.visualization.glyphs import REPLACEMENT
from einvoice.visualization.labels import label
from einvoice.visualization.markup import EMPTY, Markup, join, tag
from einvoice.visualization.report.assessment import box
from einvoice.visualization.report.causes import causes, numbered
from einvoice.visualization.report.findings import findings
from einvoice.visualization.report.labels import WORDS
from einvoice.visualization.report.record import program, record
from einvoice.visualization.text import html_document, plain_text
from einvoice.visualization.typesetting import render

if TYPE_CHECKING:
    from einvoice.assessment import Assessment
    from einvoice.causes import Cause
    from einvoice.result import Finding, Language, Layer, ValidationResult

_MAX_TITLE_LENGTH: Final = 60
_MAX_LENGTH: Final = 200
"""Maximum length of a text from the document (characters)."""
_Rows: TypeAlias = Sequence[tuple[str, str]]


def report_pdf(
    result: ValidationResult,
    lang: Language,
    *,
    when: datetime.datetime | None = None,
    causes: Sequence[Cause] | None = None,
    assessment: Assessment | None = None,
) -> bytes:
    """Render a report as PDF; see `einvoice.visualization.report_pdf`."""
    moment = when or _now()
    found = _causes(result, causes)
    title = _title(result, lang)
    html = report_html(result, lang, moment, found, assessment)
    return render(
        Markup(html.replace("§ ", "§\u00a0")) if assessment else html,
        lang=lang,
        title=title,
        description=with_colon(title, lang, WORDS[lang]["valid" if result.is_valid else "invalid"]),
        css=_style(lang, assessment),
        compact_css=[_css("compact.css")],
        when=moment,
        attach=record(result, lang, moment, found, assessment),
    )


def report_document(
    result: ValidationResult,
    lang: Language,
    *,
    when: datetime.datetime | None,
    causes: Sequence[Cause] | None,
    assessment: Assessment | None,
) -> str:
    """Render a report as an HTML document; see `einvoice.visualization.report_html`."""
    html = report_html(result, lang, when or _now(), _causes(result, causes), assessment)
    return html_document(html, lang=lang, title=_title(result, lang), css=_style(lang, assessment))


def report_text(
    result: ValidationResult,
    lang: Language,
    *,
    when: datetime.datetime | None,
    causes: Sequence[Cause] | None,
    assessment: Assessment | None,
    width: int,
) -> str:
    """Render a report as plain text; see `einvoice.visualization.report_text`."""
    moment = when or _now()
    return plain_text(report_html(result, lang, moment, _causes(result, causes), assessment), width)


def _now() -> datetime.datetime:
    """Return the time, or that of SOURCE_DATE_EPOCH (seconds since 1970), for builds that can be repeated."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    return (
        datetime.datetime.fromtimestamp(int(epoch), datetime.UTC)
        if epoch.isdecimal()
        else datetime.datetime.now(datetime.UTC)
    )


def _causes(result: ValidationResult, causes: Sequence[Cause] | None) -> Sequence[Cause]:
    return result.causes() if causes is None else causes


def report_html(
    result: ValidationResult,
    lang: Language,
    when: datetime.datetime,
    found: Sequence[Cause] = (),
    assessment: Assessment | None = None,
) -> Markup:
    """Return the report as HTML, without the style; `found` are the causes of the findings."""
    words = {**WORDS[lang], **(assessment.law.report_words(lang) if assessment else {})}
    invoice, file = _invoice(result, assessment, lang, words), _file(result, lang, when, words)
    document = tag("h2", words["document"])
    layers = (*result.stack.layers, *(assessment.layers if assessment else ()))
    shown = (*result.findings, *(assessment.items if assessment else ()))
    html = join(
        tag("h1", WORDS[lang]["report"], data_title=_title(result, lang)),
        _verdict(result, assessment, lang, words),
        join(_pair(invoice[::2], invoice[1::2]), box(assessment, lang)) if assessment else EMPTY,
        document,
        _pair(*(file[::2], file[1::2]) if assessment else (invoice, file)),
        _identifiers(result, lang, words),
        causes(found, len(result.findings), lang, words["change"] if assessment else ""),
        findings(result.findings, lang, words, numbered(found) if assessment else {}),
        _rules(layers, shown, lang),
        tag("p", WORDS[lang]["about"], class_="about"),
    )
    missing = tag("p", label("unshown", lang), class_="about") if REPLACEMENT in html else EMPTY
    return join(html, missing)


def _title(result: ValidationResult, lang: Language) -> str:
    name = _short(result.summary.invoice_number, _MAX_TITLE_LENGTH) or _short(result.filename, _MAX_TITLE_LENGTH)
    return " · ".join(filter(None, (WORDS[lang]["report"], name)))


def _short(text: str, limit: int = _MAX_LENGTH) -> str:
    """Return a text from the document on one line, at most `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _verdict(
    result: ValidationResult, assessment: Assessment | None, lang: Language, words: Mapping[str, str]
) -> Markup:
    kind = "valid" if result.is_valid else "invalid"
    head = assessment.case("head", lang) if assessment else ""
    state = kind if result.findings or not result.is_valid or head else "clean"
    title = words[kind]
    if head:
        title = words["attention" if result.is_valid else "in_doubt"].format(head=head)
        kind = "attention" if result.is_valid else kind
    return tag(
        "div",
        tag("p", f"{words[kind + '_sign']} {title}", class_="word"),
        tag("p", counts(result, lang), class_="counts") if result.findings else EMPTY,
        tag("p", words[state + "_means"]),
        class_=f"verdict {kind}",
    )


# ---------------------------------------------------------------- validated document


def _invoice(
    result: ValidationResult, assessment: Assessment | None, lang: Language, words: Mapping[str, str]
) -> _Rows:
    """Return the data of the invoice, each with its label."""
    summary = result.summary
    amount = result.invoice.totals.due.number
    due = format_number(amount, lang, decimals=2) if isinstance(amount, Decimal) else summary.amount_due
    date = result.invoice.issue_date.date
    invoice = [
        ("BT-1", _short(summary.invoice_number)),
        ("BT-2", formatting.format_date(date, lang) if date else _short(str(result.invoice.issue_date))),
        ("BT-27", _short(summary.seller)),
        ("BT-44", _short(summary.buyer)),
        ("BT-115", (assessment and _doubtful_amount(assessment, lang, words)) or _short(f"{due} {summary.currency}")),
    ]
    if assessment:
        terms = (("BT-109", "{net}"), ("BT-110", "{stated_vat}"), ("BT-9", "{due_date}"))
        net, vat, day = ((term, assessment.fill(it, lang) or words["not_stated"]) for term, it in terms)
        if _is_of_data_only(assessment):
            net, vat = ((term, words["in_data"].format(amount=it)) for term, it in (net, vat))
        invoice[4:] = [net, vat, invoice[4], day]
    is_self_billed = assessment is not None and "self_billed" in assessment.facts
    kind = "_self_billed" if is_self_billed else "_credit_note" if result.invoice.is_credit_note else ""
    return [(words.get(number + kind) or words.get(number) or label(number, lang), it) for number, it in invoice]


def _is_of_data_only(assessment: Assessment) -> bool:
    """Return whether the pages of the PDF may show, or do show, other amounts than the data."""
    return "picture_amount" in assessment.facts or bool(assessment.profile and "pdf" in assessment.facts)


def _doubtful_amount(assessment: Assessment, lang: Language, words: Mapping[str, str]) -> str:
    """Return the amount due with what is doubtful about it; "" for nothing."""
    facts = assessment.facts
    key = "two_amounts" if "picture_amount" in facts else "unclear_amount" if facts & {"amounts", "amount_due"} else ""
    key = key or ("data_amount" if assessment.profile and "pdf" in facts else "")
    return assessment.fill(words[key], lang) if key else ""


def _file(result: ValidationResult, lang: Language, when: datetime.datetime, words: Mapping[str, str]) -> _Rows:
    """Return the data of the file and of its validation, each with its label."""
    return [
        (words["file"], _short(result.filename)),
        (words["format"], _short(declared(result, lang))),
        *_container(result, words),
        (words["mode"], words[result.stack.mode]),
        (words["when"], _moment(when, lang, words)),
    ]


def _pair(*halves: _Rows) -> Markup:
    """Return two tables of facts side by side; if one has no rows, each has half of the rows of the other."""
    if not all(map(_facts, halves)):
        rows = [row for half in halves for row in half if row[1]]
        halves = (rows[::2], rows[1::2])
    return tag("div", *(tag("div", _facts(rows), class_="half") for rows in halves), class_="pair")


def _identifiers(result: ValidationResult, lang: Language, words: Mapping[str, str]) -> Markup:
    rows = (
        (words["specification"], _short(result.identity.customization_id or "")),
        (words["sha256"], result.sha256),
        (words["program"], program()),
    )
    return join(_facts(rows), _compatibility_message(result, lang))


def _facts(rows: Iterable[tuple[str, str]]) -> Markup:
    shown = [tag("tr", tag("th", name, scope="row"), tag("td", value)) for name, value in rows if value]
    return tag("table", tag("tbody", *shown), class_="facts") if shown else EMPTY


def _container(result: ValidationResult, words: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    container = result.container
    if container is not None:
        yield words["embedded"], _short(container.name)
        yield words["container"], words["container_fine" if container.is_valid else "container_found"]


def _moment(when: datetime.datetime, lang: Language, words: Mapping[str, str]) -> str:
    utc = when.astimezone(datetime.UTC)
    pattern = words.get("moment", "{date}, {time} UTC")
    return pattern.format(date=formatting.format_date(utc.date(), lang), time=f"{utc:%H:%M}")


def _compatibility_message(result: ValidationResult, lang: Language) -> Markup:
    """Return remarks on the declared specification, the releases, and the reference engine."""
    from einvoice.render.compatibility import compatibility_message

    message = compatibility_message(result, lang)
    items = [tag("li", difference(one, lang)) for one in result.differences]
    remark = tag("p", message, class_="remark") if message else EMPTY
    return join(remark, _listed(items), _agreement(result, lang))


def _listed(items: list[Markup]) -> Markup:
    return tag("ul", *items, class_="remark") if items else EMPTY


def _agreement(result: ValidationResult, lang: Language) -> Markup:
    """Return the differences from the official Schematron, if it was run."""
    if result.agreement is None:
        return EMPTY
    heading, *items = agreement_lines(result.agreement, lang)
    return join(tag("p", heading, class_="remark"), _listed([tag("li", one) for one in items]))


# ---------------------------------------------------------------- rule sets


def _rules(layers: Iterable[Layer], findings: Sequence[Finding], lang: Language) -> Markup:
    words = WORDS[lang]
    head = tag(
        "tr", *(tag("th", words[key], scope="col", **_numeric(key)) for key in ("layer", "rules", "number", "outcome"))
    )
    rows = [_layer(layer, findings, lang) for layer in layers]
    return join(
        tag("h2", words["applied_rule_sets"]),
        tag("table", tag("thead", head), tag("tbody", *rows), class_="plain rules"),
    )


def _numeric(key: str) -> dict[str, str]:
    return {"class_": "n"} if key == "number" else {}


def _layer(layer: Layer, findings: Sequence[Finding], lang: Language) -> Markup:
    words = WORDS[lang]
    digest = tag("div", f"SHA-256 {layer.sha256}", class_="digest") if layer.sha256 else EMPTY
    found = [finding for finding in findings if finding.layer == layer.name]
    return tag(
        "tr",
        tag("th", words.get(f"layer_{layer.name}") or layer.label or layer.name, scope="row"),
        tag("td", layer.description(lang) or "–", digest),
        tag("td", str(layer.rules) if layer.rules else "–", class_="n"),
        tag("td", _outcome(found, lang) if layer.executed else words["not_run"]),
    )


def _outcome(found: list[Finding], lang: Language) -> str:
    numbers = Counter(finding.severity for finding in found)
    words = RESULT_WORDS[lang]
    items = [
        f"{numbers[kind]} {words[kind if numbers[kind] == 1 else kind + '_many']}"
        for kind in ("fatal", "warning", "information")
        if numbers[kind]
    ]
    return ", ".join(items) or words["none"]


def _style(lang: Language, assessment: Assessment | None) -> str:
    css = _css("report.css").replace("PAGE_WORD", label("page", lang)).replace("PAGES_WORD", label("pages", lang))
    return css + _css("assessed.css") if assessment else css


def _css(name: str) -> str:
    data = pkgutil.get_data("einvoice.visualization.report", name)
    if data is None:
        raise FileNotFoundError(f"{name} is missing from the package einvoice. Reinstall einvoice.")
    return data.decode()
