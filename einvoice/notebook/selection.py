"""Selection of files by filters that apply together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from einvoice.bulk.record import VERDICTS
from einvoice.notebook.filters import SEVERITIES
from einvoice.notebook.index import KINDS, Index, Mask
from einvoice.result import Language

KEYS: Final = ("verdict", "severity", "code", "cause", *KINDS, "text")
WORDS: Final[Mapping[str, tuple[str, ...]]] = {"verdict": VERDICTS, "severity": SEVERITIES}
_OF_FINDINGS: Final = ("code", "severity")


class Selection:
    """Files and findings that match filters; a file must have a finding that matches both `code` and `severity`.

    Args:
        index: the files.
        filters: one value per key, for `verdict` and `severity` a list. "" as folder, seller or month selects the files
            without one.
        consequences: whether possible consequences of schema errors count as findings.
        lang: language in which the text filter searches rules.
    """

    def __init__(self, index: Index, filters: Mapping[str, Any], *, consequences: bool, lang: Language) -> None:
        self.consequences = consequences
        self._index = index
        self._files: dict[str, Mask] = {kind: index.in_group(kind, filters[kind]) for kind in KINDS if kind in filters}
        self._findings: dict[str, Mask] = {}
        if "verdict" in filters:
            self._files["verdict"] = np.isin(index.verdicts, [VERDICTS.index(it) for it in filters["verdict"]])
        if "cause" in filters:
            self._files["cause"] = index.with_cause(filters["cause"])
        if "text" in filters:
            self._files["text"] = index.has_text(filters["text"], _codes_with(filters["text"], index, lang))
        if "severity" in filters:
            self._findings["severity"] = np.isin(index.severity, [SEVERITIES.index(it) for it in filters["severity"]])
        if "code" in filters:
            codes = index.codes
            self._findings["code"] = index.code == (codes.index(filters["code"]) if filters["code"] in codes else -1)

    def files(self, *ignored: str) -> Mask:
        """Return whether each file matches all filters but the ignored ones."""
        matching = np.ones(len(self._index), np.bool_)
        for key, mask in self._files.items():
            if key not in ignored:
                matching &= mask
        if set(self._findings) - set(ignored):
            with_finding = np.zeros(len(self._index), np.bool_)
            with_finding[self._index.file[self._matching_findings(*ignored)]] = True
            matching &= with_finding
        return matching

    def findings(self, *ignored: str) -> Mask:
        """Return whether each finding matches all filters but the ignored ones, and its file those about files."""
        files = self.files(*ignored, *_OF_FINDINGS)
        return self._matching_findings(*ignored) & files[self._index.file]

    def _matching_findings(self, *ignored: str) -> Mask:
        matching = np.ones_like(self._index.consequence) if self.consequences else ~self._index.consequence
        for key, mask in self._findings.items():
            if key not in ignored:
                matching &= mask
        return matching


def _codes_with(text: str, index: Index, lang: Language) -> list[int]:
    """Return the numbers of the codes that have the text in their code, business terms or title."""
    searched, codes = text.casefold(), []
    for number, code in enumerate(index.codes):
        known = index.entry(code)
        if searched in "\n".join((code, *known.terms, known.title(lang))).casefold():
            codes.append(number)
    return codes
