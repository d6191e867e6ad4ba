"""Texts and formats by language, from files.

    from einvoice.localization import is_available, languages

    languages()             # ("de", "en", "fr")
    is_available("fr-BE")   # True: its texts are those of "fr"

A language is available if `messages/<tag>.toml` exists beside this module; tags follow BCP 47, such as "fr" or "fr-BE".
Each package keeps its texts in a folder `messages` beside its code, one TOML file per language; each folder of rules
has a folder `translations`. Files are read on first use. A text that a language lacks is taken from its parent tag
("fr-BE", "fr"), then from English, then from German.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from einvoice import cache

T = TypeVar("T")

Language: TypeAlias = str
"""Tag of a language (BCP 47)."""

_ROOT: Final = Path(__file__).parents[2]
_FOLDER: Final = "messages"
TRANSLATIONS: Final = "translations"
"""Name of the folder, in a folder of rules, with one file per language."""
_LAST: Final = ("en", "de")
"""Languages of last resort."""


@functools.cache
def languages() -> tuple[Language, ...]:
    """Return the tags of the available languages, in alphabetical order."""
    return tuple(sorted(Path(path).stem for path in cache.listed(Path(__file__).parent / _FOLDER, ".toml")))


def is_available(lang: Language) -> bool:
    """Return whether there are texts in a language or in one of its parent tags."""
    return lang in languages() or any(tag in languages() for tag in _with_parents(lang))


def check_language(lang: Language, name: str = "argument 'lang'") -> None:
    """Raise `ValueError` if there are no texts in a language; `name` says where it comes from."""
    if not is_available(lang):
        *others, last = map(repr, languages())
        raise ValueError(f"{name} must be {', '.join(others)} or {last}, not {lang!r}")


@functools.cache
def fallbacks(lang: Language) -> tuple[Language, ...]:
    """Return the languages in which a text is looked up, in this order.

    >>> fallbacks("fr-BE"), fallbacks("de")
    (('fr-BE', 'fr', 'en', 'de'), ('de', 'en'))
    """
    return tuple(dict.fromkeys((*_with_parents(lang), *_LAST)))


def choose(texts: Mapping[Language, T], lang: Language) -> T:
    """Return the text in a language or in the first of its `fallbacks` that has one; otherwise the first text.

    >>> choose({"de": "Rechnung", "en": "Invoice"}, "fr"), choose({"fr": "Facture"}, "de")
    ('Invoice', 'Facture')
    """
    for tag in fallbacks(lang):
        if text := texts.get(tag):
            return text
    return next(iter(texts.values()))


class TranslatedTexts(Mapping[Language, str]):
    """A text by language, with its translations in `translations/<language>.toml` of a folder of rules.

    A file is read when a text in its language is first requested.

    Args:
        texts: by language, as its authors wrote it.
        folder: folder of rules.
        table: name of the table in the files.
        key: of the text in the table.
        suffix: appended to the text in every language.
    """

    def __init__(self, texts: Mapping[Language, str], folder: Path, table: str, key: str, suffix: str = "") -> None:
        self._texts = texts
        self._folder = folder
        self._table = table
        self._key = key
        self._suffix = suffix

    def with_suffix(self, suffix: str) -> TranslatedTexts:
        """Return the text with `suffix` appended in every language."""
        return TranslatedTexts(self._texts, self._folder, self._table, self._key, suffix)

    def __getitem__(self, lang: Language) -> str:
        text: str = self._texts.get(lang) or self._translation(lang)
        if not text:
            raise KeyError(lang)
        return text + self._suffix

    def __iter__(self) -> Iterator[Language]:
        return (lang for lang in languages() if self._texts.get(lang) or self._translation(lang))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return any(True for _ in self)  # stops at the first language, which needs no file

    def __repr__(self) -> str:
        return repr(dict(self))

    def _translation(self, lang: Language) -> str:
        if lang not in languages():
            return ""
        text: str = _read(self._folder / TRANSLATIONS, lang).get(self._table, {}).get(self._key, "")
        return text


class Messages:
    """A table of texts in the message files of a package, by language.

    Args:
        package: full name of the package, such as "einvoice.render".
        table: name of the table in each file.
    """

    def __init__(self, package: str, table: str) -> None:
        self._folder = _ROOT.joinpath(*package.split("."), _FOLDER)
        self._table = table
        self._texts: dict[Language, _Texts] = {}
        self._translations: dict[tuple[str, tuple[Language, ...]], dict[Language, str]] = {}

    def __getitem__(self, lang: Language) -> Mapping[str, str]:
        """Return the texts of a language by key; a missing text is looked up in the `fallbacks` of the language."""
        if lang not in self._texts:
            self._texts[lang] = _Texts(self._folder, self._table, lang)
        return self._texts[lang]

    def translations(self, key: str) -> dict[Language, str]:
        """Return a text in every language that has it."""
        known = key, languages()
        if known not in self._translations:
            tables = ((lang, self._own(lang)) for lang in languages())
            self._translations[known] = {lang: table[key] for lang, table in tables if key in table}
        return dict(self._translations[known])

    def languages(self) -> Iterator[Language]:
        """Yield the available languages that have the table, in alphabetical order."""
        return (lang for lang in languages() if self._own(lang))

    def _own(self, lang: Language) -> dict[str, str]:
        texts: dict[str, str] = _read(self._folder, lang).get(self._table, {})
        return texts


class _Texts(Mapping[str, str]):
    """The texts of one table in one language, with fallback for each text."""

    def __init__(self, folder: Path, table: str, lang: Language) -> None:
        self._folder = folder
        self._table = table
        self._languages = fallbacks(lang)
        self._known: dict[str, str] = {}

    def __getitem__(self, key: str) -> str:
        if key not in self._known:
            self._known[key] = next((texts for texts in self._tables() if key in texts), {})[key]
        return self._known[key]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(key for texts in self._tables() for key in texts))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _tables(self) -> Iterator[dict[str, str]]:
        return (_read(self._folder, tag).get(self._table, {}) for tag in self._languages)


def _with_parents(lang: Language) -> Iterator[Language]:
    while lang:
        yield lang
        lang = lang.rpartition("-")[0]


@functools.cache
def _read(folder: Path, lang: Language) -> dict[str, Any]:
    """Return the tables of the file of a language; none if there is no such file.

    Raises:
        ValueError: the file is not TOML.
    """
    file = folder / f"{lang}.toml"
    try:
        return cache.toml(file)
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None
