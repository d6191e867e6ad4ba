"""Many results to explore: which code comes how often in which group of files, down to the single file."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import anywidget
import traitlets

from einvoice.bulk.overview_html import html
from einvoice.bulk.words import VERDICT_WORDS, whole
from einvoice.errors import quote
from einvoice.notebook.filters import SEVERITIES
from einvoice.notebook.groups import KINDS, group
from einvoice.notebook.view import _HERE
from einvoice.notebook.words import WORDS
from einvoice.result import LANGUAGES, Language
from einvoice.rulebook.catalog import entry

if TYPE_CHECKING:
    from einvoice.bulk import FileResult, ResultSet
    from einvoice.notebook.view import ResultView

_MOST_CODES: Final = 30
_MOST_GROUPS: Final = 24
_MOST_FILES: Final = 200


class ManyView(anywidget.AnyWidget):
    """Many results to explore; what a click changes can be set and read here too.

    Attributes:
        by: how files are grouped: "folder", "seller" or "month".
        code, group: the field of the map whose files are listed; None for all codes, or all groups.
        file: the name of the file whose findings are listed; "" for none.
        lang: "de" or "en".
        results: the results.
    """

    _esm = (_HERE / "many_view.mjs").read_text(encoding="utf-8")
    _css = (_HERE / "view.css").read_text(encoding="utf-8") + (_HERE / "many_view.css").read_text(encoding="utf-8")

    by = traitlets.Enum(KINDS, default_value="folder").tag(sync=True)
    code = traitlets.Unicode(None, allow_none=True).tag(sync=True)
    group = traitlets.Unicode(None, allow_none=True).tag(sync=True)
    file = traitlets.Unicode("").tag(sync=True)
    lang = traitlets.Enum(LANGUAGES, default_value="de").tag(sync=True)

    # What the browser shows: text and numbers, ready to be put on the page.
    _words = traitlets.Dict().tag(sync=True)
    _head = traitlets.Dict().tag(sync=True)
    _map = traitlets.Dict().tag(sync=True)
    _files = traitlets.Dict().tag(sync=True)
    _detail = traitlets.Dict().tag(sync=True)

    def __init__(self, results: ResultSet, *, lang: Language) -> None:
        self.results = results
        self._overview = results.summary()
        super().__init__(lang=lang)
        self._speak()
        self.observe(self._speak, "lang")
        self.observe(self._regroup, "by")
        self.observe(self._list, ["code", "group"])
        self.observe(self._tell, "file")

    @property
    def files(self) -> tuple[FileResult, ...]:
        """The files of the field that was chosen."""
        return tuple(file for file in self.results if self._is_chosen(file))

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

    def _is_chosen(self, file: FileResult) -> bool:
        return (self.group is None or group(file, self.by) == self.group) and (
            self.code is None or any(it["code"] == self.code for it in file.stored)
        )

    def _speak(self, _: Any = None) -> None:
        """Everything in the language that was chosen."""
        with self.hold_sync():
            verdicts = {name: number for name, number in self._overview.verdicts.items() if number}
            self._words = dict(WORDS[self.lang])
            self._head = {
                "valid": self.results.is_valid,
                "about": [
                    f"{whole(number, self.lang)} {VERDICT_WORDS[self.lang][name]}" for name, number in verdicts.items()
                ],
            }
            self._draw()
            self._list()
            self._tell()

    def _regroup(self, _: Any = None) -> None:
        with self.hold_sync():
            self.group = None
            self._draw()
            self._list()

    def _draw(self) -> None:
        """The map: in how many files of each group a code was found."""
        cells: Counter[tuple[str, str]] = Counter()
        sizes: Counter[str] = Counter()
        for file in self.results:
            name = group(file, self.by)
            sizes[name] += 1
            cells.update((code, name) for code in {it["code"] for it in file.stored})
        groups = sorted(name for name, _ in sizes.most_common(_MOST_GROUPS))
        known = {it.code: it for it in self._overview.codes}  # a code may come with two severities; one row is enough
        shown = sorted(known.values(), key=lambda it: (SEVERITIES.index(it.severity), -it.files))[:_MOST_CODES]
        self._map = {
            "groups": [[name, f"{quote(name)} ({whole(sizes[name], self.lang)})"] for name in groups],
            "rows": [
                {
                    "code": it.code,
                    "severity": it.severity,
                    "title": entry(it.code).title(self.lang),
                    "files": sum(cells[it.code, name] for name in sizes),
                    "cells": [cells[it.code, name] for name in groups],
                    "shares": [round(100 * cells[it.code, name] / sizes[name]) for name in groups],
                }
                for it in shown
            ],
            "left": len(sizes) - len(groups) + len(known) - len(shown),
        }

    def _list(self, _: Any = None) -> None:
        """The files of the field that was chosen."""
        files = self.files
        self._files = {
            "status": WORDS[self.lang]["files_shown"].format(shown=len(files), all=len(self.results)),
            "rows": [
                [it.file, quote(it.file), VERDICT_WORDS[self.lang][it.verdict], quote(it.seller), it.errors]
                for it in files[:_MOST_FILES]
            ],
        }

    def _tell(self, _: Any = None) -> None:
        """The findings of the file that was chosen."""
        if not self.file:
            self._detail = {}
            return
        file = self.results[self.file]
        self._detail = {
            "file": quote(file.file),
            "findings": [
                [it.severity, it.code, it.line, it.title(self.lang), it.fix(self.lang)]
                for it in file.findings[:_MOST_FILES]
            ],
        }

    def __repr__(self) -> str:
        return f"<ManyView: {len(self.files)} of {len(self.results)} files>"

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The widget; and for pages without one, such as an export, the results as they show themselves."""
        bundle = super()._repr_mimebundle_(**options)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        return {**data, "text/plain": repr(self), "text/html": html(self._overview, self.lang)}, metadata
