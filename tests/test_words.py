"""The words of the rule language give the answers that Saxon gives for the XPath they stand for."""

from __future__ import annotations

import inspect
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from words.ask_saxon import Saxon, occurrences, questions

from einvoice.model import values
from einvoice.model.values import absent
from einvoice.rulebook import functions
from einvoice.rulebook.functions import EXACT, GLOBALS
from einvoice.rulebook.language import Where, check
from einvoice.rulebook.language.types import Type

ASKED = [pytest.param(question, id=f"{path.stem}: {question['rule']}") for path, question in questions()]


def values_of(cls, texts):
    found = []
    for one in occurrences(texts):
        attributes = {name: text for name, text in one.items() if name != "text"}
        found.append(cls(one["text"], attributes))
    return found


def value_of(cls, texts):
    """The same as one value, with its further occurrences."""
    first, *more = values_of(cls, texts) or [absent]
    if more:
        first.more = more
    return first


def compiled(question):
    cls = getattr(values, question["kind"])
    names = {"x": Type(cls), "y": Type(cls), "all_x": Type(cls, many=True), "all_y": Type(cls, many=True)}
    expression = check(question["rule"], names, Where("test", "rule"))
    lists = {f"_codes_{name}": frozenset(codes) for name, codes in question.get("lists", {}).items()}
    lists |= {f"_code_text_{name}": functions.joined_codes(codes) for name, codes in question.get("lists", {}).items()}
    function = f"lambda x, y, all_x, all_y: {expression.code}"
    return eval(function, {**GLOBALS, **expression.constants, **lists})


def says(answer):
    """What Saxon's answer is in Python."""
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
    raise AssertionError(f"what is {answer}?")


def agrees(ours, answer):
    expected = says(answer)
    if expected is absent:
        return ours is absent
    if isinstance(expected, bool):
        return bool(ours) is expected
    if isinstance(expected, float):
        return isinstance(ours, float) and repr(ours) == repr(expected)  # which tells -0.0 from 0.0
    if isinstance(expected, Decimal):
        return isinstance(ours, Decimal | int) and ours == expected
    return isinstance(ours, str) and ours == expected


@pytest.mark.parametrize("question", ASKED)
def test_answers_as_saxon(question):
    rule = compiled(question)
    cls = getattr(values, question["kind"])
    with localcontext(EXACT):
        for texts, answer in question["answers"]:
            x, y = texts.get("x"), texts.get("y")
            # This must not raise, even where Saxon stops.
            ours = rule(value_of(cls, x), value_of(cls, y), values_of(cls, x), values_of(cls, y))
            assert answer == "error" or agrees(ours, answer), (texts, answer, ours)


def test_every_word_is_asked_about():
    asked = {path.stem for path, _ in questions()}
    assert set(functions.CALLABLE) - asked == {
        "descendants",
        "with_vat",
    }  # no XPath without a document; see test_language


def test_every_word_has_its_xpath_and_an_example():
    for name, word in functions.CALLABLE.items():
        if inspect.isbuiltin(word):
            continue
        documented = inspect.getdoc(word)
        assert "``" in documented or "BR-" in documented, name
        assert ">>>" in documented or name == "descendants", name


numbers = st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**12), max_value=10**12)


@given(numbers)
def test_round2_is_the_floor_of_a_hundredfold_and_a_half(x):
    assert Fraction(GLOBALS["round2"](x)) * 100 == math.floor(Fraction(x) * 100 + Fraction(1, 2))


@given(numbers, numbers.filter(bool))
def test_a_quotient_is_off_by_half_of_its_last_place_at_most(x, y):
    quotient = GLOBALS["_divide"](x, y)
    exact = Fraction(x) / Fraction(y)
    half = Fraction(1, 2 * 10**18)
    assert abs(Fraction(quotient) - exact) <= half
    # Of two that are equally near it is the one nearer to zero.
    assert abs(Fraction(quotient) - exact) < half or abs(Fraction(quotient)) < abs(exact)


@pytest.mark.slow
def test_saxon_still_answers_so():
    pytest.importorskip("saxonche")
    saxon = Saxon()
    for path, question in questions():
        for texts, answer in question["answers"]:
            assert saxon.answer(question["xpath"], texts) == answer, (path.name, question["xpath"], texts)
