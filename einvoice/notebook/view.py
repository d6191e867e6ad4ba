"""Widget for a single result: table of findings with filters, details, and location in the XML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, Final

import anywidget
import traitlets

from einvoice.assessment import Assessment
from einvoice.causes import Cause
from einvoice.code_catalog import catalog
from einvoice.notebook.assessment import assessment_box
from einvoice.notebook.causes import cause_details, cause_list
from einvoice.notebook.excerpt import excerpt
from einvoice.notebook.filters import (
    KEYS,
    SEVERITIES,
    FiltersTrait,
    choices,
    layer_name,
    matching_indices,
    term_name,
)
from einvoice.notebook.labels import LABELS, LanguageTrait, named_languages
from einvoice.notebook.sources import lines, script, style
from einvoice.quotation import quote
from einvoice.render.compatibility import compatibility_message
from einvoice.render.html import result_html
from einvoice.render.text import LABELS as RESULT_LABELS
from einvoice.render.text import (
    agreement_lines,
    compared,
    container,
    counts,
    declared,
    difference,
    layer,
    layers,
    verdict,
)
from einvoice.render.text import severity as severity_text
from einvoice.result import Finding, Language, ValidationResult
from einvoice.rulebook.sections import title

_MAX_ROWS: Final = 500


class ResultView(anywidget.AnyWidget):
    """Widget for a single result.

    All logic runs in Python; the browser only displays the synchronized traits, so attributes can also be set in code.

    The causes of the findings are searched when `with_causes` is set, by the button or in code, not when the widget is
    created: the search takes as long as some dozen validations, and on documents with thousands of lines up to 10
    seconds. The result keeps them, so a later widget of the same result shows them at once.

    Attributes:
        filters: filters by "severity" (one or a list), "layer", "section", "term" and "text".
        selected: index in `result.findings` of the finding shown in detail; -1 for none.
        with_causes: whether the causes are shown; True from the start if the result knows them already.
        cause: index in `causes` of the cause that is opened to its findings and changes; -1 for none.
        with_letter: whether the letter to the issuer is shown, which needs the causes.
        lang: one of `einvoice.localization.languages()`, or a tag with such a parent, such as "fr-BE".
        result: the result.
    """

    _esm = script("view")
    _css = style("view")

    filters = FiltersTrait(KEYS, {"severity": SEVERITIES}).tag(sync=True)
    selected = traitlets.Int(-1).tag(sync=True)
    with_causes = traitlets.Bool(False).tag(sync=True)
    cause = traitlets.Int(-1).tag(sync=True)
    with_letter = traitlets.Bool(False).tag(sync=True)
    lang = LanguageTrait("de").tag(sync=True)

    # Display data for the browser.
    _languages: Any = traitlets.List().tag(sync=True)
    _labels = traitlets.Dict().tag(sync=True)
    _header = traitlets.Dict().tag(sync=True)
    _choices = traitlets.Dict().tag(sync=True)
    _table = traitlets.Dict().tag(sync=True)
    _finding_details = traitlets.Dict().tag(sync=True)
    _causes = traitlets.Dict().tag(sync=True)
    _cause_details = traitlets.Dict().tag(sync=True)
    _letter = traitlets.Dict().tag(sync=True)
    _assessment = traitlets.Dict().tag(sync=True)

    def __init__(self, result: ValidationResult, *, lang: Language) -> None:
        self.result = result
        with_causes = result.known_causes is not None
        super().__init__(lang=lang, with_causes=with_causes, _languages=named_languages())
        self._update_all()
        self.selected = next(iter(self._matching), -1)
        self.observe(self._update_all, "lang")
        self.observe(self._update_table, "filters")
        self.observe(self._update_finding, "selected")
        self.observe(self._update_causes, "with_causes")
        self.observe(self._update_cause, "cause")
        self.observe(self._update_letter, "with_letter")
        self._update_finding()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Filtered findings, by descending severity."""
        return tuple(self.result.findings[number] for number in self._matching)

    @property
    def finding(self) -> Finding | None:
        """Finding shown in detail; None if none is selected."""
        return self.result.findings[self.selected] if self.selected >= 0 else None

    @property
    def causes(self) -> tuple[Cause, ...]:
        """Causes of the findings, the gravest first; empty unless `with_causes` is set."""
        return self.result.causes() if self.with_causes else ()

    @traitlets.validate("cause")
    def _check_cause(self, proposal: Any) -> int:
        number: int = proposal["value"]
        if not -1 <= number < len(self.causes):
            raise traitlets.TraitError(f"trait 'cause' must be -1 to {len(self.causes) - 1}, not {number}")
        return number

    @traitlets.validate("selected")
    def _check_selected(self, proposal: Any) -> int:
        number: int = proposal["value"]
        if not -1 <= number < len(self.result.findings):
            raise traitlets.TraitError(f"trait 'selected' must be -1 to {len(self.result.findings) - 1}, not {number}")
        return number

    @property
    def _matching(self) -> list[int]:
        return matching_indices(self.result.findings, self.filters, self.lang)

    @cached_property
    def _lines(self) -> list[str]:
        return lines(self.result)

    @cached_property
    def _assessed(self) -> Assessment | None:
        return self.result.assessment()

    def _update_all(self, _: Any = None) -> None:
        """Update all display data for the selected language."""
        lang, result = self.lang, self.result
        with self.hold_sync():
            severities = {name: RESULT_LABELS[lang][name] for name in SEVERITIES}
            self._labels = {**LABELS[lang], **severities}
            self._header = {
                "valid": result.is_valid,
                "verdict": verdict(result, lang),
                "summary": [
                    text
                    for text in (
                        quote(result.filename or result.summary.invoice_number),
                        declared(result, lang),
                        counts(result, lang),
                    )
                    if text
                ],
                "remarks": [text for text in _remarks(result, lang) if text],
                "sections": [[summary, lines] for summary, lines in _sections(result, lang) if lines],
            }
            self._choices = choices(result.findings, lang)
            self._update_table()
            self._update_finding()
            self._update_causes()
            self._update_letter()
            self._assessment = assessment_box(self._assessed, lang) if self._assessed else {}

    def _update_causes(self, _: Any = None) -> None:
        """Update the causes; search them if they are not known."""
        causes = self.causes if self.with_causes else None
        with self.hold_sync():
            self._causes = cause_list(self.result, causes, self.lang)
            if not self.with_causes:
                self.cause = -1
            self._update_cause()

    def _update_cause(self, _: Any = None) -> None:
        """Update the opened cause."""
        opened = self.causes[self.cause] if self.cause >= 0 else None
        self._cause_details = cause_details(self.result, opened, self.lang) if opened else {}

    def _update_letter(self, _: Any = None) -> None:
        """Update the letter to the issuer; it is hidden if there is nothing to ask."""
        assessed = self._assessed
        text = self.result.letter(self.lang, items=assessed is not None) if self.with_letter else ""
        asks = not self.result.is_valid or (assessed is not None and assessed.asks_issuer)
        self._letter = {"text": text, "hidden": not asks}

    def _update_table(self, _: Any = None) -> None:
        """Update the table and its status line."""
        labels, matching, total = LABELS[self.lang], self._matching, len(self.result.findings)
        omitted = len(matching) - _MAX_ROWS
        status = labels["findings_shown"].format(shown=len(matching), all=total)
        self._table = {
            "groups": [
                {"title": heading, "rows": rows} for heading, rows in self._groups(matching[:_MAX_ROWS]) if rows
            ],
            "status": status if matching else labels["no_matches" if total else "no_findings"],
            "more": labels["more_findings"].format(count=omitted) if omitted > 0 else "",
        }

    def _groups(self, indices: list[int]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        """Yield the heading and rows for the findings in the invoice, then for those in the PDF container."""
        pdf = self.result.container
        for heading, in_container in (("", False), (container(pdf, self.lang) if pdf else "", True)):
            rows = [it for it in indices if (self.result.findings[it].layer == "pdf") is in_container]
            yield heading, [self._row(it) for it in rows]

    def _row(self, number: int) -> dict[str, Any]:
        finding = self.result.findings[number]
        return {
            "number": number,
            "severity": finding.severity,
            "code": finding.code,
            "term": finding.bt_field,
            "line": finding.line,
            "title": finding.title(self.lang),
        }

    def _update_finding(self, _: Any = None) -> None:
        """Update the details of the selected finding."""
        finding = self.finding
        if finding is None:
            self._finding_details = {}
            return
        lang: Language = self.lang
        title, explanation = finding.title(lang), finding.explanation(lang)
        self._finding_details = {
            "code": finding.code,
            "severity": finding.severity,
            "severity_label": severity_text(finding, lang),
            "title": title,
            "explanation": explanation,
            "reason": finding.override_reason(lang),
            "values": [[LABELS[lang][name], text] for name, text in compared(finding, lang, title, explanation)],
            "fix": finding.fix(lang),
            "notes": [{"text": note.text, "source": note.source} for note in finding.notes(lang)],
            "properties": [[LABELS[lang][key], text] for key, text in _properties(finding, lang) if text],
            "excerpt": excerpt(self._lines, finding.line, finding.column),
        }

    def __repr__(self) -> str:
        return f"<ResultView: {len(self._matching)} of {len(self.result.findings)} findings>"

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the widget, and plain HTML for pages that cannot show it, such as exports."""
        bundle = super()._repr_mimebundle_(**options)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        return {**data, "text/plain": repr(self), "text/html": result_html(self.result, self.lang)}, metadata


def _remarks(result: ValidationResult, lang: Language) -> Iterator[str]:
    """Yield remarks on the result as a whole."""
    if result.container:
        yield container(result.container, lang)
    if any(finding.indicative for finding in result.findings):
        yield RESULT_LABELS[lang]["indicative"]
    yield compatibility_message(result, lang) or ""
    if result.agreement:
        yield agreement_lines(result.agreement, lang)[0]


def _sections(result: ValidationResult, lang: Language) -> Iterator[tuple[str, list[str]]]:
    """Yield collapsible sections: summary and lines."""
    yield RESULT_LABELS[lang]["differences"], _first(difference(it, lang) for it in result.differences)
    if result.agreement:
        heading, *lines = agreement_lines(result.agreement, lang)
        yield heading, _first(lines)
    yield layers(result.stack.layers, lang), [layer(it, lang) for it in result.stack.layers]


def _first(lines: Iterable[str]) -> list[str]:
    items = list(lines)
    omitted = len(items) - _MAX_ROWS
    return [*items[:_MAX_ROWS], f"… + {omitted}"] if omitted > 0 else items


def _properties(finding: Finding, lang: Language) -> list[tuple[str, str]]:
    """Return further details: business terms, location, source of the rule."""
    entry = catalog().get(finding.code)  # None for a rule of the official Schematron only
    column = f", {LABELS[lang]['column']} {finding.column}" if finding.column else ""
    return [
        ("terms", ", ".join(term_name(term, lang) for term in finding.terms)),
        ("section", title(finding.section, lang)),
        ("layer", layer_name(finding.layer, lang)),
        ("location", f"{LABELS[lang]['line']} {finding.line}{column}" if finding.line else ""),
        ("xpath", finding.xpath),
        ("draft_field", finding.draft_pointer or ""),
        ("rule_source", entry.source if entry else ""),
        ("reported", finding.reported),
        ("catalog", f'einvoice.catalog()["{finding.code}"]' if entry else ""),
    ]
