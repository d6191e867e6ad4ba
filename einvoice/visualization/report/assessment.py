"""The box of the report that says what the document and its errors mean for the recipient."""

from __future__ import annotations

from typing import TYPE_CHECKING

from einvoice.visualization.markup import EMPTY, Markup, join, tag

if TYPE_CHECKING:
    from einvoice.assessment import Assessment
    from einvoice.result import Language


def box(assessment: Assessment, lang: Language) -> Markup:
    """Return the statement, the classes of the errors, the missing items, and what is not decidable."""
    classes = [
        tag("li", tag("strong", it.name), f": {it.codes}", tag("p", it.meaning)) for it in assessment.classes(lang)
    ]
    return tag(
        "section",
        tag("h2", assessment.law.text("title", lang)),
        tag("p", tag("strong", assessment.statement(lang))),
        _listed("errors", classes, assessment, lang),
        *(tag("p", text) for text in assessment.remarks(lang)),
        _listed("items", [tag("li", text) for text in assessment.missing(lang)], assessment, lang),
        tag("p", f"{assessment.undecidable(lang)} {assessment.note(lang)}", class_="means"),
        class_="assessment",
    )


def _listed(key: str, items: list[Markup], assessment: Assessment, lang: Language) -> Markup:
    return join(tag("p", f"{assessment.law.text(key, lang)}:"), tag("ul", *items)) if items else EMPTY
