"""``[base]``: the changes that the examples of a rule file have in common."""

from __future__ import annotations

from typing import Any

import pytest

from einvoice.errors import RuleError
from einvoice.resources import shipped
from einvoice.rulebook.files.example import example_of
from einvoice.rulebook.files.examples import invoice_of

BASE = {"vat_breakdown[0]": {"category": "AE", "rate": "0"}, "notes[0].text": "a", "lines[1]": {"identifier": "2"}}


def described(entry: dict[str, Any]) -> Any:
    return example_of("x", entry, BASE, "en16931/X.toml").changes


@pytest.mark.parametrize(
    ("entry", "changes"),
    [
        ({}, BASE),
        ({"number": "R-2"}, BASE | {"number": "R-2"}),
        ({"vat_breakdown[0].rate": "19"}, BASE | {"vat_breakdown[0]": {"category": "AE", "rate": "19"}}),
        ({"vat_breakdown[0]": {"category": "S"}}, BASE | {"vat_breakdown[0]": {"category": "S"}}),
        ({"drop": ["vat_breakdown[0].rate"]}, BASE | {"vat_breakdown[0]": {"category": "AE"}}),
        ({"drop": ["lines"]}, {name: BASE[name] for name in ("vat_breakdown[0]", "notes[0].text")}),
        ({"drop": ["vat_breakdown[0].tax_amount"]}, BASE),
    ],
)
def test_example_replaces_parts_of_the_base(entry: dict[str, Any], changes: dict[str, Any]) -> None:
    before = repr(BASE)
    assert described(entry) == changes
    assert repr(BASE) == before


def test_invoice_has_both_changes_and_the_base_is_kept() -> None:
    example = example_of("x", {"drop": ["lines[0]"], "vat_breakdown[0].rate": "19"}, BASE, "en16931/X.toml")
    for _ in range(2):
        invoice = invoice_of(example, shipped())
        assert [line.identifier.raw for line in invoice.lines] == ["2"]
        assert (invoice.vat_breakdown[0].category.raw, invoice.vat_breakdown[0].rate.raw) == ("AE", "19")


def test_path_that_neither_the_base_nor_the_invoice_has_is_an_error() -> None:
    example = example_of("x", {"drop": ["lines[2]"]}, BASE, "en16931/X.toml")
    with pytest.raises(RuleError) as caught:
        invoice_of(example, shipped())
    assert caught.value.key == "lines[2]"
