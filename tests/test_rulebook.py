"""The rule book: programs, versions, overlays, families, findings, the cache and the catalog."""

from __future__ import annotations

import shutil
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from einvoice.errors import RuleError
from einvoice.model.invoice import Invoice
from einvoice.resources import rules_folder
from einvoice.rulebook import cache
from einvoice.rulebook.catalog import CatalogEntry, catalog, entry, read_catalog
from einvoice.rulebook.catalog.formatting import show
from einvoice.rulebook.check import check_all
from einvoice.rulebook.files.definition import Example
from einvoice.rulebook.files.examples import invoice_of
from einvoice.rulebook.files.versions import read_ruleset
from einvoice.rulebook.program.engine import RuleBook, rulebook
from einvoice.rulebook.program.program import Violation

TEXTS = """
[de]
title       = "t {actual}"
explanation = "e"
fix         = "f"

[en]
title       = "t {actual}"
explanation = "e"
fix         = "f"
"""
EXAMPLES = """
[[valid]]
name = "base"

[[invalid]]
name = "pro forma"
set   = { type_code = "325" }
"""
RULESET = """
layer = "en16931"
title = { de = "d", en = "e" }
versions = [{ version = "1.9" }, { version = "1.10" }, { version = "2.0" }]
"""


def invoice(**changes: object) -> Invoice:
    return invoice_of(
        Example("", {path.replace("__", "."): content for path, content in changes.items()}), rules_folder()
    )


