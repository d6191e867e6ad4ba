"""The box of the report that says what the document and its errors mean for the recipient."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from einvoice.visualization.markup import EMPTY, Markup, join, tag

if TYPE_CHECKING:
    from einvoice.assessment import Assessment
    from einvoice.result import Language

_CODE: Final = re.compile(r"((?:[A-Z][A-Z0-9]*-)+[\w-]+)")


def box(assessment: Assessment, lang: Language) -> Markup:
    """Return the statement, the steps, the classes of the errors, and the missing items."""
    classes = [
        tag("li", tag("strong", it.name), ": ", *_codes(it.codes), Markup("<br/>"), it.meaning)
        for it in assessment.classes(lang)
    ]
    steps = [_step(number, text) for number, text in enumerate(assessment.steps(lang), 1)]
    law = assessment.law
    return tag(
        "section",
        tag("h2", law.text("title", lang)),
        *_statement(assessment.sentences(lang)),
        tag("h3", law.text("steps", lang)),
        tag("table", tag("tbody", *steps), class_="steps"),
        _listed("errors", classes, assessment, lang),
        *(tag("p", text) for text in assessment.remarks(lang)),
        _listed("items", [tag("li", text) for text in assessment.missing(lang)], assessment, lang),
        tag("p", assessment.note(lang), class_="means"),
        class_="assessment",
    )


def _statement(sentences: list[str]) -> Iterator[Markup]:
    """Yield what the document is in bold, and what follows."""
    for at, text in enumerate(sentences):
        yield tag("p", text if at else tag("strong", text))


def _step(number: int, text: str) -> Markup:
    """Return a step, what it is about in bold."""
    about, colon, rest = text.partition(":")
    return tag("tr", tag("th", f"{number}.", scope="row"), tag("td", tag("strong", about, colon), rest))


def _codes(text: str) -> list[Markup | str]:
    """Return codes and what is about them, so that no line breaks within a code."""
    return [tag("span", part, class_="unbroken") if at % 2 else part for at, part in enumerate(_CODE.split(text))]


def _listed(key: str, items: list[Markup], assessment: Assessment, lang: Language) -> Markup:
    return join(tag("h3", assessment.law.text(key, lang)), tag("ul", *items)) if items else EMPTY
