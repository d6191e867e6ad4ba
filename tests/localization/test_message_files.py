"""Message files: complete in German and English, without unknown texts, with the same placeholders everywhere."""

import re
import tomllib
from pathlib import Path

import pytest

import appliance
import einvoice
from einvoice.localization import TranslatedTexts, choose, fallbacks, is_available, languages
from einvoice.localization.formatting import format_date, format_number
from einvoice.resources import rules_folder

PACKAGES = [Path(package.__file__).parent for package in (einvoice, appliance)]
FOLDERS = sorted(path.parent for package in PACKAGES for path in package.rglob("messages/de.toml"))
PLACEHOLDER = re.compile(r"\{[^{}]*\}")
PLURAL = re.compile(r"_(zero|one|two|few|many)$")


def texts(file: Path) -> dict[str, str]:
    tables = tomllib.loads(file.read_text("utf-8"))
    return {f"{table}.{key}": text for table, content in tables.items() for key, text in content.items()}


def test_german_english_and_french_are_available():
    assert {"de", "en", "fr"} <= set(languages())
    assert len(FOLDERS) >= 12


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.parent.name)
def test_german_and_english_are_complete(folder):
    german, english = texts(folder / "de.toml"), texts(folder / "en.toml")
    assert german.keys() == english.keys()
    for key in german:
        assert german[key].strip(), key
        assert english[key].strip(), key


@pytest.mark.parametrize(
    "file",
    [file for folder in FOLDERS for file in sorted(folder.glob("*.toml")) if file.stem != "en"],
    ids=lambda file: f"{file.parent.parent.name}-{file.stem}",
)
def test_translation_has_known_keys_and_the_same_placeholders(file):
    english = texts(file.with_name("en.toml"))
    for key, text in texts(file).items():
        known = key if key in english else PLURAL.sub("", key)
        assert known in english, key
        if key != "format.date":
            assert sorted(PLACEHOLDER.findall(text)) == sorted(PLACEHOLDER.findall(english[known])), key
    assert file.stem in languages()


def test_every_language_file_is_of_an_available_language():
    files = [path for package in PACKAGES for path in package.rglob("messages/*.toml")]
    files += rules_folder().rglob("translations/*.toml")
    assert {path.stem for path in files} <= set(languages())


def test_fallback_of_a_language():
    assert is_available("fr-BE")
    assert not is_available("xx")
    assert fallbacks("fr-Latn-BE") == ("fr-Latn-BE", "fr-Latn", "fr", "en", "de")
    assert choose({"de": "Rechnung", "fr": "Facture"}, "fr-BE") == "Facture"
    assert choose({"de": "Rechnung", "en": ""}, "fr") == "Rechnung"
    assert choose({"nl": "Factuur"}, "en") == "Factuur"


@pytest.mark.parametrize(
    ("lang", "number", "date"),
    [
        ("de", "−1.234,50", "01.03.2026"),
        ("en", "−1,234.50", "2026-03-01"),
        ("fr", "−1\u202f234,50", "01/03/2026"),
        ("fr-BE", "−1\u202f234,50", "01/03/2026"),
    ],
)
def test_formats(lang, number, date):
    import datetime
    from decimal import Decimal

    assert format_number(Decimal("-1234.5"), lang, decimals=2) == number
    assert format_date(datetime.date(2026, 3, 1), lang) == date


def test_own_rules_have_german_and_english_texts():
    for code, entry in einvoice.catalog().items():
        for lang in ("de", "en"):
            assert all(entry.texts[lang][name].strip() for name in ("title", "explanation", "fix")), (code, lang)
            assert all(note["texts"][lang].strip() for note in entry.notes), (code, lang)
        assert len(entry.examples.get("de", ())) == len(entry.examples.get("en", ())), code


def test_translations_are_not_read_before_they_are_needed(tmp_path):
    folder = tmp_path / "translations"
    folder.mkdir()
    folder.joinpath("fr.toml").write_text("not TOML")
    texts = TranslatedTexts({"de": "Rechnung", "en": "Invoice"}, tmp_path, "ruleset", "title")
    assert texts
    assert choose(texts, "de") == "Rechnung"
    with pytest.raises(ValueError, match=r"fr\.toml"):
        choose(texts, "fr")
    assert not TranslatedTexts({}, tmp_path / "none", "ruleset", "title")
