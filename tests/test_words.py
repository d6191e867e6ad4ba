"""The words of the rule language give the answers that Saxon gives for the XPath they stand for."""

from __future__ import annotations

import inspect
import math
from decimal import Decimal, localcontext

import pytest
from words.ask_saxon import Saxon, occurrences, questions

from einvoice.model import values
from einvoice.model.values import absent
from einvoice.rulebook import functions
from einvoice.rulebook.functions import EXACT, WORDS
from einvoice.rulebook.kinds import Kind
from einvoice.rulebook.language import Where, check

ASKED = [pytest.param(question, id=f"{path.stem}: {question['rule']}") for path, question in questions()]


def values_of(cls, given):
    found = []
    for one in occurrences(given):
        attributes = {name: text for name, text in one.items() if name != "text"}
        found.append(cls(one["text"], attributes))
    return found


def value_of(cls, given):
    """The same as one value, with its further occurrences."""
    first, *more = values_of(cls, given) or [absent]
    if more:
        first.more = more
    return first


def compiled(question):
    cls = getattr(values, question["kind"])
    names = {"x": Kind(cls), "y": Kind(cls), "all_x": Kind(cls, many=True), "all_y": Kind(cls, many=True)}
    expression = check(question["rule"], names, Where("test", "rule"))
    lists = {f"_codes_{name}": frozenset(codes) for name, codes in question.get("lists", {}).items()}
    lists |= {f"_code_text_{name}": functions.codes(codes) for name, codes in question.get("lists", {}).items()}
    function = f"lambda x, y, all_x, all_y: {expression.code}"
    return eval(function, {**WORDS, **expression.constants, **lists})


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
        return isinstance(ours, float) and (ours == expected or (math.isnan(ours) and math.isnan(expected)))
    if isinstance(expected, Decimal):
        return isinstance(ours, Decimal | int) and ours == expected
    return isinstance(ours, str) and ours == expected


@pytest.mark.parametrize("question", ASKED)
def test_answers_as_saxon(question):
    rule = compiled(question)
    cls = getattr(values, question["kind"])
    with localcontext(EXACT):
        for given, answer in question["answers"]:
            x, y = given.get("x"), given.get("y")
            # This must not raise, even where Saxon stops.
            ours = rule(value_of(cls, x), value_of(cls, y), values_of(cls, x), values_of(cls, y))
            assert answer == "error" or agrees(ours, answer), (given, answer, ours)


def test_every_word_is_asked_about():
    asked = {path.stem for path, _ in questions()}
    assert set(functions.CALLABLE) - asked == {"everywhere"}  # no XPath without a document; see test_language


def test_every_word_has_its_xpath_and_an_example():
    for name, word in functions.CALLABLE.items():
        if inspect.isbuiltin(word):
            continue
        documented = inspect.getdoc(word)
        assert "``" in documented or "BR-" in documented, name
        assert ">>>" in documented or name == "everywhere", name


@pytest.mark.slow
def test_saxon_still_answers_so():
    pytest.importorskip("saxonche")
    saxon = Saxon()
    for path, question in questions():
        for given, answer in question["answers"]:
            assert saxon.answer(question["xpath"], given) == answer, (path.name, question["xpath"], given)
