"""Widget for a result set: filters, heatmap of codes by folder, seller or month, down to the single finding."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import anywidget
import traitlets

from einvoice.bulk.common_causes_html import common_causes_html
from einvoice.bulk.html import overview_html
from einvoice.bulk.labels import LABELS as BULK_LABELS
from einvoice.bulk.labels import VERDICT_LABELS, whole
from einvoice.bulk.record import VERDICTS
from einvoice.errors import UnreadableDocument
from einvoice.notebook import charts, many_html
from einvoice.notebook.excerpt import excerpt
from einvoice.notebook.filters import FiltersTrait
from einvoice.notebook.index import COLUMNS, KINDS, Index
from einvoice.notebook.labels import LABELS, LanguageTrait, named_languages
from einvoice.notebook.many_causes import causes_table, searched
from einvoice.notebook.selection import KEYS, WORDS, Selection
from einvoice.notebook.sources import lines, script, style
from einvoice.quotation import quote
from einvoice.result import Finding, Language

if TYPE_CHECKING:
    from einvoice.bulk import ResultSet
    from einvoice.bulk.common_causes import CommonCauses
    from einvoice.notebook.view import ResultView

_PAGE_SIZE: Final = 100
_MAX_FINDINGS: Final = 200
_MAX_SECONDS: Final = 120


class ManyView(anywidget.AnyWidget):
    """Widget for a result set; all selections can also be read and set in code.

    The causes of the findings are searched when `with_causes` is set, by the button or in code: about as long as 20
    validations of each invalid file, in several processes, of at most 1,000 files and for at most two minutes. The
    kernel can be interrupted meanwhile; the causes found so far are shown.

    Attributes:
        filters: filters of the files, which apply together: "verdict" and "severity" (one or a list), "code", "cause"
            (the name of a cause, see `CommonCause`), "folder", "seller", "month" (YYYY-MM) and "text", which searches
            filename, seller, invoice number and the rules of the findings.
        consequences: whether to include findings that may be consequences of schema errors (`Finding.indicative`).
        with_causes: whether the causes of the findings are shown: the changes that would mend most files.
        by: grouping of the heatmap: "folder", "seller" or "month". Default: the first with more than one group.
        sort: column by which the files are sorted: "file", "verdict", "number", "date", "seller", "errors" or
            "warnings"; with a leading "-" in descending order; "" for the order of the results.
        page: page of the file list, from 1; set to 1 if filters or order change.
        file: name of the file whose findings are listed; "" for none.
        selected: index in `FileResult.findings` of the finding shown with its location; -1 for none.
        lang: one of `einvoice.localization.languages()`, or a tag with such a parent, such as "fr-BE".
        results: the results.
    """

    _esm = script("many_view")
    _css = style("view", "many_view")

    filters = FiltersTrait(KEYS, WORDS, with_empty=KINDS).tag(sync=True)
    consequences = traitlets.Bool(False).tag(sync=True)
    with_causes = traitlets.Bool(False).tag(sync=True)
    by = traitlets.Enum(KINDS, default_value="folder").tag(sync=True)
    sort = traitlets.Enum(("", *COLUMNS, *(f"-{it}" for it in COLUMNS)), default_value="").tag(sync=True)
    page = traitlets.Int(1).tag(sync=True)
    file = traitlets.Unicode("").tag(sync=True)
    selected = traitlets.Int(-1).tag(sync=True)
    lang = LanguageTrait("de").tag(sync=True)

    # Display data for the browser.
    _languages: Any = traitlets.List().tag(sync=True)
    _labels = traitlets.Dict().tag(sync=True)
    _header = traitlets.Dict().tag(sync=True)
    _choices = traitlets.Dict().tag(sync=True)
    _charts: Any = traitlets.List().tag(sync=True)
    _heatmap = traitlets.Dict().tag(sync=True)
    _causes = traitlets.Dict().tag(sync=True)
    _causes_progress = traitlets.Unicode("").tag(sync=True)
    _files = traitlets.Dict().tag(sync=True)
    _file_details = traitlets.Dict().tag(sync=True)
    _finding_details = traitlets.Dict().tag(sync=True)

    def __init__(self, results: ResultSet, *, lang: Language) -> None:
        self.results = results
        self._index = Index(results)
        self._lines: tuple[str, list[str]] = "", []
        by = next(iter(self._index.kinds), "folder")
        super().__init__(lang=lang, by=by, _languages=named_languages())
        self._update_all()
        self.observe(self._update_all, "lang")
        self.observe(self._filter, ["filters", "consequences"])
        self.observe(self._update_heatmap, "by")
        self.observe(self._find_causes, "with_causes")
        self.observe(self._sort, "sort")
        self.observe(self._update_files, "page")
        self.observe(self._update_file, "file")
        self.observe(self._update_finding, "selected")

    @property
    def files(self) -> ResultSet:
        """The filtered files, in the order of the list."""
        return self.results.take(self._matching)

    @property
    def finding(self) -> Finding | None:
        """Finding shown with its location; None if none is selected."""
        return self._findings[self.selected] if self.selected >= 0 else None

    @property
    def causes(self) -> CommonCauses | None:
        """Causes of the findings; None until `with_causes` is set."""
        return self._index.causes

    def _find_causes(self, _: Any = None) -> None:
        """Search the causes once, and show or hide them; without them, no file is filtered by its cause."""
        if self.with_causes and self._index.causes is None:
            try:
                self._index.causes = self.results.causes(
                    progress=False, seconds=_MAX_SECONDS, update=self._show_progress, lang=self.lang
                )
            except (LookupError, RuntimeError, OSError) as error:
                self._causes_progress = str(error)
                return
            self._causes_progress = ""
        if not self.with_causes:
            self.filters = {key: value for key, value in self.filters.items() if key != "cause"}
        self._filter()

    def _show_progress(self, done: int, count: int) -> None:
        self._causes_progress = searched(done, count, self.lang)

    def open_file(self) -> ResultView:
        """Return a widget for the selected file; raises the same errors as `ResultSet.result`."""
        from einvoice.notebook.view import ResultView

        return ResultView(self.results.result(self.file), lang=self.lang)

    @traitlets.validate("page")
    def _check_page(self, proposal: Any) -> int:
        number: int = proposal["value"]
        pages = _pages(len(self._matching))
        if not 1 <= number <= pages:
            raise traitlets.TraitError(f"trait 'page' must be 1 to {pages}, not {number}")
        return number

    @traitlets.validate("file")
    def _check_file(self, proposal: Any) -> str:
        name: str = proposal["value"]
        try:
            return self.results[name].file if name else ""
        except KeyError:
            raise traitlets.TraitError(f"no such file in these results: {quote(name)}") from None

    @traitlets.validate("selected")
    def _check_selected(self, proposal: Any) -> int:
        number: int = proposal["value"]
        count = len(self._findings)
        if not -1 <= number < count:
            raise traitlets.TraitError(f"trait 'selected' must be -1 to {count - 1}, not {number}")
        return number

    @property
    def _findings(self) -> tuple[Finding, ...]:
        """Findings of the selected file."""
        return self.results[self.file].findings if self.file else ()

    def _update_all(self, _: Any = None) -> None:
        """Update all display data for the selected language."""
        lang: Language = self.lang
        counts = dict(zip(VERDICTS, self._index.files_by_verdict(self._everything.files()), strict=True))
        valid_last = sorted(counts, key=lambda it: it == "valid")  # the mark of the header belongs to the first
        with self.hold_sync():
            self._labels = dict(LABELS[lang])
            self._header = {
                "valid": self.results.complete and 0 < counts["valid"] == len(self._index),
                "summary": [
                    f"{whole(counts[name], lang)} {VERDICT_LABELS[lang][name]}" for name in valid_last if counts[name]
                ],
                "remark": "" if self.results.complete else BULK_LABELS[lang]["interrupted"],
                "consequences": whole(self._index.consequences, lang) if self._index.consequences else "",
            }
            self._filter()

    @property
    def _everything(self) -> Selection:
        return Selection(self._index, {}, consequences=self.consequences, lang=self.lang)

    def _filter(self, _: Any = None) -> None:
        """Apply the filters and show the first page."""
        lang: Language = self.lang
        with self.hold_sync():
            self._selection = Selection(self._index, self.filters, consequences=self.consequences, lang=lang)
            self._choices = charts.choices(self._index, self._selection, self.filters, lang)
            self._charts = charts.bars(self._index, self._selection, lang)
            self._update_heatmap()
            self._causes = self._causes_table(self._selection)
            self._sort()
            self._update_findings()

    def _causes_table(self, selection: Selection) -> dict[str, Any]:
        hidden = not self.results.verdicts["invalid"]
        table = causes_table(self._index, selection, self.filters.get("cause"), self.lang)
        return {**table, "hidden": hidden, "searched": self.causes is not None and self.with_causes}

    def _update_heatmap(self, _: Any = None) -> None:
        chosen = self.filters.get(self.by)
        self._heatmap = charts.heatmap(self._index, self._selection, self.by, self.lang, chosen=chosen)

    def _sort(self, _: Any = None) -> None:
        """Sort the filtered files and show the first page."""
        column, descending = self.sort.removeprefix("-"), self.sort.startswith("-")
        self._matching = self._index.ordered(
            self._selection.files(), column, descending=descending, consequences=self.consequences
        ).tolist()
        with self.hold_sync():
            self.page = 1
            self._update_files()

    def _update_files(self, _: Any = None) -> None:
        """Update the page of the file list."""
        lang: Language = self.lang
        labels, first = LABELS[lang], (self.page - 1) * _PAGE_SIZE
        numbers = self._matching[first : first + _PAGE_SIZE]
        counts = [self._index.counts(it, consequences=self.consequences) for it in ("errors", "warnings")]
        figures = {"first": first + 1, "last": first + len(numbers), "all": len(self._matching)}
        self._files = {
            "status": labels["files_shown"].format(
                shown=whole(len(self._matching), lang), all=whole(len(self._index), lang)
            ),
            "rows": [[*self._cells(number), *(int(it[number]) for it in counts)] for number in numbers],
            "sort": [self.sort.removeprefix("-"), self.sort.startswith("-")],
            "pages": _pages(len(self._matching)),
            "range": labels["files_of"].format(**{name: whole(it, lang) for name, it in figures.items()}),
        }

    def _cells(self, number: int) -> list[str]:
        """Return name of a file, and its cells but the counts; the verdict twice, as word and label."""
        row = self._index.rows[number]
        verdict = VERDICT_LABELS[self.lang][row.verdict]
        return [row.file, charts.full(row.file), row.verdict, verdict, *map(quote, (row.number, row.date, row.seller))]

    def _update_file(self, _: Any = None) -> None:
        """Update the selected file and select its first finding."""
        with self.hold_sync():
            numbers = [number for number, it in enumerate(self._findings) if self.consequences or not it.indicative]
            self.selected = min(numbers, default=-1)
            self._update_findings()

    def _update_findings(self) -> None:
        """Update the findings of the selected file, possible consequences of schema errors after the others."""
        labels, findings = LABELS[self.lang], list(enumerate(self._findings))
        causes = [it for it in findings if not it[1].indicative]
        consequences = [it for it in findings if it[1].indicative]
        shown = [*causes, *(consequences if self.consequences else ())]
        groups = {
            "": [it for it in shown[:_MAX_FINDINGS] if not it[1].indicative],
            labels["consequences_in_file"]: [it for it in shown[:_MAX_FINDINGS] if it[1].indicative],
        }
        omitted = {"more_in_file": len(shown) - _MAX_FINDINGS, "hidden_in_file": len(findings) - len(shown)}
        self._file_details = {
            "file": charts.full(self.file),
            "open": f"{_variable(self.results)}.result({self.file!r}).explore()",
            "groups": [
                {
                    "title": title,
                    "rows": [[number, it.severity, it.code, it.line, it.title(self.lang)] for number, it in rows],
                }
                for title, rows in groups.items()
                if rows
            ],
            "more": " ".join(
                labels[key].format(count=whole(count, self.lang)) for key, count in omitted.items() if count > 0
            ),
        }
        self._update_finding()

    def _update_finding(self, _: Any = None) -> None:
        """Update the selected finding and its location in the XML."""
        finding, lang = self.finding, self.lang
        if finding is None:
            self._finding_details = {}
            return
        lines_around = excerpt(self._source(), finding.line, finding.column)
        reason = "no_location" if finding.line is None else "file_unavailable"
        self._finding_details = {
            "explanation": finding.explanation(lang),
            "fix": finding.fix(lang),
            "excerpt": lines_around or {"missing": LABELS[lang][reason]},
        }

    def _source(self) -> list[str]:
        """Return the lines of the selected file; empty if it is unavailable or unreadable."""
        if self._lines[0] != self.file:
            try:
                self._lines = self.file, lines(self.results.result(self.file))
            except (UnreadableDocument, LookupError, ValueError, OSError):
                self._lines = self.file, []
        return self._lines[1]

    def __repr__(self) -> str:
        return f"<ManyView: {len(self._matching)} of {len(self._index)} files>"

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the widget, and plain HTML of all files for pages that cannot show it, such as exports."""
        bundle = super()._repr_mimebundle_(**options)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        index, lang = self._index, self.lang
        selection = Selection(index, {}, consequences=True, lang=lang)  # as the overview above counts them
        page = overview_html(self.results.summary(lang=lang), lang) + many_html.html(
            charts.bars(index, selection, lang), charts.heatmap(index, selection, self.by, lang), lang
        )
        if self.causes is not None:
            page += common_causes_html(self.causes, lang)
        return {**data, "text/plain": repr(self), "text/html": page}, metadata


def _pages(files: int) -> int:
    return max(1, -(-files // _PAGE_SIZE))


def _variable(results: ResultSet) -> str:
    """Return the name of the notebook's variable with these results; "results" if there is none."""
    names = vars(sys.modules["__main__"])
    return next((name for name, it in list(names.items()) if it is results and name[0] != "_"), "results")
