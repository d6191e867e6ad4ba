"""Build the catalog: entries from rules, from tables of syntax rules, and from files with texts only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from einvoice import cache, codelists
from einvoice.code_catalog.catalog_entry import CatalogEntry
from einvoice.code_catalog.example_texts import example_texts
from einvoice.code_catalog.profiles import profile_entries
from einvoice.code_catalog.syntax_rules import syntax_rule_entries
from einvoice.code_catalog.translations import Translator
from einvoice.errors import RuleError
from einvoice.localization import Language, languages
from einvoice.model.terms import name as name_of
from einvoice.resources import RuleData
from einvoice.rulebook import sections
from einvoice.rulebook.files.contexts import Contexts
from einvoice.rulebook.files.definition import Definition
from einvoice.rulebook.files.keys import TEXTS, check_keys, check_text_file, languages_of
from einvoice.rulebook.files.lines import read_toml
from einvoice.rulebook.files.load import natural
from einvoice.rulebook.files.notes import DEVIATION_OF_TEXTS, check_notes, check_values, notes
from einvoice.rulebook.files.resolve import ResolvedRule, fill, in_language
from einvoice.rulebook.files.situations import KEY as SITUATIONS
from einvoice.rulebook.files.situations import situation_of
from einvoice.rulebook.files.tables import tables
from einvoice.rulebook.program.build import RuleSets
from einvoice.rulebook.program.typecheck import terms_at
from einvoice.rulebook.rule import EXPECTED, SYNTAXES

#: The layers without a rule set.
TEXT_LAYERS: Final = ("file", "schema", "pdf")
_TEXTS: Final = "texts"
_FIXED_TEXT: Final = re.compile("'[^']*'")
_PATH: Final = re.compile(r"\{(\w+(?:\.\w+)+)\}")


def entries(data: RuleData, versions: Mapping[str, str]) -> Iterator[CatalogEntry]:
    """Yield every entry: first those of rule files, then those of files with texts only, then composed ones.

    `versions` is the release of each rule set. Raise `RuleError` for an invalid file.
    """
    rule_sets = RuleSets(data)
    codes = {name: _codes(rule_sets, name) for name in rule_sets.sets}
    for entry in _entries(rule_sets, versions):
        ruleset = rule_sets.sets.get(entry.layer)
        others = (name for name in codes if name != entry.layer and entry.code in codes[name])
        kind = ruleset.kind if ruleset else entry.layer
        yield entry._replace(kind=kind, layers=(entry.layer, *others))


def _codes(rule_sets: RuleSets, name: str) -> set[str]:
    """Return the codes of a rule set in all releases."""
    paths = [path for syntax in SYNTAXES for path in tables(rule_sets.data.sets[name], syntax)]
    of_rows = {row[0] for path in paths for row in cache.table(path)[1:]}
    return of_rows.union(*((it.code, *it.aliases) for it in rule_sets.definitions[name]))


def _entries(rule_sets: RuleSets, versions: Mapping[str, str]) -> Iterator[CatalogEntry]:
    data, translator = rule_sets.data, Translator(rule_sets.data)
    described = _describing(rule_sets)
    for name, definitions in rule_sets.definitions.items():
        for definition in definitions:
            if described[definition.code] != name:
                continue
            for entry in _of_rule(definition, versions[name], rule_sets.contexts[name], data):
                yield translator.translated(entry, definition.variant, definition)
    composed = {entry.code: entry for folder in data.sets.values() for entry in profile_entries(folder / "syntax")}
    composed |= {entry.code: entry for entry in syntax_rule_entries(data, versions)}
    for folder in data.sets.values():
        _add_notes(composed, folder / "syntax" / "deviations.toml")
    for path, layer in text_files(data):
        for entry in entries_of_text(path, layer):
            row = composed.pop(entry.code, None)  # texts from a file replace composed texts
            yield translator.translated(entry if row is None else _merged(entry, row))
    named = (entry for entry in composed.values() if entry.texts)  # named rules have their own texts
    yield from map(translator.translated, named)
    translator.check()


def _describing(rule_sets: RuleSets) -> dict[str, str]:
    """Map each code to the rule set as which the catalog describes it.

    This is the one that states the rule, or the default one if it adopts the rule.
    """
    found: dict[str, str] = {}
    for name, definitions in rule_sets.definitions.items():
        for definition in definitions:
            if not definition.is_adopted or rule_sets.sets[name].default:
                found[definition.code] = name
            else:
                found.setdefault(definition.code, name)
    return found


def _merged(entry: CatalogEntry, row: CatalogEntry) -> CatalogEntry:
    """Return an entry with its own texts and the severities and locations of a row."""
    points = {syntax: number for syntax, number in entry.points_at.items() if syntax in row.severities}
    return entry._replace(
        severity=row.severity, severities=row.severities, xpaths=row.xpaths, points_at=points, current=row.current
    )


def _of_rule(definition: Definition, version: str, contexts: Contexts, rules: RuleData) -> Iterator[CatalogEntry]:
    """Yield one entry, or two if the code differs by syntax, from a release that has the rule."""
    current = definition.in_version(version)
    if not current:
        version = definition.ruleset.newest
    by_code: dict[str, list[str]] = {}
    for syntax in definition.ruleset.syntaxes:
        by_code.setdefault(definition.resolved(syntax, version).code, []).append(syntax)
    data = definition.data
    for code, syntaxes in by_code.items():
        resolved = {syntax: definition.resolved(syntax, version) for syntax in syntaxes}
        first = next((it for it in resolved.values() if not it.not_applicable), resolved[syntaxes[0]])
        yield CatalogEntry(
            code,
            first.severity,
            definition.layer,
            sections.section(data.get("section"), first.terms, definition.file),
            first.terms,
            _texts(definition),
            definition.file,
            data.get("source", ""),
            definition.bound("since"),
            definition.bound("until"),
            tuple(alias for alias in (definition.code, *definition.aliases) if alias not in by_code),
            tuple(data.get("replaces", ())),
            {syntax: it.severity for syntax, it in resolved.items()},
            {syntax: it.not_applicable for syntax, it in resolved.items() if it.not_applicable},
            _stand_ins(definition, resolved, version, contexts),
            definition.example_texts or example_texts(definition, first, rules),
            _paths(resolved, version, contexts),
            points_at=_points_at(resolved),
            notes=tuple(note.plain() for note in definition.notes),
            current=current,
            situations=tuple(it.plain() for it in definition.situations),
        )


def _texts(definition: Definition) -> dict[Language, dict[str, str]]:
    """Return the texts of a rule by language; in a rule set of one syntax, with those of its situation for it."""
    texts = {language: dict(own) for language, own in definition.texts.items()}
    syntaxes = definition.ruleset.syntaxes
    if len(syntaxes) == 1:
        situations = (it for it in definition.situations if it.syntax in syntaxes and not it.when)
        for language, own in next((it.texts for it in situations), {}).items():
            texts.setdefault(language, {}).update(own)
    return texts


def _points_at(resolved: Mapping[str, ResolvedRule]) -> dict[str, str]:
    """Map each syntax in which the rule applies to its first business term.

    If the rule applies in no syntax, map all of them.
    """
    applicable = {syntax: it for syntax, it in resolved.items() if not it.not_applicable} or resolved
    return {syntax: it.terms[0] for syntax, it in applicable.items() if it.terms}


def _paths(resolved: Mapping[str, ResolvedRule], version: str, contexts: Contexts) -> dict[str, str]:
    """Return the XPath of the context by syntax, for a rule that reads no business terms."""
    known = {
        syntax: contexts.get(it.context, syntax, version)
        for syntax, it in resolved.items()
        if not it.terms and it.context and not it.not_applicable
    }
    return {syntax: context.xpath for syntax, context in known.items() if context}


def _stand_ins(
    definition: Definition, resolved: Mapping[str, ResolvedRule], version: str, contexts: Contexts
) -> dict[str, str]:
    """Return the business term for every path that the texts quote, and for `actual`; fixed texts as they are."""
    stand_ins: dict[str, str] = {}
    text = " ".join(text for texts in _texts(definition).values() for text in texts.values())
    for syntax, rule in resolved.items():
        if rule.not_applicable:
            continue
        if rule.terms:
            stand_ins["actual"] = rule.terms[0]
        if EXPECTED in rule.let:
            stand_ins[EXPECTED] = ""
        stand_ins |= {name: value[1:-1] for name, value in rule.let.items() if _FIXED_TEXT.fullmatch(value)}
        scope = contexts.scope(rule.context, syntax, rule.where("for"), version)
        for path in _PATH.findall(text):
            stand_ins.update((path, number) for number in terms_at(path, scope.names, scope.group or "")[:1])
    return stand_ins


def text_files(data: RuleData) -> Iterator[tuple[Path, str]]:
    """Yield the files that hold texts without a rule, each with its layer.

    Rule sets keep them in their folder `texts`. Each other layer has a folder of its own in the rule data.
    """
    folders = {name: data.root / name for name in TEXT_LAYERS} | {name: it / _TEXTS for name, it in data.sets.items()}
    for layer, folder in sorted(folders.items()):
        for path in sorted(folder.glob("*.toml"), key=lambda path: natural(path.stem)):
            yield path, layer


def entries_of_text(path: Path, layer: str) -> Iterator[CatalogEntry]:
    """Yield the entries of a file that has texts without a rule. Raise `RuleError` for an invalid file."""
    file = "/".join(path.parts[-3 if path.parent.name == _TEXTS else -2 :])
    data = read_toml(path, file)
    check_text_file(data, file)
    for situation in data.get(SITUATIONS, ()):
        if situation.get("code_of", "") not in ("", *codelists.names()):
            raise RuleError("is not a code list", file=file, key=f"{SITUATIONS}.code_of")
    notes_of_text = _notes_of_text(data, file)
    for code, constants in data.get("variants", {data.get("code"): {}}).items():
        yield _entry_of_text(code, data, constants, layer, file)._replace(notes=notes_of_text)


def _entry_of_text(
    code: str, data: Mapping[str, Any], constants: Mapping[str, Any], layer: str, file: str
) -> CatalogEntry:
    terms = tuple(constants.get("terms", data.get("terms", ())))
    words = {language: _words(constants, terms, language) for language in languages()}
    situations = (
        {**it.plain(), "texts": {lang: fill(dict(texts), words[lang]) for lang, texts in it.texts.items()}}
        for it in map(situation_of, data.get(SITUATIONS, ()))
    )
    return CatalogEntry(
        code,
        data["severity"],
        layer,
        sections.section(data["section"], terms, file),
        terms,
        {language: {key: fill(data[language][key], words[language]) for key in TEXTS}
         for language in languages_of(data)},
        file,
        data.get("source", ""),
        examples={lang: tuple(fill(texts, words[lang])) for lang, texts in data.get("examples", {}).items()},
        points_at=dict.fromkeys(SYNTAXES, terms[0]) if terms else {},
        situations=tuple(situations),
    )  # fmt: skip


def _words(constants: Mapping[str, Any], terms: tuple[str, ...], language: Language) -> dict[str, Any]:
    """Return the constants of a code in a language; `term` is by default the name and number of its first term."""
    named = {"term": f"{name_of(terms[0], language)} ({terms[0]})"} if terms else {}
    return {**named, **in_language(constants, language)}


def _notes_of_text(data: Mapping[str, Any], file: str) -> tuple[dict[str, Any], ...]:
    _check_deviations(data, file)
    check_values(data, file)
    return tuple(note.plain() for note, _ in notes(data))


def _check_deviations(data: Mapping[str, Any], file: str) -> None:
    for entry in data.get("deviation", ()):
        check_keys(entry, {**DEVIATION_OF_TEXTS, **dict.fromkeys(languages(), str)}, file, "deviation")
    check_notes(data, file)


def _add_notes(composed: dict[str, CatalogEntry], path: Path) -> None:
    """Add the notes of `path` to the entries with composed texts.

    A note on a rule of another rule set is about the copy of the rule in the Schematron of this one.
    """
    if not path.exists():
        return
    file = "/".join(path.parts[-3:])
    data = read_toml(path, file)
    _check_deviations(data, file)
    ruleset = path.parent.parent.name
    for note, codes in notes(data):
        for code in codes or ():
            if code not in composed:
                raise RuleError(f"unknown syntax rule '{code}'", file=file, key="[[deviation]].codes")
            entry = composed[code]
            about = note._replace(ruleset="" if entry.layer == ruleset else ruleset)
            if not about.ruleset:
                check_values(data, file)
            composed[code] = entry._replace(notes=(*entry.notes, about.plain()))