def fired(code: str, invoice: Invoice, syntax: str = "UBL") -> list[Violation]:
    return [found for found in rulebook().program(syntax).run(invoice) if found.rule.code == code]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one rule set of three releases, and a cache of its own."""
    monkeypatch.setenv("EINVOICE_CACHE", str(tmp_path / "cache"))
    home = tmp_path / "rules" / "en16931"
    home.mkdir(parents=True)
    (home / "ruleset.toml").write_text(RULESET, "utf-8")
    shutil.copy(rules_folder() / "base.toml", tmp_path / "rules")
    return tmp_path / "rules"


def write_rule(folder: Path, keys: str, texts: str = TEXTS, examples: str = EXAMPLES) -> None:
    (folder / "en16931" / "X.toml").write_text(f'severity = "fatal"\n{keys}\n{texts}\n{examples}', "utf-8")


def codes(folder: Path, syntax: str, version: str = "2.0", **changes: str) -> list[str]:
    program = RuleBook(folder).program(syntax, ["en16931"], {"en16931": version})
    return [found.rule.code for found in program.run(invoice(**changes))]


# ------------------------------------------------------------------------------------------------ the rules that ship


def test_all_rule_data_is_right() -> None:
    assert list(map(str, check_all())) == []


def test_a_program_says_what_it_is_made_of() -> None:
    program = rulebook().program("UBL")
    names = [(layer.name, layer.ruleset) for layer in program.layers]
    assert names == [("en16931", "en16931"), ("cius", "xrechnung")]
    assert sum(layer.rules for layer in program.layers) == program.count == len(program.rules)
    for layer in program.layers:
        assert len(bytes.fromhex(layer.sha256)) == 32
        assert layer.version == read_ruleset(rules_folder() / layer.ruleset).newest


def test_the_release_of_en16931_goes_with_that_of_xrechnung() -> None:
    layers = rulebook().program("UBL", versions={"xrechnung": "2.4.0"}).layers
    assert [(layer.version, layer.specification) for layer in layers] == [("1.3.14.2", ""), ("2.4.0", "3.0.2")]


def test_unknown_releases_sets_and_layers() -> None:
    with pytest.raises(LookupError, match=r"unknown release '9\.9' of xrechnung"):
        rulebook().program("UBL", versions={"xrechnung": "9.9"})
    with pytest.raises(LookupError, match="unknown rule set 'other'"):
        rulebook().program("UBL", versions={"other": "1"})
    with pytest.raises(LookupError, match="layer 'other'"):
        rulebook().program("UBL", ["other"])


# ------------------------------------------------------------------------------------------------ findings


def test_a_finding_has_numbers_and_points_at_its_first_term() -> None:
    broken = invoice(totals__line_net="99.9")
    (found,) = fired("BR-CO-10", broken)
    assert found.place is broken.totals.line_net
    assert found.item is broken.totals
    assert found.values == {"expected": Decimal(100), "actual": Decimal("99.9"), "difference": Decimal("-0.1")}


def test_a_missing_term_is_pointed_at_from_its_group() -> None:
    broken = invoice()
    del broken.totals.__dict__["line_net"]
    (found,) = fired("BR-CO-10", broken)
    assert found.place is broken.totals
    assert "actual" not in found.values


def test_a_path_goes_through_single_groups_in_generators_too() -> None:
    broken = invoice(seller__name=" ", lines=[{"identifier": "1", "price": {"net": "-2"}}])
    (unnamed,) = fired("BR-06", broken)
    assert unnamed.place is broken.seller.name
    (negative,) = fired("BR-27", broken)
    assert negative.place is broken.lines[0].price.net
    assert negative.values["actual"] == Decimal(-2)


def test_what_has_no_element_is_pointed_at_from_the_invoice() -> None:
    broken = invoice()
    broken.lines = []
    (found,) = fired("BR-16", broken)
    assert found.place is broken


def test_texts_quote_what_was_found() -> None:
    (found,) = fired("BR-DE-17", invoice(type_code="325"))
    assert entry("BR-DE-17").title("en", found.values) == "XRechnung does not provide for invoice type 325"
    assert entry("BR-DE-17").title("de") == "Die Rechnungsart BT-3 ist in der XRechnung nicht vorgesehen"
    (found,) = fired("BR-CO-21", invoice(allowances_and_charges=[{"indicator": "false", "amount": "10.00"}]))
    assert "(10.00)" in entry("BR-CO-21").explanation("en", found.values)


def test_texts_quote_how_many_there_are() -> None:
    (found,) = fired("BR-E-01", invoice(lines=[{"taxes": [{"category": "E", "scheme": "VAT"}]}]))
    assert found.values["found"] == 0
    assert "Number of entries found: 0." in entry("BR-E-01").explanation("en", found.values)


@pytest.mark.parametrize(
    ("value", "actual", "german", "english"),
    [
        (Decimal("119"), Decimal("119.01"), "119,00", "119.00"),
        (Decimal("119.000"), Decimal("119.01"), "119,00", "119.00"),
        (Decimal("0.125"), Decimal("1.1"), "0,125", "0.125"),
        (Decimal("1E+3"), None, "1.000", "1,000"),
        (Decimal("-1234567.891"), Decimal("99.9"), "−1.234.567,891", "−1,234,567.891"),
        (Decimal("-0.10"), Decimal("99.9"), "−0,1", "−0.1"),
        (Decimal("NaN"), Decimal(1), "NaN", "NaN"),
        ("1234.50", Decimal(1), "1234.50", "1234.50"),
        (date(2026, 12, 31), None, "31.12.2026", "2026-12-31"),
        (date(326, 1, 2), None, "02.01.0326", "0326-01-02"),
    ],
)
def test_numbers_and_dates_are_shown_in_the_language(value: object, actual: object, german: str, english: str) -> None:
    assert show(value, {"actual": actual}, "de") == german
    assert show(value, {"actual": actual}, "en") == english


def test_what_is_missing_is_said_in_words() -> None:
    (found,) = fired("BR-CO-10", invoice(totals=[{}], lines=[]))
    assert "Angegeben: nichts, errechnet: 0." in entry("BR-CO-10").explanation("de", found.values)
    assert "Found: BT-106, calculated: …." in entry("BR-CO-10").explanation("en")


@pytest.mark.parametrize(
    ("values", "title"), [({}, "(nicht angegeben)"), ({"it.x": " "}, "(leer)"), ({"it.x": "A"}, "„A“")]
)
def test_words_of_ours_stand_in_no_quotes(values: dict[str, str], title: str) -> None:
    texts = {"title": "Das Land „{it.x}“ fehlt"}
    made = CatalogEntry("X", "fatal", "", "", (), {"de": texts}, "")
    assert made.title("de", values) == f"Das Land {title} fehlt"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Given: {actual}.", "Given: nothing."),
        ("Given: {it.x}, calculated: {expected}.", "Given: nothing, calculated: cannot be determined."),
        ("{it.empty} % of it is {expected}", "(empty) % of it is (cannot be determined)"),
        ("The charge of {it.amount} {invoice.currency} says", "The charge of (not given) says"),
        ("An allowance ({it.amount})", "An allowance (not given)"),
        ("Line {line.identifier} is {it.empty}, {it.empty}", "Line (not given) is (empty), (empty)"),
    ],
)
def test_words_for_what_is_missing_fit_into_the_sentence(text: str, said: str) -> None:
    made = CatalogEntry("X", "fatal", "", "", (), {"en": {"explanation": text}}, "")
    assert made.explanation("en", {"it.empty": ""}) == said


def test_what_cannot_be_calculated_is_not_what_to_write() -> None:
    taxed = {"category": "S", "rate": "VAT", "scheme": "VAT", "taxable_amount": "100.00", "tax_amount": "19.00"}
    (found,) = fired("BR-S-09", invoice(vat_breakdown=[taxed]))
    rule = entry("BR-S-09")
    assert "Angegeben: 19,00, errechnet: nicht bestimmbar" in rule.explanation("de", found.values)
    for language, said in {"de": "Erst dann lässt sich der Betrag errechnen", "en": "Only then can the amount"}.items():
        fix = rule.fix(language, found.values)
        assert said in fix
        assert "BT-116, BT-119" in fix


def test_one_code_with_two_meanings() -> None:
    trading = invoice(payee={"name": "Muster Handel"})
    assert fired("BR-17", trading, "UBL")
    assert not fired("BR-17", trading, "CII")
    assert fired("BR-17", trading, "UBL")[0].rule.terms != rulebook().program("CII").rules[0].terms


# ------------------------------------------------------------------------------------------------ versions, overlays


def test_releases_are_ordered_by_the_list_and_not_as_text(folder: Path) -> None:
    sentence = 'code = "X"\nterms = ["BT-3"]\nassert = "invoice.type_code == \'380\'"'
    write_rule(folder, f'{sentence}\nsince = "1.10"')
    assert [codes(folder, "UBL", version, type_code="325") for version in ("1.10", "2.0")] == [["X"], ["X"]]
    assert codes(folder, "UBL", "1.9", type_code="325") == []
    write_rule(folder, f'{sentence}\nuntil = "1.10"')
    assert codes(folder, "UBL", "1.9", type_code="325") == ["X"]


def test_an_older_release_reads_otherwise(folder: Path) -> None:
    keys = 'code = "X"\nterms = ["BT-3"]\nassert = "invoice.type_code == \'380\'"'
    earlier = """
    [[history]]
    until  = "2.0"
    assert = "invoice.type_code in ('380', '325')"

    [[history]]
    until      = "1.10"
    assert     = "invoice.type_code in ('380', '325', '326')"
    cii.assert = "exists(invoice.type_code)"
    """
    write_rule(folder, keys, TEXTS + earlier)
    assert check_all(folder) == []
    judged = {
        (version, syntax, code): bool(codes(folder, syntax, version, type_code=code))
        for version in ("1.9", "1.10", "2.0")
        for syntax in ("UBL", "CII")
        for code in ("325", "326", "327")
    }
    broken = {case for case, found in judged.items() if found}
    assert broken == {
        ("1.9", "UBL", "327"),
        *(("1.10", syntax, code) for syntax in ("UBL", "CII") for code in ("326", "327")),
        *(("2.0", syntax, code) for syntax in ("UBL", "CII") for code in ("325", "326", "327")),
    }


def test_the_earliest_of_the_earlier_wordings_wins(folder: Path) -> None:
    first, second = 'until = "1.10"\nassert = "True"', 'until = "2.0"\nwhen = "True"'
    keys = 'code = "X"\nterms = ["BT-3"]\nassert = "invoice.type_code == \'380\'"'
    write_rule(folder, keys, f"{TEXTS}\n[[history]]\n{second}\n[[history]]\n{first}\nterms = []")
    assert codes(folder, "UBL", "1.9", type_code="325") == []
    assert codes(folder, "UBL", "1.10", type_code="325") == ["X"]


def test_an_overlay_replaces_single_keys(folder: Path) -> None:
    write_rule(
        folder,
        'code = "X"\nterms = ["BT-3"]\nassert = "invoice.type_code == \'380\'"\n'
        '[cii]\ncode = "X-1"\nseverity = "warning"\nwhen = "non_blank(invoice.type_code)"',
    )
    assert codes(folder, "UBL", type_code="") == ["X"]
    assert codes(folder, "CII", type_code="") == []
    assert codes(folder, "CII", type_code="325") == ["X-1"]
    (rule,) = RuleBook(folder).program("CII", ["en16931"]).rules
    assert rule.severity == "warning"
    found = read_catalog(folder)
    assert {code: found[code].severities for code in found} == {"X": {"UBL": "fatal"}, "X-1": {"CII": "warning"}}


def test_what_nobody_can_break_is_in_the_catalog_only(folder: Path) -> None:
    write_rule(
        folder, 'code = "X"\nnot_applicable = "true() in the official Schematron"', TEXTS.replace("{actual}", ""), ""
    )
    assert check_all(folder) == []
    reason = "true() in the official Schematron"
    assert read_catalog(folder)["X"].not_applicable == {"UBL": reason, "CII": reason}


def test_a_family_shares_a_sentence(folder: Path) -> None:
    write_rule(
        folder,
        'terms = ["{term}"]\nassert = "invoice.{field} in allowed"\n[variants]\n'
        'X-1 = { term = "BT-3", field = "type_code", allowed = ["380"], text = { de = "Art", en = "type" } }\n'
        'X-2 = { term = "BT-5", field = "currency", allowed = ["EUR"], text = { de = "W", en = "c" }, '
        'cii.allowed = ["EUR", "GBP"], severity = "warning" }',
        TEXTS.replace("t {actual}", "{term} {text}"),
        '[[valid]]\nname = "base"\n[[invalid]]\nname = "bad"\nset = { "{field}" = "XXX" }',
    )
    assert check_all(folder) == []
    assert codes(folder, "UBL", type_code="325", currency="GBP") == ["X-1", "X-2"]
    assert codes(folder, "CII", type_code="325", currency="GBP") == ["X-1"]
    found = read_catalog(folder)
    assert [(found[code].title("de"), found[code].severity) for code in found] == [
        ("BT-3 Art", "fatal"),
        ("BT-5 W", "warning"),
    ]


def test_a_rule_stands_in_for_that_of_a_lower_layer(folder: Path) -> None:
    write_rule(folder, 'code = "X"\nterms = ["BT-3"]\nassert = "invoice.type_code == \'380\'"')
    home = folder / "own"
    home.mkdir()
    (home / "ruleset.toml").write_text(RULESET.replace('"en16931"', '"cius"'), "utf-8")
    rule = (folder / "en16931" / "X.toml").read_text("utf-8").replace('code = "X"', 'code = "Y"\nreplaces = ["X"]')
    (home / "Y.toml").write_text(rule, "utf-8")
    program = RuleBook(folder).program("UBL", ["en16931", "cius"])
    assert [(rule.code, rule.layer) for rule in program.rules] == [("Y", "cius")]


# ------------------------------------------------------------------------------------------------ the cache


def test_the_cache_is_used_and_never_outlives_a_change(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_rule(folder, 'code = "X"\nterms = ["BT-3"]\nassert = "invoice.type_code == \'380\'"')
    assert codes(folder, "UBL", type_code="326") == ["X"]
    stored = cache.load
    loads = []
    monkeypatch.setattr(cache, "load", lambda *key: loads.append(stored(*key)) or loads[-1])
    assert codes(folder, "UBL", type_code="326") == ["X"]
    assert loads.pop() is not None
    write_rule(folder, 'code = "X"\nterms = ["BT-3"]\nassert = "invoice.type_code != \'325\'"')
    assert codes(folder, "UBL", type_code="326") == []
    assert loads.pop() is None


@pytest.mark.parametrize("damage", [b"", b"x" * 200, None])
def test_a_damaged_cache_is_made_anew(folder: Path, damage: bytes | None) -> None:
    write_rule(folder, 'code = "X"\nterms = ["BT-3"]\nassert = "invoice.type_code == \'380\'"')
    codes(folder, "UBL")
    (stored,) = cache.folder().glob("*.rules")
    content = stored.read_bytes()
    stored.write_bytes(content[:-1] + bytes([content[-1] ^ 1]) if damage is None else damage)
    assert codes(folder, "UBL", type_code="325") == ["X"]
    assert stored.read_bytes() == content


def test_what_another_may_have_written_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EINVOICE_CACHE", str(tmp_path))
    key = cache.key("x")
    cache.store("x", key, ["content"])
    (stored,) = tmp_path.glob("*.rules")
    assert cache.load("x", key) == ["content"]
    assert cache.load("x", cache.key("y")) is None
    stored.chmod(0o666)
    assert cache.load("x", key) is None
    stored.chmod(0o600)
    target = stored.rename(tmp_path / "elsewhere")
    stored.symlink_to(target)
    assert cache.load("x", key) is None


@pytest.mark.parametrize("value", ["", "/proc/nowhere"])
def test_no_cache_is_no_matter(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EINVOICE_CACHE", value)
    cache.store("x", cache.key("x"), 1)
    assert cache.load("x", cache.key("x")) is None
    assert RuleBook(rules_folder()).program("UBL", ["cius"]).count > 0


def test_the_cache_does_not_grow_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EINVOICE_CACHE", str(tmp_path))
    for number in range(120):
        cache.store("x", cache.key(str(number)), number)
    assert len(list(tmp_path.iterdir())) <= 96
    assert cache.load("x", cache.key("119")) == 119


# ------------------------------------------------------------------------------------------------ the catalog


def test_the_catalog_has_every_rule_and_every_text() -> None:
    known = catalog()
    assert {rule.code for syntax in ("UBL", "CII") for rule in rulebook().program(syntax).rules} <= set(known)
    files = {path.stem for name in ("file", "schema") for path in (rules_folder() / name).glob("*.toml")}
    assert files <= set(known)
    assert known["FILE-XML"].layer == "file"


def test_every_entry_speaks_both_languages() -> None:
    for known in catalog().values():
        for language in ("de", "en"):
            for text in (known.title(language), known.explanation(language), known.fix(language)):
                assert text.strip()
                assert "{" not in text
        assert known.texts["de"] != known.texts["en"]


def test_a_code_that_nobody_knows() -> None:
    with pytest.raises(KeyError):
        entry("BR-NONE")


def test_an_alias_finds_the_rule(folder: Path) -> None:
    write_rule(folder, 'code = "X"\naliases = ["OLD"]\nterms = ["BT-3"]\nassert = "invoice.type_code == \'380\'"')
    known = read_catalog(folder)
    assert known["OLD"].code == "X"
    assert list(known) == ["X"]


def test_the_digest_of_the_catalog_changes_with_a_text(folder: Path) -> None:
    keys = 'code = "X"\nterms = ["BT-3"]\nassert = "invoice.type_code == \'380\'"'
    write_rule(folder, keys)
    before = read_catalog(folder).digest
    write_rule(folder, keys, TEXTS.replace('fix         = "f"', 'fix         = "g"'))
    assert read_catalog(folder).digest != before


@pytest.mark.parametrize(
    ("content", "key"),
    [
        ('title = { de = "d", en = "e" }\nversions = [{ version = "1" }]', "layer"),
        ('layer = "x"\ntitle = { de = "d" }\nversions = [{ version = "1" }]', "title"),
        ('layer = "x"\ntitle = { de = "d", en = "e" }\nversions = []', "versions"),
        ('layer = "x"\ntitle = { de = "d", en = "e" }\nversions = [{ version = "1" }, { version = "1" }]', "versions"),
        ('layer = "x"\ntitle = { de = "d", en = "e" }\nversions = [{ version = 1 }]', "versions"),
        ('layer = "x"\ntitle = { de = "d", en = "e" }\nversions = [{ version = "1", dte = "" }]', "versions.dte"),
        ("layer =", ""),
    ],
)
def test_a_wrong_ruleset_is_explained(folder: Path, content: str, key: str) -> None:
    (folder / "en16931" / "ruleset.toml").write_text(content, "utf-8")
    with pytest.raises(RuleError) as caught:
        read_ruleset(folder / "en16931")
    assert (caught.value.file, caught.value.key) == ("en16931/ruleset.toml", key)
