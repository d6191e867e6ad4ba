"""Error catalog: completeness, texts in both languages, locations and output formats."""

import builtins
import functools
import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

import einvoice
from einvoice.cli import main
from einvoice.model.location import NAMESPACES
from einvoice.render.catalog_table import COLUMNS
from einvoice.result.catalog import Catalog, catalog, notes
from einvoice.rulebook.releases import releases
from einvoice.rulebook.rule import SYNTAXES
from einvoice.rulebook.sections import SECTIONS, title
from einvoice.syntax.xml import parse

LANGUAGES = ("de", "en")
#: Layers and their kinds.
LAYERS = {
    **{name: name for name in ("file", "schema", "pdf")},
    **{name: ruleset.kind for name, ruleset in releases().sets.items()},
}
#: Codes of the official Schematron as published: EN 16931 1.3.16 (UBL, CII), XRechnung 2.6.0 with Peppol's,
#: NLCIUS (SI-UBL 2.0.3.13, NLCIUS-CII 1.0.3.13), and Peppol BIS Billing 2026.5.
OFFICIAL = (Path(__file__).parent / "official_codes.txt").read_text("utf-8").split()
#: Words that exist only in the other language ("die", "in", "was" exist in both).
FOREIGN = {
    "de": re.compile(
        r"\b(the|must|should|which|is|are|of|and|not|with|without|has|have|does|this|that|given|missing)\b"
    ),
    "en": re.compile(r"\b(der|das|muss|nicht|wird|ist|sind|ein|eine|und|oder|mit|ohne|fehlt|angegeben|aus|zum|zur)\b"),
}
#: Names and codes that look like words: in quotes, in markup, or of the syntaxes.
NOT_PROSE = re.compile(r"„[^“]*“|“[^”]*”|`[^`]*`|<[^>]*>|https?://\S+|\b\w+:\w+\b|\([^()]*UStG\)")


def composed(entry):
    """Return whether the texts of an entry are composed from a row of a table."""
    return "/syntax/" in entry.file


def texts(entry, lang):
    notes_texts = [note["text"] for note in notes(entry, lang)]
    return [entry.title(lang), entry.explanation(lang), entry.fix(lang), *entry.examples.get(lang, ()), *notes_texts]


def codes():
    return list(catalog())


@functools.cache
def as_dict(lang):
    return catalog().to_dict(lang)


@functools.cache
def as_html(lang):
    return catalog().to_html(lang)


@functools.cache
def as_markdown(lang):
    return catalog().to_markdown(lang)


def written():
    """Return the codes whose texts are written for them alone."""
    return [code for code, entry in catalog().items() if not composed(entry)]


# ---------------------------------------------------------------- codes


def test_catalog_contains_every_official_code():
    retired = {code for code in codes() if catalog()[code].until}
    published = {catalog()[code].layer for code in OFFICIAL}
    product = {code for code in codes() if catalog()[code].layer not in published}
    assert len(OFFICIAL) == len(set(OFFICIAL)) == 1825
    assert not set(OFFICIAL) - set(codes())
    assert not (retired | product) & set(OFFICIAL)
    assert {"BR-CO-25", "BR-CO-27", "BR-66", "BR-67", "UBL-CR-631", "CII-DT-0010"} <= retired
    assert set(codes()) == {*OFFICIAL, *retired, *product}
    assert catalog().to_dict()["rule_count"] == len(OFFICIAL) + len(retired) + len(product)


# ---------------------------------------------------------------- texts


@pytest.mark.parametrize("lang", LANGUAGES)
def test_texts_are_complete(lang):
    for code in codes():
        for text in texts(catalog()[code], lang):
            assert text.strip() == text != "", code
            assert not re.search(r"[{}]|  ", text), f"{code}: {text}"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_texts_contain_no_words_of_the_other_language(lang):
    foreign = {
        f"{code}: {text}"
        for code in codes()
        for text in texts(catalog()[code], lang)
        if FOREIGN[lang].search(NOT_PROSE.sub(" ", text))
    }
    assert not foreign


