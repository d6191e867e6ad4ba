"""Many results to explore: which code comes how often in which group of files, down to the single finding."""

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
from einvoice.notebook.labels import LABELS
from einvoice.notebook.sources import lines, script, style
from einvoice.result import LANGUAGES, Finding, Language

if TYPE_CHECKING:
    from einvoice.bulk import FileResult, ResultSet
    from einvoice.notebook.view import ResultView

_MOST_ROWS: Final = 200


class ManyView(anywidget.AnyWidget):
    """Many results to explore; what a click changes can be set and read here too.

    Attributes:
        by: how files are grouped: "folder", "seller" or "month"; at first by what tells them apart.
        code, group: the field of the map whose files are listed; None for all codes, or all groups.
        text: what the files listed have in their name, seller or invoice number; "" for all.
        file: the name of the file whose findings are listed; "" for none.
        selected: the number of the finding in `FileResult.findings` that is shown with its place; -1 for none.
        lang: "de" or "en".
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
    lang = traitlets.Enum(LANGUAGES, default_value="de").tag(sync=True)

    # What the browser shows: text and numbers, ready to be put on the page.
    _words = traitlets.Dict().tag(sync=True)
    _head = traitlets.Dict().tag(sync=True)
    _charts: Any = traitlets.List().tag(sync=True)
    _map = traitlets.Dict().tag(sync=True)
    _files = traitlets.Dict().tag(sync=True)
    _detail = traitlets.Dict().tag(sync=True)
    _place = traitlets.Dict().tag(sync=True)

    def __init__(self, results: ResultSet, *, lang: Language) -> None:
        self.results = results
        self._overview = results.summary()
        self._index = Index(results)
        self._lines: tuple[str, list[str]] = "", []
        telling = (kind for kind in KINDS if len(self._index.groups(kind)) > 1)
        super().__init__(lang=lang, by=next(telling, "folder"))
        self._speak()
        self.observe(self._speak, "lang")
        self.observe(self._regroup, "by")
        self.observe(self._list, ["code", "group", "text"])
        self.observe(self._open, "file")
        self.observe(self._point, "selected")

    @property
    def files(self) -> tuple[FileResult, ...]:
        """The files of the field that was chosen."""
        return tuple(self.results[number] for number in self._chosen)

    @property
    def finding(self) -> Finding | None:
        """The finding that is shown with its place; None if none is."""
        return self.results[self.file].findings[self.selected] if self.file and self.selected >= 0 else None

    def open_file(self) -> ResultView:
        """The file that was chosen, with all its findings, beside its XML. Raises what `ResultSet.result` raises."""
        from einvoice.notebook.view import ResultView

        return ResultView(self.results.result(self.file), lang=self.lang)

    @traitlets.validate("file")
    def _check_file(self, proposal: Any) -> str:
        name: str = proposal["value"]
        try:
            return self.results[name].file if name else ""
        except KeyError:
            raise traitlets.TraitError(f"There is no file {quote(name)} in these results.") from None

    @traitlets.validate("selected")
    def _check_selected(self, proposal: Any) -> int:
        number: int = proposal["value"]
        known = len(self.results[self.file].findings) if self.file else 0
        if not -1 <= number < known:
            raise traitlets.TraitError(f"There is no finding {number}: there are {known}.")
        return number

    @property
    def _chosen(self) -> list[int]:
        return self._index.chosen(self.by, self.group, self.code, self.text)

    def _speak(self, _: Any = None) -> None:
        """Everything in the language that was chosen."""
        lang: Language = self.lang
        verdicts = {name: number for name, number in self._overview.verdicts.items() if number}
        with self.hold_sync():
            self._words = dict(LABELS[lang])
            self._head = {
                "valid": self.results.is_valid,
                "about": [f"{whole(number, lang)} {VERDICT_LABELS[lang][name]}" for name, number in verdicts.items()],
                "remark": "" if self.results.complete else BULK_LABELS[lang]["interrupted"],
            }
            self._charts = charts.bars(self._index, lang)
            self._draw()
            self._list()
            self._tell()

    def _regroup(self, _: Any = None) -> None:
        """Other groups; the one that was chosen is forgotten unless it is among them, set together with their kind."""
        with self.hold_sync():
            if not self._index.has(self.by, self.group):
                self.group = None
            self._draw()
            self._list()

    def _draw(self) -> None:
        self._map = charts.heat_map(self._index, self._overview, self.by, self.lang)

    def _list(self, _: Any = None) -> None:
        """The files of the field that was chosen."""
        lang: Language = self.lang
        labels, chosen = LABELS[lang], self._chosen
        left = len(chosen) - _MOST_ROWS
        rows = [self._index.rows[number] for number in chosen[:_MOST_ROWS]]
        self._files = {
            "status": labels["files_shown"].format(shown=whole(len(chosen), lang), all=whole(len(self._index), lang)),
            "rows": [
                [it.file, quote(it.file), VERDICT_LABELS[lang][it.verdict], quote(it.seller), it.errors] for it in rows
            ],
            "rest": labels["rest_files"].format(count=whole(left, lang)) if left > 0 else "",
        }

    def _open(self, _: Any = None) -> None:
        """The file that was chosen, and its first finding."""
        with self.hold_sync():
            self.selected = 0 if self.file and self.results[self.file].findings else -1
            self._tell()

    def _tell(self) -> None:
        """The findings of the file that was chosen."""
        found = enumerate(self.results[self.file].findings[:_MOST_ROWS] if self.file else ())
        rows = [[number, it.severity, it.code, it.line, it.title(self.lang)] for number, it in found]
        self._detail = {"file": quote(self.file), "rows": rows}
        self._point()

    def _point(self, _: Any = None) -> None:
        """The finding that was chosen, with its place in the XML."""
        finding, lang = self.finding, self.lang
        if finding is None:
            self._place = {}
            return
        shown = excerpt(self._source(), finding.line, finding.column)
        self._place = {
            "explanation": finding.explanation(lang),
            "fix": finding.fix(lang),
            "excerpt": shown or {"missing": LABELS[lang]["no_place" if finding.line is None else "not_at_hand"]},
        }

    def _source(self) -> list[str]:
        """The lines of the file that was chosen, read again; none where nobody can, or where it is not at hand."""
        if self._lines[0] != self.file:
            try:
                self._lines = self.file, lines(self.results.result(self.file))
            except (UnreadableDocument, LookupError, ValueError, OSError):
                self._lines = self.file, []
        return self._lines[1]

    def __repr__(self) -> str:
        return f"<ManyView: {len(self._chosen)} of {len(self._index)} files>"

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The widget; and for pages without one, such as an export, the overview and the charts as plain HTML."""
        bundle = super()._repr_mimebundle_(**options)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        page = overview_html(self._overview, self.lang) + many_html.html(self._charts, self._map, self.lang)
        return {**data, "text/plain": repr(self), "text/html": page}, metadata
