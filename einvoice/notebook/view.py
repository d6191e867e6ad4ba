"""A result to explore: the findings as a table with filters, each in detail, with its place in the XML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, Final

import anywidget
import traitlets

from einvoice.errors import quote
from einvoice.notebook.excerpt import excerpt
from einvoice.notebook.filters import SEVERITIES, checked, choices, chosen, layer_name, term_name
from einvoice.notebook.labels import LABELS
from einvoice.notebook.sources import lines, script, style
from einvoice.presentation import to_html
from einvoice.render.compatibility import compatibility_message
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
from einvoice.render.text import severity as judged
from einvoice.result import LANGUAGES, Finding, Language, ValidationResult
from einvoice.rulebook.catalog import catalog
from einvoice.rulebook.sections import title

_MOST_ROWS: Final = 500


class ResultView(anywidget.AnyWidget):
    """A result to explore; what a click changes can be set and read here too.

    Everything is decided here, and the browser only shows it: a program gets what a click gets.

    Attributes:
        filters: what is shown, by "severity" (one, or a list), "layer", "section", "term" and "text".
        selected: the number of the finding in `result.findings` that is shown in detail; -1 for none.
        lang: "de" or "en".
        result: the result.
    """

    _esm = script("view")
    _css = style("view")

    filters = traitlets.Dict().tag(sync=True)
    selected = traitlets.Int(-1).tag(sync=True)
    lang = traitlets.Enum(LANGUAGES, default_value="de").tag(sync=True)

    # What the browser shows: text and numbers, ready to be put on the page.
    _words = traitlets.Dict().tag(sync=True)
    _head = traitlets.Dict().tag(sync=True)
    _choices = traitlets.Dict().tag(sync=True)
    _table = traitlets.Dict().tag(sync=True)
    _detail = traitlets.Dict().tag(sync=True)

    def __init__(self, result: ValidationResult, *, lang: Language) -> None:
        self.result = result
        super().__init__(lang=lang)
        self._speak()
        self.selected = next(iter(self._shown), -1)
        self.observe(self._speak, "lang")
        self.observe(self._list, "filters")
        self.observe(self._tell, "selected")
        self._tell()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings that pass the filters, the gravest first."""
        return tuple(self.result.findings[number] for number in self._shown)

    @property
    def finding(self) -> Finding | None:
        """The finding that is shown in detail; None if none is."""
        return self.result.findings[self.selected] if self.selected >= 0 else None

    @traitlets.validate("filters")
    def _check_filters(self, proposal: Any) -> dict[str, Any]:
        try:
            return checked(proposal["value"])
        except ValueError as error:
            raise traitlets.TraitError(str(error)) from None

    @traitlets.validate("selected")
    def _check_selected(self, proposal: Any) -> int:
        number: int = proposal["value"]
        if not -1 <= number < len(self.result.findings):
            raise traitlets.TraitError(f"There is no finding {number}: there are {len(self.result.findings)}.")
        return number

    @property
    def _shown(self) -> list[int]:
        return chosen(self.result.findings, self.filters, self.lang)

    @cached_property
    def _lines(self) -> list[str]:
        return lines(self.result)

    def _speak(self, _: Any = None) -> None:
        """Everything in the language that was chosen."""
        lang, result = self.lang, self.result
        with self.hold_sync():
            severities = {name: RESULT_LABELS[lang][name] for name in SEVERITIES}
            self._words = {**LABELS[lang], **severities}
            self._head = {
                "valid": result.is_valid,
                "verdict": verdict(result, lang),
                "about": [
                    text
                    for text in (
                        quote(result.filename or result.summary.invoice_number),
                        declared(result),
                        counts(result, lang),
                    )
                    if text
                ],
                "remarks": [text for text in _remarks(result, lang) if text],
                "folded": [[summary, told] for summary, told in _folded(result, lang) if told],
            }
            self._choices = choices(result.findings, lang)
            self._list()
            self._tell()

    def _list(self, _: Any = None) -> None:
        """The rows of the table, and how many there are."""
        labels, shown, every = LABELS[self.lang], self._shown, len(self.result.findings)
        left = len(shown) - _MOST_ROWS
        counted = labels["shown"].format(shown=len(shown), all=every)
        self._table = {
            "groups": [{"title": heading, "rows": rows} for heading, rows in self._groups(shown[:_MOST_ROWS]) if rows],
            "status": counted if shown else labels["nothing" if every else "clean"],
            "rest": labels["rest"].format(count=left) if left > 0 else "",
        }

    def _groups(self, shown: list[int]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        """The rows by what they are about: the invoice, and the PDF around it, which has a verdict of its own."""
        around = self.result.container
        for heading, of_pdf in (("", False), (container(around, self.lang) if around else "", True)):
            yield heading, [self._row(it) for it in shown if (self.result.findings[it].layer == "pdf") is of_pdf]

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

    def _tell(self, _: Any = None) -> None:
        """The finding that was chosen, and its place."""
        finding = self.finding
        if finding is None:
            self._detail = {}
            return
        lang: Language = self.lang
        self._detail = {
            "code": finding.code,
            "severity": finding.severity,
            "judged": judged(finding, lang),
            "title": finding.title(lang),
            "explanation": finding.explanation(lang),
            "reason": finding.override_reason(lang),
            "numbers": [[LABELS[lang][name], text] for name, text in compared(finding, lang)],
            "fix": finding.fix(lang),
            "notes": [{"text": note.text, "source": note.source} for note in finding.notes(lang)],
            "facts": [[LABELS[lang][key], text] for key, text in _facts(finding, lang) if text],
            "excerpt": excerpt(self._lines, finding.line, finding.column),
        }

    def __repr__(self) -> str:
        return f"<ResultView: {len(self._shown)} of {len(self.result.findings)} findings>"

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The widget; and for pages without one, such as an export, the result as it shows itself."""
        bundle = super()._repr_mimebundle_(**options)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        return {**data, "text/plain": repr(self), "text/html": to_html(self.result, self.lang)}, metadata


def _remarks(result: ValidationResult, lang: Language) -> Iterator[str]:
    """What there is to know before one reads the findings."""
    if result.container:
        yield container(result.container, lang)
    if any(finding.indicative for finding in result.findings):
        yield RESULT_LABELS[lang]["indicative"]
    yield compatibility_message(result, lang) or ""
    if result.agreement:
        yield agreement_lines(result.agreement, lang)[0]


def _folded(result: ValidationResult, lang: Language) -> Iterator[tuple[str, list[str]]]:
    """What stands below, folded: a line, and those behind it."""
    yield RESULT_LABELS[lang]["differences"], _first(difference(it, lang) for it in result.differences)
    if result.agreement:
        heading, *told = agreement_lines(result.agreement, lang)
        yield heading, _first(told)
    yield layers(result.stack.layers, lang), [layer(it, lang) for it in result.stack.layers]


def _first(lines: Iterable[str]) -> list[str]:
    told = list(lines)
    left = len(told) - _MOST_ROWS
    return [*told[:_MOST_ROWS], f"… + {left}"] if left > 0 else told


def _facts(finding: Finding, lang: Language) -> list[tuple[str, str]]:
    """What there is to know besides: what it is about, where it is, where the rule comes from."""
    known = catalog().get(finding.code)  # a rule of an official artefact may not be there
    column = f", {LABELS[lang]['column']} {finding.column}" if finding.column else ""
    return [
        ("about", ", ".join(term_name(term, lang) for term in finding.terms)),
        ("section", title(finding.section, lang)),
        ("layer", layer_name(finding.layer, lang)),
        ("place", f"{LABELS[lang]['line']} {finding.line}{column}" if finding.line else ""),
        ("path", finding.xpath),
        ("draft", finding.draft_pointer or ""),
        ("rule_source", known.source if known else ""),
        ("reported", finding.reported),
        ("catalog", f'einvoice.catalog()["{finding.code}"]' if known else ""),
    ]
