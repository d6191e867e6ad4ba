"""Filters for findings: severity, layer, section, business term and text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import traitlets

from einvoice.model.terms import name
from einvoice.result import Finding, Language
from einvoice.rulebook.releases import ruleset_label
from einvoice.rulebook.sections import SECTIONS, title
from einvoice.visualization.report.labels import WORDS as PAGE_LABELS

SEVERITIES: Final = ("fatal", "warning", "information")
KEYS: Final = ("severity", "layer", "section", "term", "text")

Filters: TypeAlias = Mapping[str, str | Sequence[str]]
"""Filters by key."""


class FiltersTrait(traitlets.Dict):
    """Filters of a widget, one value per key, without those that are empty.

    Args:
        keys: of the filters.
        words: by key, the words that are valid; these filters may have several and become lists.
        with_empty: keys for which "" selects what has no value.
    """

    def __init__(self, keys: Sequence[str], words: Mapping[str, Sequence[str]], with_empty: Sequence[str] = ()) -> None:
        super().__init__()
        self._keys = keys
        self._words = words
        self._with_empty = with_empty

    def validate(self, obj: Any, value: Any) -> dict[str, Any]:
        """Return the filters in use; raise `TraitError` if a key or a word is unknown."""
        filters = super().validate(obj, value) or {}
        if unknown := sorted(set(filters) - set(self._keys)):
            raise traitlets.TraitError(
                f"unknown filter {', '.join(unknown)}; valid filters are {', '.join(self._keys)}"
            )
        used = {key: filters[key] for key in self._keys if self._is_used(key, filters.get(key))}
        for key, words in self._words.items():
            if isinstance(used.get(key), str):
                used[key] = [used[key]]
            if wrong := set(used.get(key, ())) - set(words):
                raise traitlets.TraitError(f"unknown {key} {min(wrong)!r}; valid are {', '.join(words)}")
        return used

    def _is_used(self, key: str, value: Any) -> bool:
        return bool(value) or (value == "" and key in self._with_empty)


def matching_indices(findings: Sequence[Finding], filters: Filters, lang: Language) -> list[int]:
    """Return the indices of matching findings by descending severity, those in the PDF container last."""
    matching = [number for number, finding in enumerate(findings) if _matches(finding, filters, lang)]
    return sorted(matching, key=lambda it: (findings[it].layer == "pdf", SEVERITIES.index(findings[it].severity)))


def _matches(finding: Finding, filters: Filters, lang: Language) -> bool:
    severities, text = filters.get("severity"), str(filters.get("text", "")).casefold()
    return (
        (not severities or finding.severity in severities)
        and filters.get("layer", finding.layer) == finding.layer
        and filters.get("section", finding.section) == finding.section
        and ("term" not in filters or filters["term"] in finding.terms)
        and (not text or text in _search_text(finding, lang))
    )


def _search_text(finding: Finding, lang: Language) -> str:
    texts = (finding.code, *finding.terms, finding.title(lang), finding.explanation(lang), finding.fix(lang))
    return "\n".join(texts).casefold()


def choices(findings: Iterable[Finding], lang: Language) -> dict[str, list[list[Any]]]:
    """Return the choices of each filter: value, label and number of findings."""
    items = list(findings)
    terms = Counter(term for finding in items for term in dict.fromkeys(finding.terms))
    return {
        "severity": _counted((finding.severity for finding in items), SEVERITIES.index, str),
        "layer": _counted((finding.layer for finding in items), str, lambda it: layer_name(it, lang)),
        "section": _counted((finding.section for finding in items), SECTIONS.index, lambda it: title(it, lang)),
        "term": _counted(terms.elements(), _in_order, lambda it: term_name(it, lang)),
    }


def _counted(values: Iterable[str], order: Callable[[str], Any], label: Callable[[str], str]) -> list[list[Any]]:
    counts = Counter(values)
    return [[value, label(value), counts[value]] for value in sorted(counts, key=order)]


def _in_order(term: str) -> tuple[str, int, str]:
    kind, _, number = term.partition("-")
    digits = number.partition("-")[0]
    return kind, int(digits) if digits.isdigit() else 0, number


def term_name(term: str, lang: Language) -> str:
    """Return a business term with its name, such as "BT-106 Sum of line net amounts"."""
    return f"{term} {name(term, lang)}".strip()


def layer_name(layer: str, lang: Language) -> str:
    """Return the label of a layer, such as "XRechnung"."""
    return PAGE_LABELS[lang].get(f"layer_{layer}") or ruleset_label(layer, lang=lang)
