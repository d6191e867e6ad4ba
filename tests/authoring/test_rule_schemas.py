"""JSON Schemas of the TOML files of rule sets: they accept what the loader accepts, and refuse what it refuses."""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Iterator
from decimal import Decimal
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from jsonschema_rs import Draft7Validator

from einvoice.authoring import json_schema
from einvoice.authoring.json_schema.descriptions import DESCRIPTIONS
from einvoice.code_catalog.build import entries_of_text
from einvoice.errors import RuleError
from einvoice.localization import languages
from einvoice.resources import rules_folder
from einvoice.rulebook.files.keys import check_copy, check_file, check_schematron
from tests.helpers.paths import ROOT

ASSOCIATIONS = tomllib.loads((ROOT / ".taplo.toml").read_text("utf-8"))["rule"]
#: Files without a schema: examples, translations, lists of overrides and profiles, laws, sentences of composed texts.
WITHOUT = (
    "*/documents/expected.toml",
    "base.toml", "overrides.toml", "profiles.toml", "law.toml", "cases.toml",
    "*/translations/*.toml", "*/syntax/*.toml", "syntax/*.toml",
)  # fmt: skip


@cache
def validator(kind: str) -> Draft7Validator:
    return Draft7Validator(json.loads((rules_folder() / "json-schema" / f"{kind}.json").read_text("utf-8")))


def kinds_of(path: Path) -> list[str]:
    """Return the kinds that `.taplo.toml` gives a file; `*` also matches `/` there."""
    name = path.relative_to(ROOT).as_posix()
    return [
        Path(rule["schema"]["path"]).stem
        for rule in ASSOCIATIONS
        if any(fnmatchcase(name, pattern) for pattern in rule["include"])
        and not any(fnmatchcase(name, pattern) for pattern in rule.get("exclude", ()))
    ]


@cache
def files() -> dict[str, list[Path]]:
    """Return the files of each kind, by the associations."""
    found: dict[str, list[Path]] = {kind: [] for kind in json_schema.KINDS}
    for path in sorted(rules_folder().rglob("*.toml")):
        for kind in kinds_of(path):
            found[kind].append(path)
    return found


def test_every_file_has_one_schema_or_is_known_to_have_none():
    for path in sorted(rules_folder().rglob("*.toml")):
        name = path.relative_to(rules_folder()).as_posix()
        without = any(fnmatchcase(name, pattern) or path.name == pattern for pattern in WITHOUT)
        assert len(kinds_of(path)) == (0 if without else 1), name


def test_schemas_are_those_of_the_keys_of_the_loader():
    for kind in json_schema.KINDS:
        path = rules_folder() / "json-schema" / f"{kind}.json"
        assert path.read_text("utf-8") == json_schema.text(kind), "run: einvoice rules schema --write rules/json-schema"
        jsonschema_rs.meta.validate(json_schema.schema(kind))


@pytest.mark.parametrize("kind", json_schema.KINDS)
def test_files_of_the_project_are_valid(kind):
    assert files()[kind]
    for path in files()[kind]:
        errors = [(path.name, it.instance_path, it.message) for it in validator(kind).iter_errors(read(path))]
        assert errors == []


def read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text("utf-8"), parse_float=Decimal)


# ---------------------------------------------------------------- the loader and the schema agree


def loader_refuses(kind: str, data: dict[str, Any], tmp_path: Path) -> bool:
    """Return whether the loader refuses the keys and types of a file."""
    try:
        if kind == "rule":
            check_file(data, "x.toml")
        elif kind == "schematron":
            variants = {code: dict.fromkeys(member, "") for code, member in data.get("variants", {}).items()}
            check_schematron(data, {"variants": variants} if variants else {}, "x.toml", adopted=True)
        elif kind == "copy":
            check_copy(data, "x.toml")
        else:
            path = tmp_path / "FILE-X.toml"
            path.write_text(toml(data), "utf-8")
            list(entries_of_text(path, "file"))
    except RuleError:
        return True
    return False


def toml(data: dict[str, Any]) -> str:
    """Write a file of texts; JSON is TOML for texts, numbers, and lists without tables."""
    return "\n".join(f"{json.dumps(key)} = {inline(content)}" for key, content in data.items())


def inline(content: Any) -> str:
    if isinstance(content, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {inline(value)}" for key, value in content.items()) + "}"
    if isinstance(content, list):
        return "[" + ", ".join(map(inline, content)) + "]"
    return json.dumps(content)