@pytest.mark.parametrize("lang", LANGUAGES)
def test_titles_are_unique(lang):
    """One rule with a different code in each syntax, or in another rule set, is excepted."""
    entries = [catalog()[code] for code in written()]
    titles = Counter(entry.title(lang) for entry in entries)
    for shared in [found for found, count in titles.items() if count > 1]:
        one, other = (entry for entry in entries if entry.title(lang) == shared)
        assert one.file == other.file, shared
        assert not (set(one.severities) & set(other.severities) and set(one.layers) & set(other.layers)), shared


def test_every_code_has_examples_in_both_languages():
    for entry in catalog().values():
        examples = entry.examples
        assert set(LANGUAGES) <= set(examples), entry.code
        assert len(examples["de"]) == len(examples["en"]) >= 1, entry.code
        for lang in LANGUAGES:
            assert len(set(examples[lang])) == len(examples[lang]), entry.code


def test_a_shared_code_has_the_layers_of_all_rule_sets_with_it():
    known = catalog()
    shared = ("xrechnung", "peppol", "peppol-selfbilling")
    assert known["PEPPOL-EN16931-R120"].layers == known["PEPPOL-EN16931-R008"].layers == shared
    assert known["PEPPOL-EN16931-R004"].layers == known["PEPPOL-EN16931-CL008"].layers == shared[1:]
    assert known["PEPPOL-EN16931-P0112"].layers == ("peppol",)
    assert known["BR-01"].layers == ("en16931",)
    assert known["BR-DE-1"].layers == ("xrechnung",)
    official = {code for code in OFFICIAL if code.startswith("PEPPOL-EN16931")}
    official -= {"PEPPOL-EN16931-R043-1", "PEPPOL-EN16931-R043-2"}  # codes of XRechnung
    assert {code for code, entry in known.items() if "peppol" in entry.layers} >= official


def test_the_catalog_shows_fixed_values_of_a_rule():
    assert "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0" in catalog()["PEPPOL-EN16931-R007"].fix("en")


def test_every_code_has_layer_and_section():
    for entry in catalog().values():
        assert entry.layer in LAYERS
        assert entry.kind == LAYERS[entry.layer]
        assert entry.section in SECTIONS
    assert set(catalog().layers) == set(LAYERS) == {layer for entry in catalog().values() for layer in entry.layers}
    for section in SECTIONS:
        assert title(section, "de") != title(section, "en") or section == "delivery"


# ---------------------------------------------------------------- locations


def test_every_applicable_syntax_has_an_xpath():
    for code in written():
        entry = catalog()[code]
        if entry.layer in ("file", "schema", "pdf") or code.startswith("PROFILE-"):
            continue
        syntaxes = {syntax for syntax in entry.severities if syntax not in entry.not_applicable} or set(
            entry.severities
        )
        assert syntaxes == set(entry.xpaths), code


def test_xpaths_select_elements_of_the_samples(sample):
    documents = {syntax: parse(sample(f"{syntax.lower()}-invoice.xml").read_bytes()) for syntax in SYNTAXES}
    found = Counter()
    for entry in catalog().values():
        for syntax, path in entry.xpaths.items():
            found[syntax] += bool(documents[syntax].xpath(path, namespaces=NAMESPACES))
    assert min(found.values()) > 100


def test_xpaths_of_single_entries():
    assert catalog()["BR-CO-10"].xpaths["UBL"] == "/*/cac:LegalMonetaryTotal/cbc:LineExtensionAmount"
    assert catalog()["BR-CO-10"].xpaths["CII"].endswith("HeaderMonetarySummation/ram:LineTotalAmount")
    assert set(catalog()["BR-DEX-09"].xpaths) == {"UBL"}


# ---------------------------------------------------------------- JSON and tables


