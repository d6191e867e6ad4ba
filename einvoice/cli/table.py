"""Terminal output of results: a headline per file and a table of findings."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from einvoice.cli.assess import TEXTS as ASSESS
from einvoice.cli.common import columns
from einvoice.cli.outcome import Outcome
from einvoice.cli.wrapping import wrap
from einvoice.localization import Messages
from einvoice.localization.formatting import with_colon
from einvoice.quotation import printable
from einvoice.render.text import (
    LABELS,
    agreement_lines,
    by_severity,
    compared_text,
    difference,
    headline,
    notes,
    position,
    severity,
)
from einvoice.result import Finding, Language

if TYPE_CHECKING:
    from einvoice.assessment import Assessment

_MAX_WIDTH: Final = 110
_MIN_TEXT_WIDTH: Final = 30
_GAP: Final = "  "
_TEXTS: Final = Messages("einvoice.cli", "table")
_BOLD, _DIM, _RED, _GREEN, _YELLOW, _CYAN = "1", "2", "31", "32", "33", "36"
_COLOUR: Final = {"fatal": _RED, "warning": _YELLOW, "information": _CYAN}


def format_table(outcomes: Iterator[Outcome], lang: Language) -> Iterator[str]:
    """Yield a headline and a table of findings per file. Problems are printed by `report_problem`."""
    table = _table(lang)
    for outcome in outcomes:
        if outcome.result is not None:
            yield table.format(outcome)


def format_block(
    file: str, headline: str, is_valid: bool, findings: Sequence[Finding], differences: Sequence[str], lang: Language
) -> str:
    """Return the output for one file of many: its headline, a table of its findings, and its differences."""
    return "\n".join(_table(lang).block(file, headline, is_valid, findings, differences)) + "\n\n"


def _table(lang: Language) -> _Table:
    return _Table(lang, columns(100), _use_colour())


def _use_colour() -> bool:
    """Return whether to use colour: on terminals, unless disabled (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


class _Table:
    """Formats results with a language, a width and optional colour."""

    def __init__(self, lang: Language, width: int, colour: bool) -> None:
        self._lang = lang
        self._width = min(width, _MAX_WIDTH)
        self._colour = colour

    def format(self, outcome: Outcome) -> str:
        """Return the output for one file that was validated."""
        result = outcome.result
        assert result is not None
        lines = self.lines(
            outcome.file, headline(result, self._lang), result.is_valid, result.findings, self._first(outcome)
        )
        if outcome.lists_causes and outcome.causes:
            lines += ["", *self._causes(outcome.causes, len(result.findings))]
        if result.differences:
            lines += ["", _GAP + self._paint(LABELS[self._lang]["differences"], _BOLD)]
            for it in result.differences:
                lines += self._wrapped(difference(it, self._lang))
        if result.agreement:
            heading, *deviating = agreement_lines(result.agreement, self._lang)
            lines += [
                "",
                _GAP + self._paint(heading, _BOLD),
                *(line for text in deviating for line in self._wrapped(text)),
            ]
        if outcome.assessment is not False:
            lines += ["", *self._assessment(outcome.assessment)]
        return "\n".join(lines) + "\n\n"

    def _assessment(self, assessment: Assessment | None) -> list[str]:
        """Return the lines of an assessment, its title in bold."""
        if assessment is None:
            return self._wrapped(ASSESS[self._lang]["no_law"])
        title, *others = assessment.to_text(self._lang).rstrip().splitlines()
        return [_GAP + self._paint(title, _BOLD), *(line for text in others for line in self._wrapped(text) or [""])]

    def block(
        self, file: str, headline: str, is_valid: bool, findings: Sequence[Finding], differences: Sequence[str]
    ) -> list[str]:
        """Return the lines with the headline, the findings and the differences of a file."""
        lines = self.lines(file, headline, is_valid, findings)
        if differences:
            lines += ["", *(line for text in differences for line in self._wrapped(text))]
        return lines

    def lines(
        self, file: str, headline: str, is_valid: bool, findings: Sequence[Finding], cause: str = ""
    ) -> list[str]:
        """Return the lines with the headline, the first cause and the findings of a file."""
        verdict = self._paint(headline, _GREEN if is_valid else _RED, _BOLD)
        lines = [f"{self._paint(printable(file), _BOLD)}", f"{_GAP}{verdict}"]
        if cause:
            lines += wrap(cause, self._width, initial_indent=_GAP, subsequent_indent=_GAP * 2, break_on_hyphens=False)
        if findings:
            lines += ["", *self._rows(by_severity(findings))]
        if any(finding.indicative for finding in findings):
            remark = LABELS[self._lang]["indicative"]
            lines += ["", *wrap(remark, self._width, initial_indent=_GAP, subsequent_indent=_GAP)]
        return lines

    def _first(self, outcome: Outcome) -> str:
        """Return the first cause with the codes that it explains; "" if a finding says the same, or all are listed."""
        if outcome.lists_causes or not outcome.causes:
            return ""
        from einvoice.causes.display import codes

        first, *others = outcome.causes
        if not first.changes and len(first.findings) == 1:
            return ""
        text = f"{first.text(self._lang)} ({codes(first, self._lang)})"
        return _TEXTS[self._lang]["causes" if others else "cause"].format(text=text, count=len(outcome.causes))

    def _causes(self, causes: Sequence[Any], findings: int) -> Iterator[str]:
        """Yield the causes, each with the codes that it explains and its change."""
        # loads the search, which only causes need
        from einvoice.causes.display import codes, counted, heading, incomplete, repeats

        yield _GAP + self._paint(heading(len(causes), findings, self._lang), _BOLD)
        shown = [cause for cause in causes if not repeats(cause, self._lang)]
        for cause in shown:
            yield from self._wrapped(f"{cause.text(self._lang)} ({codes(cause, self._lang)})")
            for change in () if cause.is_question else cause.changes:
                yield from (_GAP + line for line in self._wrapped(f"→ {change.text(self._lang)}"))
        if said := len(causes) - len(shown):
            yield from self._wrapped(counted("said", said, self._lang))
        yield from self._wrapped(incomplete(causes, self._lang))

    def _wrapped(self, text: str) -> list[str]:
        return wrap(text, self._width, initial_indent=_GAP * 2, subsequent_indent=_GAP * 3, break_on_hyphens=False)

    def _rows(self, findings: list[Finding]) -> Iterator[str]:
        labels = LABELS[self._lang]
        cells = [(finding.code, position(finding, self._lang)) for finding in findings]
        widths = [
            max(map(len, column)) for column in zip(*cells, (labels["rule"], labels["place"]), strict=True)
        ]  # each as wide as its widest cell
        head = self._line(widths, labels["rule"], labels["place"]) + labels["finding"]
        yield self._paint(head, _DIM)
        for finding, (code, where) in zip(findings, cells, strict=True):
            first, *rest = self._text(finding, sum(widths) + 3 * len(_GAP))
            mark = self._paint(code.ljust(widths[0]), _COLOUR[finding.severity], _BOLD)
            yield f"{_GAP}{mark}{_GAP}{where.ljust(widths[1])}{_GAP}{first}"
            yield from (self._line(widths, "", "") + line for line in rest)

    @staticmethod
    def _line(widths: list[int], *cells: str) -> str:
        return _GAP + "".join(cell.ljust(width) + _GAP for cell, width in zip(cells, widths, strict=True))

    def _text(self, finding: Finding, left: int) -> Iterator[str]:
        """Yield title, severity, compared values, fix and notes, wrapped to the remaining width."""
        width = max(self._width - left, _MIN_TEXT_WIDTH)
        title = with_colon(severity(finding, self._lang), self._lang, finding.title(self._lang))
        for line in wrap(title, width):
            yield self._paint(line, _BOLD)
        yield from wrap(finding.override_reason(self._lang), width)
        yield from wrap(compared_text(finding, self._lang, finding.title(self._lang)), width)
        yield from wrap(
            finding.fix(self._lang), width, initial_indent="→ ", subsequent_indent="  ", break_on_hyphens=False
        )
        for note in notes(finding, self._lang):
            yield from wrap(note, width, break_on_hyphens=False, break_long_words=False)

    def _paint(self, text: str, *styles: str) -> str:
        return f"\033[{';'.join(styles)}m{text}\033[0m" if self._colour else text
