"""Widget for a result set: heatmap of codes by folder, seller or month, down to the single finding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import anywidget
import traitlets

from einvoice.bulk.html import overview_html
from einvoice.bulk.labels import LABELS as BULK_LABELS
from einvoice.bulk.labels import VERDICT_LABELS, whole
from einvoice.errors import UnreadableDocument, quote
from einvoice.notebook import charts, many_html
from einvoice.notebook.excerpt import excerpt
from einvoice.notebook.index import KINDS, Index
from einvoice.notebook.labels import LABELS, LanguageTrait, named_languages
from einvoice.notebook.sources import lines, script, style
from einvoice.result import Finding, Language

if TYPE_CHECKING:
    from einvoice.bulk import FileResult, ResultSet
    from einvoice.notebook.view import ResultView

_MAX_ROWS: Final = 200


class ManyView(anywidget.AnyWidget):
    """Widget for a result set; all selections can also be read and set in code.

    Attributes:
        by: grouping of the files: "folder", "seller" or "month". Default: the first with more than one group.
        code, group: selected cell of the heatmap, whose files are listed; None for all codes or groups.
        text: search text for filename, seller and invoice number; "" for all files.
        file: name of the file whose findings are listed; "" for none.
        selected: index in `FileResult.findings` of the finding shown with its location; -1 for none.
        lang: one of `einvoice.localization.languages()`, or a tag with such a parent, such as "fr-BE".
        results: the results.
    """

    _esm = script("many_view")
    _css = style("view", "many_view")

    by = traitlets.Enum(KINDS, default_value="folder").tag(sync=True)
    code = traitlets.Unicode(None, allow_none=True).tag(sync=True)
    group = traitlets.Unicode(None, allow_none=True).tag(sync=True)
    text = traitlets.Unicode("").tag(sync=True)
    file = traitlets.Unicode("").tag(sync=True)
    selected = traitlets.Int(-1).tag(sync=True)
    lang = LanguageTrait("de").tag(sync=True)

    # Display data for the browser.
    _languages: Any = traitlets.List().tag(sync=True)
    _labels = traitlets.Dict().tag(sync=True)
    _header = traitlets.Dict().tag(sync=True)
    _charts: Any = traitlets.List().tag(sync=True)
    _heatmap = traitlets.Dict().tag(sync=True)
    _files = traitlets.Dict().tag(sync=True)
    _file_details = traitlets.Dict().tag(sync=True)
    _finding_details = traitlets.Dict().tag(sync=True)

    def __init__(self, results: ResultSet, *, lang: Language) -> None:
        self.results = results
        self._overview = results.summary()
        self._index = Index(results)
        self._lines: tuple[str, list[str]] = "", []
        kinds = (kind for kind in KINDS if len(self._index.groups(kind)) > 1)
        super().__init__(lang=lang, by=next(kinds, "folder"), _languages=named_languages())
        self._update_all()
        self.observe(self._update_all, "lang")
        self.observe(self._regroup, "by")
        self.observe(self._update_files, ["code", "group", "text"])
        self.observe(self._update_file, "file")
        self.observe(self._update_finding, "selected")

    @property
    def files(self) -> tuple[FileResult, ...]:
        """Files of the selected cell."""
        return tuple(self.results[number] for number in self._matching)

    @property
    def finding(self) -> Finding | None:
        """Finding shown with its location; None if none is selected."""
        return self.results[self.file].findings[self.selected] if self.file and self.selected >= 0 else None

    def open_file(self) -> ResultView:
        """Return a widget for the selected file; raises the same errors as `ResultSet.result`."""
        from einvoice.notebook.view import ResultView

        return ResultView(self.results.result(self.file), lang=self.lang)

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
        count = len(self.results[self.file].findings) if self.file else 0
        if not -1 <= number < count:
            raise traitlets.TraitError(f"trait 'selected' must be -1 to {count - 1}, not {number}")
        return number

    @property
    def _matching(self) -> list[int]:
        return self._index.matching(self.by, self.group, self.code, self.text)

    def _update_all(self, _: Any = None) -> None:
        """Update all display data for the selected language."""
        lang: Language = self.lang
        verdicts = {name: number for name, number in self._overview.verdicts.items() if number}
        with self.hold_sync():
            self._labels = dict(LABELS[lang])
            self._header = {
                "valid": self.results.is_valid,
                "summary": [f"{whole(number, lang)} {VERDICT_LABELS[lang][name]}" for name, number in verdicts.items()],
                "remark": "" if self.results.complete else BULK_LABELS[lang]["interrupted"],
            }
            self._charts = charts.bars(self._index, lang)
            self._update_heatmap()
            self._update_files()
            self._update_findings()

    def _regroup(self, _: Any = None) -> None:
        """Update the groups; keep the selected group only if it is one of them."""
        with self.hold_sync():
            if not self._index.has(self.by, self.group):
                self.group = None
            self._update_heatmap()
            self._update_files()

    def _update_heatmap(self) -> None:
        self._heatmap = charts.heatmap(self._index, self._overview, self.by, self.lang)

    def _update_files(self, _: Any = None) -> None:
        """Update the files of the selected cell."""
        lang: Language = self.lang
        labels, matching = LABELS[lang], self._matching
        omitted = len(matching) - _MAX_ROWS
        rows = [self._index.rows[number] for number in matching[:_MAX_ROWS]]
        self._files = {
            "status": labels["files_shown"].format(shown=whole(len(matching), lang), all=whole(len(self._index), lang)),
            "rows": [
                [it.file, quote(it.file), VERDICT_LABELS[lang][it.verdict], quote(it.seller), it.errors] for it in rows
            ],
            "more": labels["more_files"].format(count=whole(omitted, lang)) if omitted > 0 else "",
        }

    def _update_file(self, _: Any = None) -> None:
        """Update the selected file and select its first finding."""
        with self.hold_sync():
            self.selected = 0 if self.file and self.results[self.file].findings else -1
            self._update_findings()

    def _update_findings(self) -> None:
        """Update the findings of the selected file."""
        findings = enumerate(self.results[self.file].findings[:_MAX_ROWS] if self.file else ())
        rows = [[number, it.severity, it.code, it.line, it.title(self.lang)] for number, it in findings]
        self._file_details = {"file": quote(self.file), "rows": rows}
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
        """Return the widget, and plain HTML for pages that cannot show it, such as exports."""
        bundle = super()._repr_mimebundle_(**options)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        page = overview_html(self._overview, self.lang) + many_html.html(self._charts, self._heatmap, self.lang)
        return {**data, "text/plain": repr(self), "text/html": page}, metadata