@pytest.mark.parametrize("lang", LANGUAGES)
def test_json_has_the_documented_shape(lang):
    answer = json.loads(json.dumps(as_dict(lang)))
    strings = ["code", "severity", "section", "title", "explanation", "fix", "bt_field", "xpath"]
    assert answer["status"] == "ok"
    assert answer["language"] == lang
    assert answer["xrechnung_version"] == "3.0.2"
    assert re.fullmatch("[0-9a-f]{16}", answer["catalog_version"])
    assert answer["rule_count"] == len(answer["items"]) == len(codes())
    assert [item["code"] for item in answer["items"]] == codes()
    for item in answer["items"]:
        assert all(isinstance(item[name], str) for name in strings)
        assert all(isinstance(example, str) for example in item["examples"])
        assert item["severity"] in ("fatal", "warning", "information")


def test_notes_on_older_releases_are_omitted():
    items = {item["code"]: item for item in as_dict("en")["items"]}
    note = next(note for note in items["BR-CO-17"]["notes"] if note["kind"] == "laxer")
    assert "exact to the cent" in note["text"]
    assert note["source"].startswith("https://")
    assert note["text"] in as_html("en")
    older = [note for entry in catalog().values() for note in entry.notes if note["until"]]
    assert older
    assert sum(len(item["notes"]) for item in items.values()) + len(older) == sum(
        len(entry.notes) for entry in catalog().values()
    )


def test_leading_term_of_a_group_is_its_first_term():
    items = {item["code"]: item for item in as_dict("en")["items"]}
    assert (items["BR-CO-10"]["bt_field"], items["BR-08"]["bt_field"]) == ("BT-106", "BT-35")
    assert items["FILE-EMPTY"]["bt_field"] == items["FILE-EMPTY"]["xpath"] == ""


def test_version_does_not_depend_on_the_language():
    assert as_dict("de")["catalog_version"] == as_dict("en")["catalog_version"] == catalog().version


def test_version_is_stored(tmp_path, monkeypatch):
    monkeypatch.setenv("EINVOICE_CACHE", str(tmp_path))
    first = Catalog(catalog().rule_set).version
    assert first == catalog().version
    monkeypatch.setattr(Catalog, "values", None)  # the entries, which take a quarter of a second
    assert Catalog(catalog().rule_set).version == first
    with pytest.raises(TypeError):
        assert Catalog(releases().named("xrechnung-2.3.1")).version


def test_public_function_returns_the_catalog():
    assert einvoice.catalog() is catalog()
    assert repr(catalog()) == f"<Catalog {catalog().version}: {len(codes())} codes, XRechnung 3.0.2>"


def test_table():
    frame = catalog().to_frame("en")
    assert list(frame.columns) == list(COLUMNS)
    assert list(frame.code) == codes()
    assert not frame.isna().any().any()
    assert frame.severity.max() == "fatal"
    assert (frame.severity >= "warning").sum() > 1000
    row = frame.set_index("code").loc["BR-CO-10"]
    assert (row.layer, row.section, row.terms) == ("en16931", "totals", "BT-106 BT-131")


def test_table_without_pandas_raises_import_error(monkeypatch):
    original = builtins.__import__

    def import_without_pandas(name, *rest):
        if name == "pandas":
            raise ImportError(name)
        return original(name, *rest)

    monkeypatch.setattr(builtins, "__import__", import_without_pandas)
    with pytest.raises(ImportError, match=r"einvoice-toolkit\[notebook\]"):
        catalog().to_frame()


# ---------------------------------------------------------------- HTML and Markdown


