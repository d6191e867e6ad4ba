"""The table of equations: against the rules on generated invoices, and against numbers calculated by hand.

The rules are those of the standard, run on the UBL and CII documents of each invoice. Where the official Schematron is
as exact, it must agree, too. It is not (`rules/en16931/schematron`) in BR-CO-17, BR-S-09, BR-AF-09 and BR-AG-09, which
accept differences of up to 1.00; so do BR-S-08, BR-AF-08 and BR-AG-08 in UBL, and in CII the rules BR-…-08 of the
categories without rates, except BR-O-08. In CII, BR-AF-08 and BR-AG-08 are not checked, and BR-CO-15 accepts a total
with VAT that equals the one without.

The rules round half a cent of a sum up, the table away from zero. Amounts have two decimals (EN 16931-1, 6.5.2), so
sums have no half cents; R120 and R040 compare with the unrounded number.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from einvoice.model.calculation import (
    EQUATIONS,
    Calculation,
    Operand,
    calculate,
    calculations,
    round2,
    solve,
    solve_for,
)
from einvoice.model.invoice import Invoice, Totals
from einvoice.model.lines import Line, Price
from einvoice.model.money import LineAllowanceCharge, LineTax, TaxTotal, VatBreakdown
from einvoice.model.values import Amount, Code, Percentage, Quantity, UnitPrice, absent
from einvoice.rulebook.program.build import assemble
from einvoice.rulebook.program.program import Program
from einvoice.rulebook.program.typecheck import check_rule, check_standard
from einvoice.syntax.reader import read
from einvoice.syntax.writer import write
from einvoice.syntax.xml import parse
from tests.helpers.calculated import alter, random_invoice, root_of
from tests.helpers.rule_sets import shipped_rule_sets

CATEGORIES = ("S", "Z", "E", "AE", "IC", "G", "O", "AF", "AG")
RULES = {code.format(name) for it in EQUATIONS.values() for code in it.rules for name in CATEGORIES}
#: Rules in which the official Schematron agrees with the standard on amounts with two decimals, by syntax.
STRICT = {f"BR-CO-{number}" for number in (10, 11, 12, 13, 14, 16)}
OFFICIAL = {
    "UBL": STRICT | {"BR-CO-15"} | {f"BR-{name}-08" for name in ("Z", "E", "AE", "IC", "G", "O")},
    "CII": STRICT | {"BR-S-08", "BR-O-08"},
}


@functools.cache
def programs(syntax: str) -> tuple[Program, Program]:
    """Return the rules of the table as in the standard and, where they are exact, as in the official Schematron."""
    known = shipped_rule_sets()
    standard, official = [], []
    for name in ("en16931", "peppol"):
        for definition in known.definitions[name]:
            if definition.code in RULES:
                standard.append(check_standard(definition, known.contexts[name]))
            if definition.code in OFFICIAL[syntax]:
                official.append(check_rule(definition, syntax, known.sets[name].newest, known.contexts[name]))
    return tuple(Program([], *assemble(list(filter(None, rules)), syntax, data=known.data))
                 for rules in (standard, official))  # type: ignore[return-value]  # fmt: skip


def violated(program: Program, invoice: Invoice, places: set[int]) -> Counter[Any]:
    """Return the violated rules, each with the id of the place, 0 for the invoice."""
    found: Counter[Any] = Counter()
    for violation in program.run(invoice):
        place = next((id(it) for it in violation.contents if id(it) in places), 0)
        found[violation.rule.code, place] += 1
    return found


def assert_agreement(seeds: range) -> tuple[Counter[tuple[str, bool]], set[str]]:
    """Compare the table with the rules on one invoice for each seed, written in both syntaxes.

    Returns:
        How often the equation of each term holds and does not, and the codes of all violated rules.
    """
    counts: Counter[tuple[str, bool]] = Counter()
    codes: set[str] = set()
    for seed in seeds:
        random = Random(seed)
        invoice = random_invoice(random)
        alter(invoice, random)
        for syntax in ("UBL", "CII"):
            document = read(parse(write(invoice, root_of(invoice, syntax))).getroot())
            found = list(calculations(document))
            assert [it for it in found if it.holds is None] == [], (seed, syntax)
            places = {id(it.place) for it in found if it.place is not document}
            wrong = Counter(
                (code, id(it.place) if id(it.place) in places else 0)
                for it in found if not it.holds for code in it.rules
            )  # fmt: skip
            standard, official = programs(syntax)
            assert violated(standard, document, places) == wrong, (seed, syntax)
            strict = {key: number for key, number in wrong.items() if key[0] in OFFICIAL[syntax]}
            assert violated(official, document, places) == strict, (seed, syntax)
            counts.update((it.equation.result, bool(it.holds)) for it in found)
            codes |= {code for code, _ in wrong}
    return counts, codes


def test_rules_and_table_agree() -> None:
    assert_agreement(range(60))


@pytest.mark.slow
def test_rules_and_table_agree_on_1000_invoices() -> None:
    counts, codes = assert_agreement(range(1000))
    assert set(counts) == {(term, holds) for term in EQUATIONS for holds in (True, False)}
    assert codes == RULES


@pytest.mark.parametrize("seed", range(20))
def test_correct_invoices_are_solved(seed: int) -> None:
    """Each number follows from the others; a factor only up to rounding."""
    found = list(calculations(random_invoice(Random(seed))))
    assert len(found) > len(EQUATIONS) / 2
    for it in found:
        stated = it.result.number
        assert it.solve().number == stated
        for operand in it.operands:
            solved = solve_for(it, operand).number
            if not it.equation.factors:
                assert solved == (operand.number or 0)
            elif solved is not None:
                assert _with(it, operand, solved) == stated


def _with(calculation: Calculation, operand: Operand, number: Decimal) -> Decimal:
    others = [it for it in calculation.operands if it is not operand and it.number is not None]
    numbers: dict[str, list[Decimal]] = {operand.term: [number]}
    for it in others:
        numbers.setdefault(it.term, []).append(it.number)  # type: ignore[arg-type]
    return calculation.equation.calculate(numbers)


def invoice() -> Invoice:
    """Return an invoice without totals: 3 of 0.3333, and 2 of 10.00 less 1.00; 19 and 0 % VAT."""
    lines = [
        Line(quantity=Quantity("3"), price=Price(net=UnitPrice("0.3333")), net_amount=Amount("1.00"),
             taxes=[LineTax(category=Code("S"), rate=Percentage("19"))]),
        Line(quantity=Quantity("2"), price=Price(net=UnitPrice("10.00")), net_amount=Amount("19.00"),
             allowances_and_charges=[LineAllowanceCharge(indicator=Code("false"), amount=Amount("1.00"))],
             taxes=[LineTax(category=Code("E"), rate=Percentage("0"))]),
    ]  # fmt: skip
    breakdown = [
        VatBreakdown(category=Code("S"), rate=Percentage("19"), taxable_amount=Amount("1.00"),
                     tax_amount=Amount("0.19")),
        VatBreakdown(category=Code("E"), taxable_amount=Amount("19.00"), tax_amount=Amount("0.00")),
    ]  # fmt: skip
    return Invoice(lines=lines, vat_breakdown=breakdown, currency=Code("EUR"))


def terms_of(operands: Iterable[Operand]) -> list[str]:
    return [it.term for it in operands]


def test_solve() -> None:
    document = invoice()
    first, second = document.lines
    assert [solve(document, "BT-131", line).number for line in (first, second)] == [Decimal("1.00"), Decimal("19.00")]
    assert solve(document, "BT-116", document.vat_breakdown[1]).number == 19
    assert [solve(document, "BT-117", vat).number for vat in document.vat_breakdown] == [Decimal("0.19"), 0]
    assert [solve(document, term).number for term in ("BT-106", "BT-107", "BT-110")] == [20, 0, Decimal("0.19")]
    document.totals = Totals(line_net=Amount("20.00"), net=Amount("20.00"), paid=Amount("5.00"))
    document.tax_totals = [TaxTotal(amount=Amount("0.19", {"currencyID": "EUR"}))]
    assert [solve(document, term).number for term in ("BT-109", "BT-112")] == [20, Decimal("20.19")]
    assert terms_of(solve(document, "BT-115").lacking) == ["BT-112"]


def test_what_is_missing_or_malformed_is_named() -> None:
    document = invoice()
    first, second = document.lines
    first.net_amount, second.price = Amount("1,00"), absent
    assert [(it.term, it.group is first) for it in solve(document, "BT-106").lacking] == [("BT-131", True)]
    assert terms_of(solve(document, "BT-131", second).lacking) == ["BT-146"]
    assert terms_of(solve(document, "BT-109").lacking) == ["BT-106"]
    assert terms_of(solve(Invoice(), "BT-106").lacking) == ["BT-131"]
    assert terms_of(solve(Invoice(), "BT-110").lacking) == ["BT-117"]
    document.totals = Totals(line_net=Amount("1.00"), charges=Amount("-"), net=Amount("1.00"))
    [calculation] = [it for it in calculations(document) if it.result.term == "BT-109"]
    assert (calculation.holds, terms_of(calculation.lacking)) == (None, ["BT-108"])
    assert solve_for(calculation, calculation.lacking[0]).number == 0
    calculation.place.totals.net = absent
    assert terms_of(solve_for(calculation, calculation.lacking[0]).lacking) == ["BT-109"]


def test_category_and_rate_select_what_a_breakdown_adds() -> None:
    document = invoice()
    standard, exempt = document.vat_breakdown
    standard.rate, exempt.category = Percentage("19 %"), absent
    assert terms_of(solve(document, "BT-116", standard).lacking) == ["BT-119"]
    assert terms_of(solve(document, "BT-117", standard).lacking) == ["BT-119"]
    assert terms_of(solve(document, "BT-116", exempt).lacking) == ["BT-118"]


def test_nothing_is_said_about_what_is_not_stated() -> None:
    found = [it.result.term for it in calculations(invoice())]
    assert found == ["BT-131", "BT-131", "BT-116", "BT-116", "BT-117", "BT-117", "BT-106", "BT-110"]


@pytest.mark.parametrize(
    ("equation", "unknown", "result", "numbers", "expected"),
    [
        ("BT-131", "BT-146", "1.00", {"BT-129": "3"}, "0.333"),
        ("BT-131", "BT-129", "24.00", {"BT-146": "12.50", "BT-136": "1.00"}, "2"),
        ("BT-131", "BT-149", "0.70", {"BT-146": "10.00", "BT-129": "7"}, "100"),
        ("BT-131", "BT-141", "3.50", {"BT-146": "3.3333", "BT-129": "1"}, "0.17"),
        ("BT-131", "BT-146", "1.00", {"BT-129": "0"}, None),
        ("BT-131", "BT-149", "0.00", {"BT-146": "10.00", "BT-129": "7"}, None),
        ("BT-117", "BT-119", "38.01", {"BT-116": "200.05"}, "19"),
        ("BT-117", "BT-116", "-38.01", {"BT-119": "19"}, "-200.05"),
        ("BT-115", "BT-113", "-0.50", {"BT-112": "10.00"}, "10.50"),
        ("BT-106", "BT-131", "10.00", {"BT-131": "12.50"}, "-2.50"),
    ],
)
def test_operands(equation: str, unknown: str, result: str, numbers: dict[str, str], expected: str | None) -> None:
    given = {term: [Decimal(number)] for term, number in numbers.items()}
    solved = EQUATIONS[equation].operand(unknown, Decimal(result), given)
    assert solved == (None if expected is None else Decimal(expected))


def test_arithmetic_is_exact() -> None:
    large = Decimal("99999999999999999999999999999999999999.99")
    assert calculate("BT-106", {"BT-131": [large, Decimal("0.01"), large.copy_negate()]}) == Decimal("0.01")
    assert round2(Decimal("1e38")) == Decimal("1e38")
    document = invoice()
    document.lines[0].net_amount = Amount("9" * 1000)
    assert terms_of(solve(document, "BT-106").lacking) == ["BT-131"]


def test_arguments() -> None:
    with pytest.raises(ValueError, match=r"'place' is missing: each of invoice\.lines has BT-131"):
        solve(invoice(), "BT-131")
    with pytest.raises(LookupError, match="BT-1"):
        solve(invoice(), "BT-1")
    with pytest.raises(LookupError, match="BT-146 is missing"):
        calculate("BT-131", {"BT-129": [Decimal(1)]})
