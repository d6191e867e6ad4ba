"""Translations of rule texts: errors with file and key."""

import pytest

from einvoice.code_catalog.catalog_entry import CatalogEntry
from einvoice.code_catalog.translations import Translation, Translator
from einvoice.errors import RuleError
from einvoice.resources import RuleData
from einvoice.rulebook.files.notes import note_of

TEXTS = {"title": "Sum {actual}", "explanation": "Expected: {expected}", "fix": "Correct it."}
NOTE = note_of("notes", {"kind": "rounding", "name": "rounded", "en": "By {difference}."}).plain()
SITUATIONS = tuple(
    {"texts": {"en": {"title": f"Title {name}"}}, "syntax": "", "value": "", "name": name, "key": name or "digest"}
    for name in ("", "a", "b")
)
ENTRY = CatalogEntry(
    "BR-1", "fatal", "en16931", "totals", (), {"en": TEXTS}, "own/BR-1.toml", notes=(NOTE,), situations=SITUATIONS
)


@pytest.fixture
def write(tmp_path):
    """Return a function that writes own/translations/fr.toml and returns the folder of rules."""

    def written(content, name="fr.toml"):
        folder = tmp_path / "own" / "translations"
        folder.mkdir(parents=True)
        (folder / name).write_text(content, "utf-8")
        return tmp_path

    return written


def translate(folder):
    translator = Translator(RuleData(folder))
    entry = translator.translated(ENTRY)
    translator.check()
    return entry


def test_translation_adds_a_language(write):
    folder = write('[BR-1]\ntitle = "Somme {actual}"\nexamples = ["une"]\nnotes = ["De {difference}."]')
    entry = translate(folder)
    assert entry.title("fr", {"actual": "1"}) == "Somme 1"
    assert entry.fix("fr") == "Correct it."
    assert entry.examples_in("fr") == ("une",)
    assert entry.note(0, "fr", {"difference": "2"}) == "De 2."
    assert entry.title("en", {"actual": "1"}) == "Sum 1"


def test_notes_are_translated_by_name(write):
    entry = translate(write('[notes]\nrounded = "De {difference}."'))
    assert entry.note(0, "fr", {"difference": "2"}) == "De 2."


def test_notes_on_a_copy_are_translated_in_the_folder_of_the_copy(write):
    copied = ENTRY._replace(file="base/BR-1.toml", notes=({**NOTE, "ruleset": "own"}, {**NOTE, "ruleset": "other"}))
    entry = Translator(RuleData(write('[notes]\nrounded = "De {difference}."'))).translated(copied)
    assert [note["texts"].get("fr") for note in entry.notes] == ["De {difference}.", None]


def test_situations_are_translated_by_name(write):
    entry = translate(write('[BR-1.situations.b]\ntitle = "Titre b"'))
    assert [entry.title("fr", {}, situation=key) for key in ("digest", "a", "b")] == ["Title ", "Title a", "Titre b"]
    assert entry.title("en", {}, situation="b") == "Title b"


def test_situations_of_a_code_add_to_those_of_its_file(write):
    folder = write('[files.BR-1.situations]\na.title = "A"\nb.title = "B"\n[BR-1.situations.b]\ntitle = "C"')
    entry = translate(folder)
    assert [entry.title("fr", {}, situation=key) for key in ("a", "b")] == ["A", "C"]


def test_a_code_need_not_have_all_situations_of_its_file(write):
    translator = Translator(RuleData(write('[files.BR-1.situations]\na.title = "A"\nb.title = "B"')))
    other = translator.translated(ENTRY._replace(code="BR-2", situations=SITUATIONS[:2]))
    translator.translated(ENTRY._replace(situations=SITUATIONS[2:]))
    translator.check()
    assert [it["texts"].get("fr") for it in other.situations] == [None, {"title": "A"}]


def test_constants_of_a_variant_are_filled_in(write):
    folder = write('[files.BR-1]\ntitle = "{label} {actual} ({term})"\n[variants.BR-1]\nlabel = "Total"')
    entry = Translator(RuleData(folder)).translated(ENTRY, {"term": "BT-1", "label": {"en": "sum"}})
    assert entry.title("fr", {"actual": "1"}) == "Total 1 (BT-1)"


def test_constants_of_every_variant_must_be_translated(write):
    folder = write('[files.BR-1]\ntitle = "{label}"')
    with pytest.raises(RuleError, match=r"give it in \[variants.BR-1\]"):
        Translator(RuleData(folder)).translated(ENTRY, {"label": {"en": "sum"}})


def test_texts_of_a_code_precede_those_of_its_file(write):
    entry = Translator(RuleData(write('[files.BR-1]\ntitle = "a"\nfix = "b"\n[BR-1]\ntitle = "c"'))).translated(ENTRY)
    assert (entry.title("fr"), entry.fix("fr")) == ("c", "b")


@pytest.mark.parametrize(
    ("content", "key", "message"),
    [
        ('[BR-1]\ntitle = "{actul}"', "BR-1.title", "did you mean 'actual'"),
        ('[BR-1]\nnotes = ["{actual2}"]', "BR-1.notes", "quotes 'actual2'"),
        ('[BR-1]\nnotes = ["a", "b"]', "BR-1.notes", "must have 1 texts"),
        ('[notes]\nrounded = "{actual2}"', "notes.rounded", "quotes 'actual2'"),
        ('[notes]\nrounding = "a"', "notes.rounding", "did you mean 'rounded'"),
        ("[notes]\nrounded = 1", "notes.rounded", "must be a text"),
        ('[BR-1.situations.c]\ntitle = "a"', "BR-1.situations.c", "unknown situation 'c'"),
        ('[files.BR-1.situations.c]\ntitle = "a"', "files.BR-1.situations.c", "unknown situation 'c'"),
        ('[BR-1.situations.b]\ntitel = "a"', "BR-1.situations.b.titel", "did you mean 'title'"),
        ('[BR-1.situations]\nb = "a"', "BR-1.situations.b", "must be a table"),
        ('[BR-1.situations.b]\ntitle = "{actual2}"', "BR-1.situations.b.title", "quotes 'actual2'"),
        ('[BR-1]\ntitel = "a"', "BR-1.titel", "did you mean 'title'"),
        ("[BR-1]\ntitle = 1", "BR-1.title", "must be a text"),
        ('[BR-2]\ntitle = "a"', "BR-2", "unknown code 'BR-2'"),
        ('[files.BR-2]\ntitle = "a"', "files.BR-2", "unknown rule file 'BR-2'"),
        ('BR-1 = "a"', "BR-1", "must be a table"),
        ("[BR-1", "", "Expected ']'"),
    ],
)
def test_invalid_translation(write, content, key, message):
    with pytest.raises(RuleError) as raised:
        translate(write(content))
    assert raised.value.file == "own/translations/fr.toml"
    assert raised.value.key == key
    assert message in str(raised.value)


def test_language_must_be_available(write):
    with pytest.raises(RuleError, match="'xx' is not an available language"):
        Translation(write("", "xx.toml") / "own" / "translations" / "xx.toml")
