"""Functions of the rule language: they return what Saxon returns for the equivalent XPath."""

from __future__ import annotations

import inspect
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from einvoice.model import values
from einvoice.model.values import absent
from einvoice.rulebook import functions
from einvoice.rulebook.functions import EXACT, GLOBALS
from einvoice.rulebook.language import Where, check
from einvoice.rulebook.language.types import Type
from tests.helpers.expressions import written
from tests.rulebook.functions.ask_saxon import Saxon, cases, occurrences

CASES = [pytest.param(case, id=f"{path.stem}: {case['rule']}") for path, case in cases()]


def values_of(cls, texts):
    result = []
    for occurrence in occurrences(texts):
        attributes = {name: text for name, text in occurrence.items() if name != "text"}
        result.append(cls(occurrence["text"], attributes))
    return result


def value_of(cls, texts):
    """Return the first value with its further occurrences."""
    first, *more = values_of(cls, texts) or [absent]
    if more:
        first.more = more
    return first


def compiled(case):
    cls = getattr(values, case["kind"])
    names = {"x": Type(cls), "y": Type(cls), "all_x": Type(cls, many=True), "all_y": Type(cls, many=True)}
    expression = check(case["rule"], names, Where("test", "rule"))
    lists = {f"_codes_{name}": frozenset(codes) for name, codes in case.get("lists", {}).items()}
    lists |= {f"_code_text_{name}": functions.joined_codes(codes) for name, codes in case.get("lists", {}).items()}
    code, writer = written(expression)
    return eval(f"lambda x, y, all_x, all_y: {code}", {**GLOBALS, **writer.numbers, **lists})


def converted(answer):
    """Return a result of Saxon as a Python value."""
    kind, _, text = answer.partition(" ")
    match kind:
        case "()":
            return absent
        case "xs:boolean":
            return text == "true"
        case "xs:decimal":
            return Decimal(text)
        case "xs:double":
            return float(text.replace("INF", "inf"))
        case "xs:string":
            return text
    raise AssertionError(f"unexpected type: {answer}")


def agrees(result, answer):
    expected = converted(answer)
    if expected is absent:
        return result is absent
    if isinstance(expected, bool):
        return bool(result) is expected
    if isinstance(expected, float):
        return isinstance(result, float) and repr(result) == repr(expected)  # repr distinguishes -0.0
    if isinstance(expected, Decimal):
        return isinstance(result, Decimal | int) and result == expected
    return isinstance(result, str) and result == expected


@pytest.mark.parametrize("case", CASES)
def test_result_equals_that_of_saxon(case):
    rule = compiled(case)
    cls = getattr(values, case["kind"])
    with localcontext(EXACT):
        for texts, answer in case["answers"]:
            x, y = texts.get("x"), texts.get("y")
            # Must not raise, even if Saxon stops with an error.
            result = rule(value_of(cls, x), value_of(cls, y), values_of(cls, x), values_of(cls, y))
            assert answer == "error" or agrees(result, answer), (texts, answer, result)


def test_every_function_has_cases():
    tested = {path.stem for path, _ in cases()}
    own = {name for name, function in functions.CALLABLE.items() if _is_own(function)}
    assert set(functions.CALLABLE) - tested - own == {
        "corrected_skonto_line",
        "corrected_skonto_parts",
        "descendants",
        "ends_in_skonto_line",
        "line_number_of",
        "plain_number",
        "skonto_fault_count",
        "with_same_exemption",
        "with_vat",
        "wrong_skonto_line",
    }  # without XPath on single values; see test_language


def _is_own(function):
    """Return whether no official rule has such a function: examples of rules and doctests show what it does."""
    return getattr(function, "__module__", "").endswith(".plausibility")


def test_every_function_documents_its_xpath_and_an_example():
    for name, function in functions.CALLABLE.items():
        if inspect.isbuiltin(function):
            continue
        documented = inspect.getdoc(function)
        assert "`" in documented or "BR-" in documented or _is_own(function), name
        assert ">>>" in documented or name == "descendants", name


numbers = st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**12), max_value=10**12)


@given(numbers)
def test_round2_rounds_half_up(x):
    assert Fraction(GLOBALS["round2"](x)) * 100 == math.floor(Fraction(x) * 100 + Fraction(1, 2))


@given(numbers, numbers.filter(bool))
def test_division_rounds_to_nearest(x, y):
    quotient = GLOBALS["_divide"](x, y)
    exact = Fraction(x) / Fraction(y)
    half = Fraction(1, 2 * 10**18)
    assert abs(Fraction(quotient) - exact) <= half
    # Ties are rounded towards zero.
    assert abs(Fraction(quotient) - exact) < half or abs(Fraction(quotient)) < abs(exact)


@pytest.mark.slow
def test_stored_results_match_saxon():
    pytest.importorskip("saxonche")
    saxon = Saxon()
    for path, case in cases():
        for texts, answer in case["answers"]:
            assert saxon.answer(case["xpath"], texts) == answer, (path.name, case["xpath"], texts)
