"""Adoption: a rule that another rule set states, as the rule set that adopts it has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from einvoice.rulebook.files.keys import ENTRIES, languages_of
from einvoice.rulebook.files.resolve import Source
from einvoice.rulebook.files.situations import KEY as SITUATIONS
from einvoice.rulebook.files.versions import RuleSet

#: What a rule set that adopts a rule states itself, since it has other releases.
_BY_RELEASE: Final = ("since", "until", "history", "renamed_from")


def adopt(
    data: Mapping[str, Any], schematron: list[Source], own: list[Source], ruleset: RuleSet
) -> tuple[dict[str, Any], list[Source]]:
    """Return a rule file and its deviations as a rule set adopts them, with `own`, the file that states what differs.

    Codes, source and texts of that file replace those of the rule file. The situations, notes and example texts of the
    rule file belong to its texts. Under another code, the titles are as the rule set states for such rules.
    """
    stated = dict(data)
    codes: dict[str, str] = {}
    for _, content in own:
        codes |= codes_of(data.get("code", ""), content)
        if languages_of(content):
            stated = {key: it for key, it in stated.items() if key not in (SITUATIONS, "notes", "examples")}
            schematron = [
                Source(file, {key: it for key, it in its.items() if key != SITUATIONS}) for file, its in schematron
            ]
        stated |= {language: stated.get(language, {}) | content[language] for language in languages_of(content)}
        stated |= {"source": content["source"]} if "source" in content else {}
    if codes:
        stated = {key: it for key, it in stated.items() if key not in ("aliases", "replaces")}
        stated, *others = (_with_titles(it, ruleset) for it in (stated, *(content for _, content in schematron)))
        schematron = [Source(file, content) for (file, _), content in zip(schematron, others, strict=True)]
    return _with_codes(stated, codes), [
        Source(file, _with_codes(content, codes)) for file, content in (*schematron, *own)
    ]


def _with_titles(data: Mapping[str, Any], ruleset: RuleSet) -> dict[str, Any]:
    """Return the content of a file with its titles, also of situations, as those of rules with another code."""
    changed = dict(data)
    for language in languages_of(data):
        texts = data[language]
        if "title" in texts:
            changed[language] = texts | {"title": ruleset.title_of_adopted(texts["title"], language)}
    if SITUATIONS in data:
        changed[SITUATIONS] = [_with_titles(situation, ruleset) for situation in data[SITUATIONS]]
    return changed


def codes_of(code: str, own: Mapping[str, Any]) -> dict[str, str]:
    """Return the codes under which a rule set adopts a rule, or the variants of a family, by those it is stated as."""
    if "code" in own:
        return {code: own["code"]}
    return {stated: member["code"] for stated, member in own.get("variants", {}).items() if "code" in member}


def _with_codes(data: Mapping[str, Any], codes: Mapping[str, str]) -> dict[str, Any]:
    """Return the content of a file with other codes, also where its entries list variants."""
    changed = dict(data)
    if data.get("code") in codes:
        changed["code"] = codes[data["code"]]
    if "variants" in data:
        changed["variants"] = {codes.get(code, code): member for code, member in data["variants"].items()}
    for kind in ENTRIES:
        if kind in data:
            changed[kind] = [
                {**entry, "variants": [codes.get(code, code) for code in entry["variants"]]}
                if "variants" in entry
                else entry
                for entry in data[kind]
            ]
    return changed


def without_releases(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a file of another rule set, without what depends on its releases."""
    own = {key: content for key, content in data.items() if key not in _BY_RELEASE}
    if "variants" in own:
        own["variants"] = {code: without_releases(member) for code, member in own["variants"].items()}
    return own
