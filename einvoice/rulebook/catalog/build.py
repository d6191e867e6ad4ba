"""Make the catalog: an entry from each rule, and from each file of texts alone."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from einvoice.errors import RuleError
from einvoice.rulebook import sections
from einvoice.rulebook.catalog import CatalogEntry, example_texts, profiles, syntax_rules
from einvoice.rulebook.files.contexts import Contexts
from einvoice.rulebook.files.load import (
    LANGUAGES,
    TEXTS,
    Definition,
    Sentence,
    check_examples,
    check_keys,
    check_texts,
    natural,
)
from einvoice.rulebook.files.notes import DEVIATION_OF_TEXTS, check_found, check_notes, notes
from einvoice.rulebook.language import Where
from einvoice.rulebook.program.build import RuleSets
from einvoice.rulebook.program.typecheck import terms_at
from einvoice.rulebook.rule import SYNTAXES

_TEXT_KEYS: Final = {
    "code": str, "severity": str, "layer": str, "section": str, "terms": list, "source": str, "de": dict, "en": dict,
    "examples": dict, "deviation": list,
}  # fmt: skip
_PATH: Final = re.compile(r"\{(\w+(?:\.\w+)+)\}")


def entries(folder: Path, chosen: Mapping[str, str]) -> Iterator[CatalogEntry]:
    """Every entry, as the rules read in the releases of ``chosen``: first rule sets, then folders of texts alone.

    Raises ``RuleError`` for a wrong file.
    """
    shelf = RuleSets(folder)
    versions = {name: version.name for name, version in shelf.versions(chosen).items()}
    for name, definitions in shelf.definitions.items():
        for definition in definitions:
            yield from _of_rule(definition, versions[name], shelf.contexts[name], folder)
    composed = {entry.code: entry for entry in profiles.profile_entries(folder / profiles.FOLDER)}
    composed |= {entry.code: entry for entry in syntax_rules.entries_of_rows(folder / syntax_rules.FOLDER, versions)}
    _note_rows(composed, folder / syntax_rules.FOLDER / "deviations.toml")
    for path, layer in text_files(folder, {name: ruleset.layer for name, ruleset in shelf.sets.items()}):
        entry = entry_of_text(path, layer)
        row = composed.pop(entry.code, None)  # texts written by hand replace composed texts
        yield entry if row is None else _of_both(entry, row)
    yield from (entry for entry in composed.values() if entry.texts)  # a rule that a level keeps has its texts already


def _of_both(entry: CatalogEntry, row: CatalogEntry) -> CatalogEntry:
    """Texts written by hand, with what the row says: where it points, in the syntaxes that it is about."""
    points = {syntax: number for syntax, number in entry.points_at.items() if syntax in row.severities}
    return entry._replace(
        severity=row.severity, severities=row.severities, xpaths=row.xpaths, points_at=points, current=row.current
    )


def _of_rule(definition: Definition, version: str, contexts: Contexts, folder: Path) -> Iterator[CatalogEntry]:
    """One entry, or two where the syntaxes have codes of their own; as a release reads that has the rule."""
    current = definition.in_version(version)
    if not current:
        version = definition.ruleset.newest
    by_code: dict[str, list[str]] = {}
    for syntax in SYNTAXES:
        by_code.setdefault(definition.sentence(syntax, version).code, []).append(syntax)
    data = definition.data
    for code, syntaxes in by_code.items():
        sentences = {syntax: definition.sentence(syntax, version) for syntax in syntaxes}
        first = next((it for it in sentences.values() if not it.not_applicable), sentences[syntaxes[0]])
        yield CatalogEntry(
            code,
            first.severity,
            definition.layer,
            sections.section(data.get("section"), first.terms, definition.file),
            first.terms,
            definition.texts,
            definition.file,
            data.get("source", ""),
            definition.bound("since"),
            definition.bound("until"),
            tuple(alias for alias in (definition.code, *definition.aliases) if alias not in by_code),
            tuple(data.get("replaces", ())),
            {syntax: it.severity for syntax, it in sentences.items()},
            {syntax: it.not_applicable for syntax, it in sentences.items() if it.not_applicable},
            _stand_ins(definition, sentences, version, contexts),
            definition.told or example_texts.told(definition, first, folder),
            _paths(sentences, version, contexts),
            points_at=_points_at(sentences),
            notes=tuple(note.plain() for note in definition.notes),
            current=current,
        )


def _points_at(sentences: Mapping[str, Sentence]) -> dict[str, str]:
    """The leading term in each syntax in which the rule can be broken; in all where it can in none."""
    judged = {syntax: it for syntax, it in sentences.items() if not it.not_applicable} or sentences
    return {syntax: it.terms[0] for syntax, it in judged.items() if it.terms}


def _paths(sentences: Mapping[str, Sentence], version: str, contexts: Contexts) -> dict[str, str]:
    """Where a rule looks that reads no business term: its context."""
    found = {
        syntax: contexts.get(it.context, syntax, version)
        for syntax, it in sentences.items()
        if not it.terms and it.context
    }
    return {syntax: context.xpath for syntax, context in found.items() if context}


def _stand_ins(
    definition: Definition, sentences: Mapping[str, Sentence], version: str, contexts: Contexts
) -> dict[str, str]:
    """The business term for every path that the texts quote, and for ``actual``."""
    found: dict[str, str] = {}
    text = " ".join(text for texts in definition.texts.values() for text in texts.values())
    for syntax, sentence in sentences.items():
        if sentence.not_applicable:
            continue
        if sentence.terms:
            found["actual"] = sentence.terms[0]
        scope = contexts.scope(sentence.context, syntax, Where(definition.file, sentence.key("for")), version)
        for path in _PATH.findall(text):
            found.update((path, number) for number in terms_at(path, scope.names)[:1])
    return found


def text_files(folder: Path, layers: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    """Yield the files that hold texts without a rule, each with its layer.

    These are the files of all folders that are no rule set, whose name is the layer, and of the folder ``texts`` of a
    rule set. ``layers`` are the layers of the rule sets by folder.
    """
    for home in sorted(path for path in folder.iterdir() if path.is_dir()):
        texts = home / "texts" if home.name in layers else home
        if home.name != syntax_rules.FOLDER:
            for path in sorted(texts.glob("*.toml"), key=lambda path: natural(path.stem)):
                yield path, layers.get(home.name, home.name)


def entry_of_text(path: Path, layer: str) -> CatalogEntry:
    """Return the entry of a file that has texts without a rule. Raise ``RuleError`` for an invalid file."""
    file = f"{path.parent.name}/{path.name}"
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise RuleError(str(error), file=file) from None
    check_keys(data, _TEXT_KEYS, file)
    check_texts(data, file)
    check_examples(data, file)
    for key in ("code", "severity", "section"):
        if key not in data:
            raise RuleError("is missing", file=file, key=key)
    terms = tuple(data.get("terms", ()))
    return CatalogEntry(
        data["code"],
        data["severity"],
        data.get("layer", layer),
        sections.section(data["section"], terms, file),
        terms,
        {language: {key: data[language][key] for key in TEXTS} for language in LANGUAGES},
        file,
        data.get("source", ""),
        examples={language: tuple(data.get("examples", {}).get(language, ())) for language in LANGUAGES},
        points_at=dict.fromkeys(SYNTAXES, terms[0]) if terms else {},
        notes=_notes_of_text(data, file),
    )


def _notes_of_text(data: Mapping[str, Any], file: str) -> tuple[dict[str, Any], ...]:
    for entry in data.get("deviation", ()):
        check_keys(entry, DEVIATION_OF_TEXTS, file, "deviation")
    check_notes(data, file)
    check_found(data, file)
    return tuple(note.plain() for note, _ in notes(data))


def _note_rows(composed: dict[str, CatalogEntry], path: Path) -> None:
    """Put the notes of ``path`` to the entries whose texts are put together."""
    if not path.exists():
        return
    file = f"{path.parent.name}/{path.name}"
    data = tomllib.loads(path.read_text("utf-8"))
    _notes_of_text(data, file)
    for note, codes in notes(data):
        for code in codes or ():
            if code not in composed:
                raise RuleError(f"there is no rule about elements '{code}'", file=file, key="[[deviation]].codes")
            composed[code] = composed[code]._replace(notes=(*composed[code].notes, note.plain()))
