"""Names of elements and attributes for the texts of syntax rules, by language.

`elements.csv` has a noun for each element, `places.csv` a phrase for each parent element, in a column for each
language; columns such as `de_gender` have what a language needs to inflect its noun. Further languages are in the
table of the same name in `translations/<language>.toml`. A row applies to paths that end with its path; if several
rows do, the longest path wins. Paths have no prefixes; one that begins with `/` or `//` must match as a whole.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

from einvoice.errors import RuleError
from einvoice.localization import Language

_PREFIX: Final = re.compile(r"[a-z]+:")
_CONDITION: Final = re.compile(r"\[\w+\]")

Name: TypeAlias = Mapping[str, str]
"""A row: the noun by language, its inflections, and further columns."""


class Tables(Protocol):
    """The tables of a file of translations."""

    @property
    def file(self) -> str:
        """Its name, for errors."""

    def table(self, name: str) -> Mapping[str, Any]:
        """Return the table of a name; empty if there is none."""


class Names:
    """The rows of a file of names, by path, with the names of the translations.

    Raises:
        RuleError: a translation has an unknown path.
    """

    def __init__(self, file: Path, translations: Mapping[Language, Tables] | None = None) -> None:
        self.file = file
        with file.open(encoding="utf-8", newline="") as lines:
            first, *_ = header = next(csv.reader(lines))
            rows: dict[str, dict[str, str]] = {row[first]: row for row in csv.DictReader(lines, header)}
        for lang, translation in (translations or {}).items():
            for path, name in translation.table(file.stem).items():
                if (known := _known(rows, path)) is None:
                    raise RuleError(f"unknown path '{path}'", file=translation.file, key=file.stem)
                rows[known] |= _columns(name, lang)
        self._rows: Mapping[str, Name] = rows

    def __getitem__(self, path: str) -> Name:
        """Return the row for a path. Raise `RuleError` if it has no name."""
        if found := self.get(path):
            return found
        raise RuleError(f"has no name for '{path}'", file=f"{self.file.parent.name}/{self.file.name}")

    def get(self, path: str) -> Name | None:
        """Return the row for a path; None if it has no name."""
        plain: str = _PREFIX.sub("", path)
        candidates = (*_endings(plain), *_endings(_CONDITION.sub("", plain)))
        return next((self._rows[it] for it in candidates if it in self._rows), None)


def _known(paths: Iterable[str], path: str) -> str | None:
    """Return the path of a row; a long one may be cut with "…", as a key of TOML has no line breaks. None for none.

    >>> _known(["/Invoice/ID /Invoice/UUID", "/Invoice"], "/Invoice/ID …")
    '/Invoice/ID /Invoice/UUID'
    """
    start = path.removesuffix("…")
    return next((it for it in paths if it == path or (start != path and it.startswith(start))), None)


def inflected(name: Name, language: Language, forms: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Return the noun of a row in a language and its forms, for the placeholders of texts.

    `forms` are those of the language, by gender.

    >>> forms = {"n": {"a": "ein {noun}", "the": "das {definite}"}}
    >>> inflected({"de": "eigenes Feld", "de_gender": "n", "de_definite": "eigene Feld"}, "de", forms)
    {'noun': 'eigenes Feld', 'a': 'ein eigenes Feld', 'the': 'das eigene Feld'}
    """
    noun = name[language]
    words = {"noun": noun, "definite": name.get(f"{language}_definite") or noun}
    of_gender = forms.get(name.get(f"{language}_gender", ""), {})
    return {"noun": noun, **{form: pattern.format(**words) for form, pattern in of_gender.items()}}


def _columns(name: Any, lang: Language) -> dict[str, str]:
    """Return a translated name as columns: a text, or a table with `noun` and inflections such as `gender`."""
    if isinstance(name, str):
        return {lang: name}
    return {lang if key == "noun" else f"{lang}_{key}": text for key, text in name.items()}


def _endings(path: str) -> Iterator[str]:
    """Yield the path, then the path without its first step, without its first two steps, and so on.

    >>> list(_endings("/a/b/@c"))
    ['/a/b/@c', 'a/b/@c', 'b/@c', '@c']
    """
    steps = path.split("/")
    return ("/".join(steps[start:]) for start in range(len(steps)))
