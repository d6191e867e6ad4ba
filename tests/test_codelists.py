"""Code lists: validity by release and syntax, and the shipped lists."""

from __future__ import annotations

import csv

import pytest

from einvoice import codelists
from einvoice.codelists import codes, ordered
from einvoice.resources import rules_folder

SHIPPED = sorted(path.stem for path in (rules_folder() / "codelists").glob("*.csv"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return an empty folder of code lists; caches are cleared."""
    (tmp_path / "codelists").mkdir()
    monkeypatch.setattr(codelists, "rules_folder", lambda: tmp_path)
    for cached in (codelists.codes, codelists.ordered, codelists._rows):
        cached.cache_clear()
    yield tmp_path / "codelists"
    for cached in (codelists.codes, codelists.ordered, codelists._rows):
        cached.cache_clear()


def test_codes_are_valid_since_and_until_a_release(folder):
    (folder / "fruit.csv").write_text("code,since,until\napple,,\npear,1.3.9,\nplum,,1.3.12\nfig,1.3.9,1.3.12\n")
    assert codes("fruit", "1.3.8") == {"apple", "plum"}
    assert codes("fruit", "1.3.9") == {"apple", "pear", "plum", "fig"}
    assert codes("fruit", "1.3.12") == {"apple", "pear"}  # releases are not compared as text
    assert codes("fruit") == {"apple", "pear"}


def test_release_may_end_in_a_letter(folder):
    (folder / "fruit.csv").write_text("code,since,until\npear,1.3.6a,\nplum,,1.3.6a\n")
    assert codes("fruit", "1.3.6") == {"plum"}
    assert codes("fruit", "1.3.6a") == codes("fruit", "1.3.7") == {"pear"}


def test_code_may_be_limited_to_one_syntax(folder):
    (folder / "fruit.csv").write_text("code,since,until,syntax\napple,,,\npear,,,ubl\nplum,,,cii\n")
    assert codes("fruit", syntax="UBL") == {"apple", "pear"}
    assert codes("fruit", syntax="cii") == {"apple", "plum"}
    assert codes("fruit") == {"apple", "pear", "plum"}


def test_codes_keep_the_order_of_the_file(folder):
    (folder / "fruit.csv").write_text("code,since,until\npear,,\napple,,\n")
    assert ordered("fruit") == ("pear", "apple")


def test_unknown_list_raises_lookup_error(folder):
    with pytest.raises(LookupError, match="unknown code list 'fruits'"):
        codes("fruits")


def test_file_without_required_columns_raises_lookup_error(folder):
    (folder / "fruit.csv").write_text("name\napple\n")
    with pytest.raises(LookupError, match="code, since, until"):
        codes("fruit")


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_lists_are_valid(name):
    with (rules_folder() / "codelists" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows
    for row in rows:
        assert None not in row, "more cells than columns"
        assert None not in row.values(), "fewer cells than columns"
        assert row["code"], "a code is missing"
        assert row["code"].split() == [row["code"]], "a code contains white space"
        assert row.get("syntax", "") in ("", "ubl", "cii")
    keys = [(row["code"], row["since"], row.get("syntax")) for row in rows]
    assert len(set(keys)) == len(keys)
    assert codes(name) | codes(name, "1.3.16")  # older releases can be read


def test_currencies_are_those_of_iso_4217():
    assert {"EUR", "USD", "CHF", "HUF", "XXX"} <= codes("currencies")
    assert codes("currencies").isdisjoint({"DEM", "EURO", "eur"})
    assert all(len(code) == 3 and code.isalpha() and code.isupper() for code in codes("currencies"))


def test_country_lists_of_the_syntaxes():
    ubl, cii = codes("countries", syntax="UBL"), codes("countries", syntax="CII")
    assert {"DE", "AT", "GR", "XI", "1A"} <= ubl & cii
    assert ubl - cii == {"SS"}  # South Sudan
    assert cii - ubl == {"AN"}  # the Netherlands Antilles (dissolved)
    assert "EL" not in ubl | cii  # Greece in VAT numbers only
