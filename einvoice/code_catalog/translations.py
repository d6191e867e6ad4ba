"""Translations of rule texts: `translations/<language>.toml` in a folder of rules, for languages its authors lack.

A file has a table for each code, with `title`, `explanation`, `fix`, `examples` and `notes`; what it leaves
out falls back. `[CODE.situations.NAME]` has the texts of a situation. `[files.NAME]` translates all codes of the
rule file `NAME.toml`, and `[variants.CODE]` the constants of its variants. `[notes]` has the texts of the notes of
the folder by name. `[ruleset]` has the `title` and the `adopted_title` of the rule set, `[overrides]` the reasons of
its severity overrides by name. Further tables are for composed texts: `[texts.KIND]`, `[fragments.NAME]`, `[forms]`,
`[elements]` and `[places]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from einvoice.errors import RuleError
from einvoice.localization import TRANSLATIONS, Language, languages
from einvoice.resources import RuleData
from einvoice.rulebook.files.definition import Definition
from einvoice.rulebook.files.keys import TEXTS, check_keys
from einvoice.rulebook.files.lines import read_toml
from einvoice.rulebook.files.resolve import fill
from einvoice.rulebook.files.situations import KEY as SITUATIONS
from einvoice.rulebook.files.versions import ADOPTED_TITLE

if TYPE_CHECKING:
    from einvoice.code_catalog.catalog_entry import CatalogEntry

_FILES: Final = "files"
_VARIANTS: Final = "variants"
_NOTES: Final = "notes"
_RULESET: Final = "ruleset"
_OVERRIDES: Final = "overrides"
_COMPOSED: Final = ("texts", "fragments", "forms", "elements", "places")
_KEYS: Final = {**dict.fromkeys(TEXTS, str), "examples": list, _NOTES: list, SITUATIONS: dict}
#: Values that are French texts: a translation may quote them instead of the English ones.
_FRENCH: Final = {"about_en": "about_fr"}
_QUOTED: Final = re.compile(r"\{([^{}]*)\}")


class Translation:
    """One file of translations.

    Raises:
        RuleError: it is not TOML, or no such language is available.
    """

    def __init__(self, path: Path) -> None:
        self.lang: Language = path.stem
        self.home = path.parent.parent.name
        self.file = f"{self.home}/{TRANSLATIONS}/{path.name}"
        if self.lang not in languages():
            known = ", ".join(languages())
            raise RuleError(f"'{self.lang}' is not an available language", file=self.file, hint=f"known: {known}")
        self._tables = read_toml(path, self.file)
        for name, table in self._tables.items():
            if not isinstance(table, dict):
                raise RuleError("must be a table", file=self.file, key=name)
        check_keys(self.table(_RULESET), {"title": str, ADOPTED_TITLE: str}, self.file, _RULESET)
        for name in (_OVERRIDES, _NOTES):
            check_keys(self.table(name), dict.fromkeys(self.table(name), str), self.file, name)

    def table(self, name: str) -> Mapping[str, Any]:
        """Return a table; empty if there is none."""
        table: Mapping[str, Any] = self._tables.get(name, {})
        return table

    @property
    def codes(self) -> set[str]:
        """Codes with texts or constants of their own."""
        return self._tables.keys() - {_FILES, _VARIANTS, _NOTES, _RULESET, _OVERRIDES, *_COMPOSED} | set(
            self.table(_VARIANTS)
        )

    @property
    def files(self) -> set[str]:
        """Rule files, without extension, whose codes share texts."""
        return set(self.table(_FILES))

    def texts_of(
        self, entry: CatalogEntry, constants: Mapping[str, Any], rule: Definition | None = None
    ) -> dict[str, Any]:
        """Return the texts for an entry, with the constants of its variant filled in.

        A rule adopted under another code has those of the code that it is stated as, unless its rule set replaces them.

        Raises:
            RuleError: a text quotes a value that the texts of the rule do not quote, or a key is unknown.
        """
        of_variants, stem, stated_as = self.table(_VARIANTS), _stem(entry), rule.stated_as if rule else ""
        for code in (rule.code if rule else "", stated_as, entry.code):  # that of the rule, if the release has another
            constants = {**constants, **of_variants.get(code, {})}
        texts: dict[str, Any] = {}
        for key, table in ((f"{_FILES}.{stem}", self.table(_FILES).get(stem)),
                           (stated_as, self._tables.get(stated_as)),
                           (entry.code, self._tables.get(entry.code))):  # fmt: skip
            if table is not None:
                check_keys(table, _KEYS, self.file, key)
                is_adopted = stated_as and rule and key != entry.code
                filled = fill(_adopted(table, rule, self.lang) if is_adopted and rule else table, constants)
                if key == f"{_FILES}.{stem}":
                    filled = _with_situations_of(entry, filled)
                self._check(filled, entry, key, constants)
                texts |= filled | _united(texts, filled)
        return texts

    def with_notes(self, entry: CatalogEntry) -> CatalogEntry:
        """Return an entry with the texts of its notes that this file has by name.

        Raises:
            RuleError: a text quotes a value that the texts of the rule do not quote.
        """
        return entry._replace(notes=tuple(self._named(note, entry) for note in entry.notes))

    def _named(self, note: dict[str, Any], entry: CatalogEntry) -> dict[str, Any]:
        text, home = self.table(_NOTES).get(note["name"]), _home_of(note, entry)
        if text is None or home != self.home:
            return note
        self._check_quoted(text, entry, f"{_NOTES}.{note['name']}", {})
        return {**note, "texts": {self.lang: text, **note["texts"]}}

    def check_situations_of_files(self, known: Mapping[str, set[str]]) -> None:
        """Raise `RuleError` if a rule file with translated situations has none of that name, given all by file."""
        for stem, table in self.table(_FILES).items():
            key = f"{_FILES}.{stem}.{SITUATIONS}."
            _check_known(table.get(SITUATIONS, {}), known.get(stem, set()), self.file, "situation", key)

    def _check(self, texts: Mapping[str, Any], entry: CatalogEntry, key: str, constants: Mapping[str, Any]) -> None:
        for name, content in _by_name(texts):
            for text in [content] if isinstance(content, str) else content:
                self._check_quoted(text, entry, f"{key}.{name}", constants)
        notes = texts.get(_NOTES, entry.notes)
        if len(notes) != len(entry.notes):
            message = f"must have {len(entry.notes)} texts, as in the rule file"
            raise RuleError(message, file=self.file, key=f"{key}.{_NOTES}")
        situations = texts.get(SITUATIONS, {})
        names = {it["name"] for it in entry.situations if it["name"]}
        _check_known(situations, names, self.file, "situation", f"{key}.{SITUATIONS}.")
        for name, table in situations.items():
            check_keys({name: table}, {name: dict}, self.file, f"{key}.{SITUATIONS}")
            check_keys(table, dict.fromkeys(TEXTS, str), self.file, f"{key}.{SITUATIONS}.{name}")

    def _check_quoted(self, text: str, entry: CatalogEntry, key: str, constants: Mapping[str, Any]) -> None:
        known = _placeholders(entry)
        known |= {french for english, french in _FRENCH.items() if english in known and self.lang == "fr"}
        for quoted in _QUOTED.findall(text):
            if quoted not in known:
                near = get_close_matches(quoted, known, 1)
                hint = f"did you mean '{near[0]}'?" if near else f"valid names are {', '.join(sorted(known))}"
                if quoted in constants:
                    hint = f"give it in [{_VARIANTS}.{entry.code}]"
                message = f"quotes '{quoted}', which the texts of {entry.code} do not quote"
                raise RuleError(message, file=self.file, key=key, hint=hint)


def _adopted(table: Mapping[str, Any], rule: Definition, lang: Language) -> dict[str, Any]:
    """Return the texts that a rule has under another code, too; notes and examples belong to the rule as stated."""
    names = {*TEXTS, *(() if rule.own_texts else (SITUATIONS,))} - rule.own_texts
    texts: dict[str, Any] = _with_title({name: text for name, text in table.items() if name in names}, rule, lang)
    if isinstance(texts.get(SITUATIONS), dict):
        texts[SITUATIONS] = {name: _with_title(its, rule, lang) for name, its in texts[SITUATIONS].items()}
    return texts


def _with_situations_of(entry: CatalogEntry, texts: dict[str, Any]) -> dict[str, Any]:
    """Return the texts of a rule file for one of its codes, which need not have all situations of the file."""
    names = {it["name"] for it in entry.situations}
    situations = texts.get(SITUATIONS)
    if not isinstance(situations, dict):
        return texts
    return {**texts, SITUATIONS: {name: its for name, its in situations.items() if name in names}}


def _united(texts: Mapping[str, Any], further: Mapping[str, Any]) -> dict[str, Any]:
    """Return the situations of both: a code adds to those of its file."""
    situations = {**texts.get(SITUATIONS, {}), **further.get(SITUATIONS, {})}
    return {SITUATIONS: situations} if situations else {}


def _with_title(texts: Any, rule: Definition, lang: Language) -> Any:
    if isinstance(texts, dict) and isinstance(texts.get("title"), str):
        return texts | {"title": rule.ruleset.title_of_adopted(texts["title"], lang)}
    return texts


def _by_name(texts: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each text or list of texts with its name."""
    yield from ((name, content) for name, content in texts.items() if name != SITUATIONS)
    for situation, by_key in texts.get(SITUATIONS, {}).items():
        for name, content in by_key.items() if isinstance(by_key, dict) else ():
            yield f"{SITUATIONS}.{situation}.{name}", content


