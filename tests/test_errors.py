"""The tree of exceptions: drawn as it is, each cause with a code, and texts in both languages."""

import pickle
import re
import string
import tomllib
from types import SimpleNamespace

import pytest

import einvoice.reference
import einvoice.syntax.schema  # noqa: F401 (both have errors of their own, and are loaded only where they are used)
from einvoice import errors, resources
from einvoice.quotation import quote


def below(kind):
    for child in kind.__subclasses__():
        yield child
        yield from below(child)


CAUSES = list(below(errors.UnreadableDocument))
FOLDER = resources.rules_folder() / "file"
KEYS = {"title", "explanation", "fix"}


def placeholders(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_documented_error_tree_matches_the_classes():
    drawn = re.findall(r"^ {4}(?:[│├└─ ]*)(\w+)", errors.__doc__, re.MULTILINE)
    assert sorted(drawn) == sorted(["EinvoiceError", *(kind.__name__ for kind in below(errors.EinvoiceError))])
    assert re.findall(r"FILE-[\w-]*\w", errors.__doc__) == [kind.code for kind in CAUSES]


def test_format_of_codes_and_problems():
    assert len({kind.code for kind in CAUSES}) == len(CAUSES)
    for kind in CAUSES:
        assert re.fullmatch(r"FILE(-[A-Z0-9]+)+", kind.code)
        assert re.fullmatch(r"[a-z0-9_]+", kind.problem)
        assert kind.__doc__
    assert errors.EmptyFile.problem == "empty_file"
    assert errors.TooDeep.problem == errors.TooManyElements.problem == "too_complex"


@pytest.mark.parametrize("kind", CAUSES)
def test_values_of_each_cause_fill_its_texts(kind):
    entry = tomllib.loads((FOLDER / f"{kind.code}.toml").read_text(encoding="utf-8"))
    assert (entry["code"], entry["severity"], entry["section"]) == (kind.code, "fatal", "document")
    given = placeholders(kind.sentence) | {"line", "column"}
    for language in ("de", "en"):
        assert entry[language].keys() == KEYS
        for text in entry[language].values():
            assert text.strip()
            assert placeholders(text) <= given


def test_every_text_has_a_cause():
    codes = {path.stem for path in FOLDER.glob("FILE-*.toml")}
    assert codes == {kind.code for kind in CAUSES}


@pytest.mark.parametrize("kind", CAUSES)
def test_error_values_survive_pickling(kind):
    values = dict.fromkeys(placeholders(kind.sentence), "x")
    error = kind(line=3, column=7, **values)
    again = pickle.loads(pickle.dumps(error))
    for one in (error, again):
        assert type(one) is kind
        assert one.values == {**values, "line": 3, "column": 7}
        assert (one.line, one.column) == (3, 7)
        assert str(one).endswith("(line 3, column 7)")
    assert "(line" not in str(kind(**values))


def test_missing_text_values_are_rejected():
    with pytest.raises(KeyError):
        errors.TooLarge()


def test_findings_error_names_each_code_once():
    codes = ["BR-1", "BR-2", "BR-1"]
    result = SimpleNamespace(errors=[SimpleNamespace(code=code) for code in codes])
    error = errors.FindingsError(result)
    assert str(error) == "The invoice is not valid: BR-1, BR-2"
    assert error.result is result
    assert pickle.loads(pickle.dumps(error)).result == result


def test_rule_error_message_has_location_problem_and_suggestion():
    error = errors.RuleError("no field 'x'", file="BR-1.toml", key="assert", column=4, hint="did you mean 'y'?")
    assert str(error) == "BR-1.toml, assert, column 4: no field 'x' (did you mean 'y'?)"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert str(errors.RuleError("empty", file="BR-1.toml")) == "BR-1.toml: empty"


@pytest.mark.parametrize(
    ("text", "options", "want"),
    [
        ("a" * 40, {}, "a" * 40),
        ("a" * 41, {}, "a" * 39 + "…"),
        ("urn:" + "x" * 40 + "Order-2", {"keep_end": True}, "…" + "x" * 32 + "Order-2"),
        ("a\x00\n\u202e", {}, "a[U+0000]↵[U+202E]"),
        ("abc", {"limit": 2}, "a…"),
        ("1\u00a0234,50\u202f€", {}, "1␣234,50␣€"),
        ("\r\n    DE\t", {}, "↵␣DE⇥"),
        (" \t\n", {}, " "),
        ("\u00a0", {}, "␣"),
    ],
)
def test_quote_is_short_and_printable(text, options, want):
    assert quote(text, **options) == want


def test_missing_rule_data_is_reported(monkeypatch, tmp_path):
    monkeypatch.setattr(resources, "_PACKAGE", tmp_path / "einvoice")
    with pytest.raises(FileNotFoundError, match="Install the package again"):
        resources.rules_folder.__wrapped__()
    (tmp_path / "rules").mkdir()
    assert resources.rules_folder.__wrapped__() == tmp_path / "rules"
    (tmp_path / "einvoice" / "rules").mkdir(parents=True)
    assert resources.rules_folder.__wrapped__() == tmp_path / "einvoice" / "rules"
