"""Catalog entries of the element rules of Factur-X profiles.

The rows are in `rules/facturx/syntax/rows.csv`. Their texts are composed from `texts.toml` and the names of the
steps of a path (`elements.csv`): the last step names the element, the steps above its parents, in the genitive.
"""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from einvoice.code_catalog.catalog_entry import CatalogEntry
from einvoice.code_catalog.naming import Name, Names
from einvoice.code_catalog.syntax_rules import add_texts, composed_situations, fill
from einvoice.code_catalog.translations import read_translations
from einvoice.code_catalog.xpaths import xpath_of_row
from einvoice.errors import RuleError
from einvoice.localization import Language
from einvoice.rulebook.files.keys import TEXTS
from einvoice.rulebook.files.tables import codes_by_profile
from einvoice.rulebook.sections import SECTIONS

_PREFIX: Final = re.compile(r"\w+:")
_CODE_LIST: Final = re.compile(r"<(\w+)>")
_CHOICE: Final = "one_of"
_SYNTAX: Final = "CII"
_NOT_USED: Final = "forbidden"  # all these rows share one code, which has its own texts


def profile_entries(folder: Path) -> Iterator[CatalogEntry]:
    """Yield one entry for each code of the tables in `folder`, if there are any.

    A number that only smaller profiles have may stand for several elements; its entry describes the first of them.
    Entries of `rules.csv` and `copies.csv` have no texts here: those are in their own files, or those of the rule
    that was copied. Raise `RuleError` for an element without a name.
    """
    if not (folder / "rows.csv").exists():
        return
    data = tomllib.loads((folder / "texts.toml").read_text("utf-8"))
    translations = read_translations(folder.parent)
    for lang, translation in translations.items():
        add_texts(data, lang, translation)
    element_names = Names(folder / "elements.csv", translations)
    rows: dict[str, list[dict[str, str]]] = {}
    for row in (row for name in ("rows", "rules", "copies") for row in _rows(folder / f"{name}.csv")):
        if row["check"] != _NOT_USED:
            rows.setdefault(row["code"], []).append(row)
    choices: dict[str, list[str]] = {}
    for row in (row for of_code in rows.values() for row in of_code if row["check"] == _CHOICE):
        choices.setdefault(_full_path(row), []).append(row["argument"])
    others: dict[str, CatalogEntry] = {}
    for code, of_code in rows.items():
        row = of_code[0]  # there may be one for each profile
        choice = choices.get(_full_path(row), [])
        entry = _entry(row, choice, data, element_names if row["file"].endswith("/rows.csv") else None)
        yield entry
        for other in (it for row in of_code for it in codes_by_profile(code, row["profiles"]).values()):
            others.setdefault(other, entry._replace(code=other))
    yield from (entry for code, entry in others.items() if code not in rows)


def _rows(file: Path) -> Iterator[dict[str, str]]:
    name = file.relative_to(file.parents[2]).as_posix()
    with file.open(encoding="utf-8", newline="") as lines:
        yield from ({**row, "file": name} for row in csv.DictReader(lines))


def _entry(
    row: Mapping[str, str], choices: Sequence[str], data: Mapping[str, Any], element_names: Names | None
) -> CatalogEntry:
    """Return the entry of a row.

    Args:
        row: the row.
        choices: arguments of all rows that limit the codes of the element.
        data: the texts by check.
        element_names: names of the elements; None if the row has no texts.
    """
    texts: dict[str, dict[str, str]] = {}
    words: dict[str, dict[str, str]] = {}
    texts_of = _texts_of(row, data)
    section = "document"
    if element_names is not None:
        steps = [element_names[path] for path in _paths(row)]
        section = next((step["section"] for step in steps if step["section"]), section)
        for language in (lang for lang in texts_of if all(lang in step for step in steps)):
            words[language] = {
                "noun": _noun(steps, language),
                "xml": _xml(row),
                "argument": row["argument"],
                "otherwise": "",
                **_code_list(row, choices, data, language),
            }
            words[language]["add"] = _how_to_add(choices, data, words[language], language)
            texts[language] = {name: fill(text, words[language]) for name, text in texts_of[language].items()}
    if section not in SECTIONS:
        raise RuleError("must be one of " + ", ".join(SECTIONS), file=row["file"], key=section)
    return CatalogEntry(
        row["code"],
        row["severity"],
        row["file"].partition("/")[0],
        section,
        (),
        {language: {name: by_name[name] for name in TEXTS} for language, by_name in texts.items()},
        row["file"],
        severities={_SYNTAX: row["severity"]},
        xpaths={_SYNTAX: xpath_of_row(row, _SYNTAX)},
        examples={language: (by_name["example"],) for language, by_name in texts.items()},
        situations=composed_situations(texts_of, words),
    )


def _texts_of(row: Mapping[str, str], data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the texts for the check of a row: with its path, or for rows without a code list, if there are any."""
    check = row["check"]
    is_few = check == _CHOICE and not _CODE_LIST.search(row["argument"])
    texts: Mapping[str, Any] = data.get(f"{check} {row['path']}", data.get(f"{check}_few" if is_few else check, {}))
    return texts


def _code_list(
    row: Mapping[str, str], choices: Sequence[str], data: Mapping[str, Any], language: Language
) -> Mapping[str, str]:
    """Return the codes of an element, for the texts: its code list with examples, or the codes themselves."""
    choice = row["argument"] if row["check"] == _CHOICE else next(iter(choices), "")
    found = _CODE_LIST.search(choice)
    if found is None:
        return {"codes": ", ".join(dict.fromkeys(code for it in choices for code in it.split(" ")))}
    lists = data["lists"]
    by_language = lists.get(_CODE_LIST.sub(r"\1", choice)) or lists.get(found[1])
    if by_language is None:
        raise RuleError(f"has no name for the code list '{found[1]}'", file=row["file"], key=row["code"])
    words: Mapping[str, str] = by_language.get(language, {})
    return words


def _how_to_add(choices: Sequence[str], data: Mapping[str, Any], words: Mapping[str, str], language: Language) -> str:
    """Return what to do if an element is missing."""
    kind = "list" if "list" in words else "codes" if len(set(choices)) == 1 else "other"
    return fill(data["add"][kind].get(language, ""), words)


def _full_path(row: Mapping[str, str]) -> str:
    return f"{row['context'].rstrip('/')}/{row['path']}".removesuffix("/.")


def _xml(row: Mapping[str, str]) -> str:
    """Return the XML name of the element."""
    path = row["context"].rpartition("/")[2] if row["path"] == "." else row["path"]
    return path.partition("[")[0]


def _paths(row: Mapping[str, str]) -> Iterator[str]:
    """Yield the path of each step to the element."""
    steps = _PREFIX.sub("", _full_path(row)).strip("/").split("/")
    return ("/".join(steps[: index + 1]) for index in range(len(steps)))


def _noun(steps: list[Name], language: Language) -> str:
    """Return the name of the last step with its parents, unless the texts omit a parent.

    >>> buyer = {"de": "Käufer", "de_genitive": "des Käufers", "en": "buyer", "en_genitive": "of the buyer"}
    >>> country = {"de": "Ländercode", "en": "country code"}
    >>> _noun([buyer, country], "de"), _noun([buyer, country], "en")
    ('Ländercode des Käufers', 'country code of the buyer')
    """
    *parents, last = steps
    genitives = (step.get(f"{language}_genitive", "") for step in reversed(parents))
    return " ".join([last[language], *filter(None, genitives)])