def read_translations(folder: Path) -> dict[Language, Translation]:
    """Return the translations of a folder of rules, by language. Raise `RuleError` for an invalid file."""
    translations = map(Translation, sorted((folder / TRANSLATIONS).glob("*.toml")))
    return {translation.lang: translation for translation in translations}


class Translator:
    """Adds the translations of all folders of rules to entries of the catalog."""

    def __init__(self, data: RuleData) -> None:
        homes = [*sorted(path for path in data.root.iterdir() if path.name not in data.sets), *data.sets.values()]
        self._translations = [it for home in homes for it in read_translations(home).values()]
        self._overrides = {home.name: _names_of_overrides(home) for home in data.sets.values()}
        self._codes: set[str] = set()
        self._situations: dict[str, set[str]] = {}  # of rule files
        self._notes: set[tuple[str, str]] = set()  # by folder and name

    def translated(
        self, entry: CatalogEntry, constants: Mapping[str, Any] | None = None, rule: Definition | None = None
    ) -> CatalogEntry:
        """Return an entry with further languages.

        Args:
            entry: the entry.
            constants: those of its variant.
            rule: its definition, which says how a rule set adopts it.

        Raises:
            RuleError: a translation is invalid.
        """
        codes = {entry.code, rule.stated_as} if rule else {entry.code}
        stem = _stem(entry)
        self._codes.add(entry.code)
        self._situations.setdefault(stem, set()).update(it["name"] for it in entry.situations)
        for translation in self._translations:
            if codes & translation.codes or stem in translation.files:
                entry = _with(entry, translation.lang, translation.texts_of(entry, constants or {}, rule))
            entry = translation.with_notes(entry)
        self._notes.update((_home_of(note, entry), note["name"]) for note in entry.notes)
        return entry

    def check(self) -> None:
        """Raise `RuleError` if a translation has a code or file that no entry had."""
        for translation in self._translations:
            _check_known(translation.codes, self._codes, translation.file, "code")
            _check_known(translation.files, set(self._situations), translation.file, "rule file", f"{_FILES}.")
            translation.check_situations_of_files(self._situations)
            notes = {name for home, name in self._notes if home == translation.home}
            _check_known(translation.table(_NOTES), notes, translation.file, "note", f"{_NOTES}.")
            names = self._overrides.get(translation.home, set())
            _check_known(translation.table(_OVERRIDES), names, translation.file, "override", f"{_OVERRIDES}.")