def mutants(content: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield changes of each place of a file: another type, a key too many, a key too few; with the changed file."""
    for other in (7, "text", ["text"], {"key": "text"}, [7], {"key": 7}):
        if type(other) is not type(content) or other in ([7], {"key": 7}):
            yield (*place, "=", repr(other)), other
    if isinstance(content, dict):
        yield (*place, "+"), {**content, "unknown_key": "text"}
        for key, inside in content.items():
            yield (*place, key, "-"), {name: it for name, it in content.items() if name != key}
            for name, changed in mutants(inside, (*place, key)):
                yield name, {**content, key: changed}
    elif isinstance(content, list):
        for index, inside in enumerate(content[:1]):
            for name, changed in mutants(inside, (*place, index)):
                yield name, [*content[:index], changed, *content[index + 1 :]]


#: Where the loader's own checks of keys and types say nothing, but later ones do: free names, contents of examples.
FREE = {"variants", "set", "renamed_from"}


def is_relation(place: tuple[Any, ...]) -> bool:
    """Return whether a text of a situation is left out in one language only, which no schema can express."""
    return place[0] == "situations" and place[-1] == "-" and any(language in place for language in languages())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rule", "schematron", "copy", "text"])
def test_loader_and_schema_agree_on_changed_files(kind, tmp_path):
    seen: set[tuple[Any, ...]] = set()
    disagreements = []
    for path in files()[kind]:
        data = read(path)
        for place, changed in mutants(data):
            if not isinstance(changed, dict) or place in seen or FREE.intersection(place[:-1]) or is_relation(place):
                continue
            seen.add(place)
            by_schema = not validator(kind).is_valid(changed)
            if by_schema != loader_refuses(kind, copy.deepcopy(changed), tmp_path):
                disagreements.append(f"{path.name}: {place}: only the {'schema' if by_schema else 'loader'} refuses it")
    assert len(seen) > 100
    assert "\n".join(disagreements) == ""


# ---------------------------------------------------------------- mistakes

VALID = read(rules_folder() / "en16931" / "BR-CO-10.toml")


@pytest.mark.parametrize(
    "change",
    [
        {"asert": "True"},
        {"severity": "error"},
        {"terms": "BT-106"},
        {"terms": ["BT-1060"]},
        {"section": "total"},
        {"let": {"expected": 1}},
        {"variants": {"BR-CO-10": {}}},
        {"en": {"title": "t", "explanation": "e"}},
        {"en": {"title": "t", "explanation": "e", "fix": " "}},
        {"valid": {"name": "x"}},
        {"valid": [{"nme": "x"}]},
        {"invalid": [{"name": "x", "syntax": "UBL"}]},
        {"invalid": [{"name": "x", "root": "Order"}]},
        {"notes": [{"kind": "round", "en": "x"}]},
        {"notes": [{"kind": "rounding"}]},
        {"deviation": [{"direction": "laxer", "en": "x", "source": "x", "when": "True"}]},
        {"deviation": [{"direction": "stricter", "en": "x"}]},
        {"history": [{"assert": "True"}]},
        {"ubl": {"source": "x"}},
    ],
    ids=str,
)
def test_typical_mistake_in_a_rule_is_refused(change):
    assert validator("rule").is_valid(VALID)
    assert not validator("rule").is_valid(VALID | change)


@pytest.mark.parametrize(
    ("kind", "name", "path", "content"),
    [
        ("ruleset", "xrechnung/ruleset.toml", ("kind",), "CIUS"),
        ("ruleset", "xrechnung/ruleset.toml", ("versions", 0, "datum"), "2026-01-01"),
        ("ruleset", "xrechnung/ruleset.toml", ("syntaxes",), ["XML"]),
        ("contexts", "en16931/contexts.toml", ("line", "locaton"), "item"),
        ("contexts", "en16931/contexts.toml", ("line", "location"), "value"),
        ("specifications", "xrechnung/specifications.toml", ("xrechnung-3.0", "kind"), "restriction"),
        ("specifications", "xrechnung/specifications.toml", ("xrechnung-3.0", "identifiers"), "urn:x"),
    ],
)
def test_typical_mistake_in_another_file_is_refused(kind, name, path, content):
    data = read(rules_folder() / name)
    assert validator(kind).is_valid(data)
    inside: Any = data
    for step in path[:-1]:
        inside = inside[step]
    inside[path[-1]] = content
    assert not validator(kind).is_valid(data)


def test_every_description_is_of_a_key():
    schemas = repr([json_schema.schema(kind) for kind in json_schema.KINDS])
    assert [key for key, text in DESCRIPTIONS.items() if repr(text) not in schemas] == []