class Page(HTMLParser):
    """Collects open tags, anchors, links and attributes of a page."""

    VOID = ("meta", "br")

    def __init__(self, content):
        super().__init__()
        self.open, self.tags, self.anchors, self.links, self.attributes = [], Counter(), [], [], Counter()
        self.feed(content)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags[tag] += 1
        self.attributes.update(name for name, _ in attributes)
        self.anchors += [value for name, value in attributes if name == "id"]
        self.links += [value for name, value in attributes if name == "href"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("lang", LANGUAGES)
def test_html_page_is_well_formed(lang):
    content = as_html(lang)
    page = Page(content)
    assert not page.open
    assert f'<html lang="{lang}">' in content
    assert page.tags["main"] == page.tags["h1"] == page.tags["nav"] == 1
    assert page.tags["article"] == len(codes())
    assert len(page.anchors) == len(set(page.anchors))
    assert set(codes()) <= set(page.anchors)
    assert {link.removeprefix("#") for link in page.links} <= set(page.anchors)
    assert not {"script", "img", "link", "iframe"} & set(page.tags)
    assert not {name for name in page.attributes if name.startswith("on")}
    assert "prefers-color-scheme:dark" in content
    assert "@media print" in content


def test_documents_list_a_shared_rule_in_each_of_its_rule_sets():
    code = "PEPPOL-EN16931-R020"
    places = len(catalog()[code].layers)
    assert places > 2
    in_nav, main = as_html("de").split("<main")
    assert main.count(f'href="#{code}"') == places
    assert as_markdown("de").count(f"](#{code})") == places - 1
    assert f"#{code}" not in in_nav


def test_markup_in_texts_is_escaped():
    assert "&lt;cbc:AccountingCost/&gt;" in as_html("de")
    markdown = as_markdown("de")
    assert "&lt;cbc:AccountingCost/&gt;" in markdown
    assert not re.search(r"<(?!a id=|/a>)", re.sub(r"`[^`\n]*`", "", markdown))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_markdown_has_an_anchor_for_each_code(lang):
    content = as_markdown(lang)
    assert content.count("\n#### ") == len(codes())
    for code in codes():
        assert f'<a id="{code}"></a>' in content


def test_notebook_display_lists_the_layers():
    page = catalog()._repr_html_()
    layers = {layer for code in codes() for layer in catalog()[code].layers}
    assert Page(page).tags["tr"] == 1 + len(layers)
    assert len(page) < 1000 + 100 * len(layers)


# ---------------------------------------------------------------- command


@pytest.mark.parametrize("lang", LANGUAGES)
def test_command_prints_json(capsys, lang):
    assert main(["catalog", "--lang", lang]) == 0
    assert json.loads(capsys.readouterr().out) == as_dict(lang)


@pytest.mark.parametrize(
    ("layout", "begins"), [("json", "{"), ("markdown", "# Error catalog"), ("html", "<!doctype html>")]
)
def test_command_writes_a_file(tmp_path, capsys, layout, begins):
    path = tmp_path / "catalog"
    assert main(["catalog", "--lang", "en", "--format", layout, "-o", str(path)]) == 0
    assert capsys.readouterr().out == ""
    assert path.read_text("utf-8").startswith(begins)


def test_unwritable_output_file_is_reported(tmp_path, capsys):
    path = tmp_path / "nowhere" / "catalog"
    assert main(["catalog", "-o", str(path)]) == 2
    assert str(path) in capsys.readouterr().err


@pytest.mark.parametrize("lang", ["de", "en"])
def test_texts_of_rules_report_no_values_without_an_invoice(lang):
    """A business term is not the value that was found: not "Found: BT-106"."""
    rules = [entry for entry in catalog().values() if entry.layer in ("en16931", "xrechnung", "xrechnung-extension")]
    texts = [(entry.code, text) for entry in rules for text in (entry.explanation(lang), entry.fix(lang))]
    reports = re.compile(r"(Angegeben|Errechnet|errechnet|Found|calculated): [„“]?(BT-|…)")
    assert [(code, text) for code, text in texts if reports.search(text) or "(BT-115) is BT-115" in text] == []
    assert "{" not in "".join(text for _, text in texts)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_texts_of_an_adopted_rule_name_no_syntax_that_the_rule_set_lacks(lang):
    adopted = [entry for entry in catalog().values() if entry.code.startswith("DE-R-")]
    assert {"DE-R-016", "DE-R-019", "DE-R-025-2", "DE-R-030", "DE-R-031"} <= {entry.code for entry in adopted}
    named = [it.code for it in adopted for text in (it.explanation(lang), it.fix(lang)) if "CII" in text]
    assert named == []


def test_an_unknown_code_names_similar_ones():
    with pytest.raises(KeyError, match=r"no code 'BR-CO-1'; similar are .*BR-CO-1\d"):
        einvoice.catalog()["BR-CO-1"]
    assert "BR-CO-1" not in einvoice.catalog()