def _with(entry: CatalogEntry, lang: Language, texts: Mapping[str, Any]) -> CatalogEntry:
    own = {name: texts[name] for name in TEXTS if name in texts}
    examples = {**entry.examples, lang: tuple(texts["examples"])} if texts.get("examples") else entry.examples
    notes = entry.notes
    if "notes" in texts:
        notes = tuple(
            {**note, "texts": {**note["texts"], lang: text}} if text else note
            for note, text in zip(notes, texts["notes"], strict=True)
        )
    translated = texts.get(SITUATIONS, {})
    situations = tuple(
        {**it, "texts": {**it["texts"], lang: translated[it["name"]]}} if it["name"] in translated else it
        for it in entry.situations
    )
    return entry._replace(
        texts={**entry.texts, lang: {**entry.texts.get(lang, {}), **own}},
        examples=examples,
        notes=notes,
        situations=situations,
    )


def _placeholders(entry: CatalogEntry) -> set[str]:
    """Return the names of the values that the texts and notes of an entry quote in any language."""
    texts = [text for by_name in entry.texts.values() for text in by_name.values()]
    texts += [text for note in entry.notes for text in note["texts"].values()]
    texts += [text for it in entry.situations for by_name in it["texts"].values() for text in by_name.values()]
    return {name for text in texts for name in _QUOTED.findall(text)}


def _names_of_overrides(folder: Path) -> set[str]:
    path = folder / "overrides.toml"
    entries = read_toml(path, f"{folder.name}/{path.name}").get("override", ()) if path.exists() else ()
    return {entry["name"] for entry in entries if "name" in entry}


def _home_of(note: Mapping[str, Any], entry: CatalogEntry) -> str:
    """Return the folder of a note: that of the copy that it is about, otherwise that of the rule."""
    return str(note["ruleset"] or Path(entry.file).parts[0])


def _stem(entry: CatalogEntry) -> str:
    return Path(entry.file).stem


def _check_known(names: Iterable[str], known: set[str], file: str, kind: str, prefix: str = "") -> None:
    for name in sorted(set(names) - known):
        near = get_close_matches(name, known, 1)
        hint = f"did you mean '{near[0]}'?" if near else ""
        raise RuleError(f"unknown {kind} '{name}'", file=file, key=f"{prefix}{name}", hint=hint)
