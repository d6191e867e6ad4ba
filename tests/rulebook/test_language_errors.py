"""Rule language: unsupported syntax, and errors with message, hint and column."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from einvoice.errors import RuleError
from einvoice.rulebook.language import check, condition
from einvoice.rulebook.language.types import BOOLEAN, NUMBER
from tests.helpers.expressions import HERE, NAMES, written


def error_of(source, **options):
    with pytest.raises(RuleError) as caught:
        condition(source, NAMES, HERE, **options)
    return caught.value


@pytest.mark.parametrize(
    ("source", "column", "message", "hint"),
    [
        ("totals.lines_net == 1", 1, "Totals has no field 'lines_net'", "did you mean 'line_net'?"),
        ("exists(invoice.totls.net)", 8, "Invoice has no field 'totls'", "did you mean 'totals'?"),
        ("exists(total.net)", 8, "unknown name 'total'", "did you mean 'totals'?"),
        ("exist(totals.net)", 1, "unknown function 'exist'", "did you mean 'exists'?"),
        ("totals.net == count", 15, "'count' is a function", "count(…)"),
        ("line.price.net == 'S'", 19, "BT-146 (line.price.net) is a number, 'S' is text", ""),
        ("vat.category == 1", 17, "BT-118 (vat.category) is text, 1 is a number", ""),
        ("period.start > '2026-01-01'", 16, "BT-73 (period.start) is a date, '2026-01-01' is text", ""),
        ("not line.price", 5, "is a group, not a boolean", "exists(line.price)"),
        ("exists(line.item) and totals.net", 23, "is a number, not a boolean", "exists(totals.net)"),
        ("invoice.lines or exists(totals.net)", 1, "is a sequence, not a boolean", "exists(invoice.lines)"),
        ("line.price == 1", 1, "is a group and cannot be compared", "compare one of its terms"),
        ("seller.identifiers == 'x'", 1, "is a sequence and cannot be compared", "any_equal(…)"),
        ("invoice.lines.price.net == 1", 1, "is a sequence", "for x in invoice.lines"),
        ("totals.net + seller.name == 1", 14, "is text, not a number", ""),
        ("upper_case(totals) == 'X'", 12, "is a group, not text", ""),
        ("any(invoice.lines)", 1, "has no condition", "any(… for x in invoice.lines)"),
        ("all(entry.net_amount for entry in invoice.lines)", 5, "not a boolean", "exists(entry.net_amount)"),
        ("exists('a')", 8, "'a' always exists", ""),
        ("exists(vat.is_vat)", 8, "always exists", ""),
        ("within_exclusive(totals.net, 1)", 1, "'within_exclusive' takes 3 operands, not 2", ""),
        ("raw() == ''", 1, "'raw' takes 1 operand, not 0", ""),
        ("1e3 == totals.net", 1, "1e3 is not a plain decimal number", ""),
        ("totals.net == 1_0.5", 15, "1_0.5 is not a plain decimal number", ""),
        ("any_equal(line, seller.name)", 11, "is a group, not the value of a business term", ""),
        ("matches(seller.name, r'\\w')", 22, "\\w is not supported in a pattern", ""),
        ("matches(seller.name, '(')", 22, "invalid pattern", ""),
        ("matches(seller.name, upper_case('a'))", 22, "must be a text in quotes", ""),
        ("in_code_list(vat.category, 'no list')", 28, "is not the name of a code list", ""),
        ("substring(seller.name, 0, 2) == 'x'", 24, "must be a whole number of at least 1", ""),
        ("exists(descendants(LineTx))", 8, "descendants takes the name of a group", "did you mean 'LineTax'?"),
        ("exists(descendants('LineTax'))", 8, "descendants takes the name of a group", ""),
        ("exists(with_vat(invoice.lines))", 8, "'with_vat' takes 2 or 3 operands, not 1", ""),
        (
            "exists(with_vat(invoice.periods, 'S'))",
            17,
            "is a sequence, not a sequence of groups with taxes",
            "invoice.lines",
        ),
        ("exists(with_vat(line, 'S'))", 17, "is a group, not a sequence of groups with taxes", "invoice.lines"),
        ("exists(with_vat(invoice.lines, 19))", 32, "is a number, not text", ""),
        ("exists(with_vat(invoice.lines, 'S', 'S'))", 37, "is text, not a number", ""),
        ("exists(with_same_exemption(invoice.lines))", 8, "'with_same_exemption' takes 2 operands, not 1", ""),
        ("exists(with_same_exemption(invoice.lines, line))", 43, "is a group, not a tax", ""),
        ("vat.category in ('S')", 18, "'in' needs constants in brackets", ""),
        ("vat.category in ('S', seller.name)", 17, "'in' needs constants in brackets", ""),
        ("'S' in seller.identifiers", 8, "'in' needs constants in brackets", "any_equal(…)"),
        ("vat.category in ('S', 1)", 23, "is text, 1 is a number", ""),
        ("(v for v in invoice.lines)", 2, "a generator expression is only allowed", ""),
        ("exists(v.taxes for v in invoice.lines)", 8, "is a sequence", "a second 'for'"),
        ("any(line.price == 1 for line in invoice.lines)", 25, "'line' is already in use", ""),
        (
            "count(x for x in (v.price for v in invoice.lines)) == 1",
            19,
            "not a generator expression",
            "for x in … for y in …",
        ),
        ("count(x for x in totals.net.currency) == 1", 18, "is text, not a sequence", ""),
        ("totals.net =", 12, "", ""),
        ("(totals.net == 1", 1, "was never closed", ""),
    ],
)
def test_errors_have_message_hint_and_column(source, column, message, hint):
    error = error_of(source)
    assert message in error.message
    assert hint in error.hint
    assert (error.file, error.key, error.column) == ("en16931/BR-0.toml", "assert", column)


@pytest.mark.parametrize(
    "source",
    [
        "lambda: 1",
        "[totals.net]",
        "{1}",
        "{'a': 1}",
        "[v for v in invoice.lines]",
        "invoice.lines[0]",
        "f'{totals.net}'",
        "(x := 1)",
        "totals.net ** 2",
        "totals.net // 2",
        "totals.net % 2",
        "totals.net @ 2",
        "+totals.net",
        "~1",
        "totals.net is absent",
        "1 < 2 in (3, 4)",
        "exists(*invoice.lines)",
        "exists(x=totals.net)",
        "invoice.descendants(LineTax)",
        "seller.name.upper()",
        "invoice.__class__",
        "invoice.node",
        "invoice.xpath",
        "invoice.line",
        "invoice.walk",
        "invoice.misplaced",
        "seller.name.raw",
        "seller.name.text",
        "totals.net.number",
        "totals.net.value",
        "totals.net.attributes",
        "seller.more",
        "len(invoice.lines)",
        "occurrences(totals)",
        "_divide(1, 2)",
        "__import__('os')",
        "open('x')",
        "None",
        "...",
        "b'x'",
        "1j",
        "any(async_ for async_ in None)",
        "any(a == b for a, b in invoice.lines)",
        "yield",
        "await x",
        "import os",
        "1; 2",
        "",
    ],
)
def test_unsupported_syntax_is_an_error(source):
    assert error_of(source).file == HERE.file


def test_name_of_a_function_is_reserved():
    with pytest.raises(RuleError, match="'count' is a function of the language"):
        check("1 == 1", {"count": NUMBER}, HERE)


def test_condition_must_be_boolean():
    with pytest.raises(RuleError, match="not a boolean"):
        condition("totals.net + 1", NAMES, HERE)
    assert condition("False", NAMES, HERE).type == BOOLEAN


@given(st.text(alphabet="()[]{}.,'=<>!+-*/ \n\tabinorst_0123é\\#:;&", max_size=40))
def test_any_text_compiles_or_raises_rule_error(source):
    try:
        code, _ = written(check(source, NAMES, HERE))
    except RuleError:
        return
    assert compile(code, "rule", "eval")
