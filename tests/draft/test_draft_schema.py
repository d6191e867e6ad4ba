"""The JSON Schema of drafts: complete, bilingual, and consistent with the reader."""

import json
import subprocess
import sys

import jsonschema_rs
import pytest
from hypothesis import given

import einvoice
from einvoice.draft import draft_schema, read
from einvoice.draft.pointers import fields
from einvoice.model.terms import terms
from einvoice.model.values import absent
from einvoice.syntax.specifications import identifier_of, specifications
from tests.helpers.drafts import complete_drafts
from tests.helpers.plain import REQUIRED, draft
from tests.helpers.properties import examples


@pytest.fixture(scope="module")
def validator():
    jsonschema_rs.meta.validate(draft_schema())
    return jsonschema_rs.Draft202012Validator(draft_schema(), validate_formats=True)


def properties():
    document = draft_schema()
    for cls, part in [("", document), *document["$defs"].items()]:
        for name, field in part["properties"].items():
            yield f"{cls}.{name}", field


def test_schema_metadata():
    document = draft_schema()
    assert document["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert document["$id"]
    assert document["x-schema-version"] == "1.1.0"
    assert einvoice.Draft.json_schema() == document
    assert json.dumps(draft_schema()) == json.dumps(document)
    assert einvoice.generate(document["examples"][0]).is_valid


@pytest.mark.parametrize(("name", "field"), [*properties()], ids=[name for name, _ in properties()])
def test_every_field_is_described_in_both_languages(name, field):
    for text in (field["title"], field["description"], field["x-de"]["title"], field["x-de"]["description"]):
        assert text.strip()
    assert field["x-de"]["description"] != field["description"] or name.endswith(".format")
    leaf = "$ref" not in field and field.get("type") != "array"
    assert not leaf or field["examples"]


def test_every_part_is_described_in_both_languages():
    for part in (draft_schema(), *draft_schema()["$defs"].values()):
        assert part["description"]
        assert part["x-de"]["description"]
        assert part["additionalProperties"] is False


#: Terms without a field: calculated values and groups that are not part of the draft.
CALCULATED = {"BG-2", "BG-29", "BG-30", "BG-31"}


def test_every_business_term_has_a_field():
    standard = {number for number in terms() if "DEX" not in number}
    assert standard - set(fields()) == CALCULATED


def test_only_amounts_are_limited_to_two_decimals():
    """Amounts of the standard have at most two decimals; prices, quantities and rates may have more."""
    for name, field in properties():
        without_term = "Amount" if name.endswith((".amount", "_amount", ".base")) else ""
        [kind, *_] = [terms()[number].datatype for number in field["x-terms"]] or [without_term]
        if field.get("type") == ["string", "number"]:
            assert ("{1,2}" in field["pattern"]) == (kind == "Amount"), name


@pytest.mark.slow
@examples(30)
@given(complete_drafts())
def test_generated_drafts_conform(validator, content):
    assert list(validator.iter_errors(content)) == []


def test_sample_drafts_conform(validator, sample):
    for name in ("draft.json", "draft-full.json"):
        assert list(validator.iter_errors(json.loads(sample(name).read_text("utf-8")))) == []


@pytest.mark.parametrize("pointer", REQUIRED)
def test_schema_requires_the_fields_of_the_reader(validator, pointer):
    content = draft()
    *path, last = [int(step) if step.isdigit() else step for step in pointer.split("/")[1:]]
    target = content
    for step in path:
        target = target[step]
    del target[last]
    [error] = validator.iter_errors(content)
    assert error.kind.name == "required"


@pytest.mark.parametrize("changes", [{"lines": []}, {"invoice_numer": "1"}, {"currency": 978}, {"format": "ODF"}])
def test_schema_rejects_what_the_reader_rejects(validator, changes):
    assert list(validator.iter_errors(draft(**changes)))


@pytest.mark.slow
def test_command_prints_the_schema():
    done = subprocess.run([sys.executable, "-m", "einvoice.cli", "schema"], capture_output=True, timeout=60, check=True)
    assert json.loads(done.stdout.decode()) == draft_schema()


def test_profiles_are_those_of_the_specifications():
    """A specification is declared by drafts if its table says so, without code."""
    declarable = [it for it in specifications().values() if it.draft_profile]
    names = draft_schema()["properties"]["profile"]["enum"]
    assert sorted(names) == sorted(it.draft_profile for it in declarable)
    assert names[0] == "XRECHNUNG", "the profile of the default CIUS is the first"
    for it in declarable:
        assert it.current, it.name
        format = "UBL" if "UBL" in it.syntaxes else "ZUGFERD"
        checked = read(draft(format=format, profile=it.draft_profile))
        assert checked.invoice().specification.text == identifier_of(it)
        process = checked.invoice().business_process
        assert ("" if process is absent else process.text) == it.business_process
