"""Code lists: validity by release and syntax, and the shipped lists."""

from __future__ import annotations

import csv

import pytest

from einvoice.codelists import codes, names, ordered, ruleset_of
from einvoice.resources import RuleData, rules_folder

SHIPPED = sorted(path.stem for path in rules_folder().glob("*/codelists/*.csv"))


@pytest.fixture
def data(tmp_path):
    """Return rule data with an empty rule set."""
    (tmp_path / "shop" / "codelists").mkdir(parents=True)
    (tmp_path / "shop" / "ruleset.toml").touch()
    return RuleData(tmp_path)


def write_list(data, content):
    (data.root / "shop" / "codelists" / "fruit.csv").write_text(content)


def test_codes_are_valid_since_and_until_a_release(data):
    write_list(data, "code,since,until\napple,,\npear,1.3.9,\nplum,,1.3.12\nfig,1.3.9,1.3.12\n")
    assert codes("fruit", "1.3.8", data=data) == {"apple", "plum"}
    assert codes("fruit", "1.3.9", data=data) == {"apple", "pear", "plum", "fig"}
    assert codes("fruit", "1.3.12", data=data) == {"apple", "pear"}  # releases are not compared as text
    assert codes("fruit", data=data) == {"apple", "pear"}


def test_release_may_end_in_a_letter(data):
    write_list(data, "code,since,until\npear,1.3.6a,\nplum,,1.3.6a\n")
    assert codes("fruit", "1.3.6", data=data) == {"plum"}
    assert codes("fruit", "1.3.6a", data=data) == codes("fruit", "1.3.7", data=data) == {"pear"}


def test_code_may_be_limited_to_one_syntax(data):
    write_list(data, "code,since,until,syntax\napple,,,\npear,,,ubl\nplum,,,cii\n")
    assert codes("fruit", syntax="UBL", data=data) == {"apple", "pear"}
    assert codes("fruit", syntax="cii", data=data) == {"apple", "plum"}
    assert codes("fruit", data=data) == {"apple", "pear", "plum"}


def test_codes_keep_the_order_of_the_file(data):
    write_list(data, "code,since,until\npear,,\napple,,\n")
    assert ordered("fruit", data=data) == ("pear", "apple")


def test_unknown_list_raises_lookup_error(data):
    with pytest.raises(LookupError, match="unknown code list 'fruits'"):
        codes("fruits", data=data)


def test_file_without_required_columns_raises_lookup_error(data):
    write_list(data, "name\napple\n")
    with pytest.raises(LookupError, match="code, since, until"):
        codes("fruit", data=data)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_lists_are_valid(name):
    (path,) = rules_folder().glob(f"*/codelists/{name}.csv")  # a name is used once
    with path.open(encoding="utf-8", newline="") as file:
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


def test_lists_belong_to_rule_sets(data):
    write_list(data, "code,since,until\napple,,\n")
    assert (names(data), ruleset_of("fruit", data)) == ({"fruit"}, "shop")
    assert (names(), ruleset_of("currencies")) == (set(SHIPPED), "en16931")
    with pytest.raises(LookupError, match="unknown code list 'fruit'"):
        ruleset_of("fruit")


def test_list_of_an_added_rule_set_is_available(data, tmp_path):
    write_list(data, "code,since,until\napple,,\n")
    both = RuleData(rules_folder(), {"shop": tmp_path / "shop"})
    assert codes("fruit", data=both) == {"apple"}
    assert codes("currencies", data=both) == codes("currencies")


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
