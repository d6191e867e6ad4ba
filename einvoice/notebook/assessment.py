"""Data of the assessment of a result, as its widget displays it."""

from __future__ import annotations

from typing import Any

from einvoice.assessment import Assessment
from einvoice.result import Language


def assessment_box(assessment: Assessment, lang: Language) -> dict[str, Any]:
    """Return the title, the statement, the lists with their labels, and the remarks."""
    law = assessment.law
    return {
        "title": law.text("title", lang),
        "sentences": assessment.sentences(lang),
        "errors_label": law.text("errors", lang),
        "classes": [it._asdict() for it in assessment.classes(lang)],
        "remarks": assessment.remarks(lang),
        "items_label": law.text("items", lang),
        "items": assessment.missing(lang),
        "steps_label": law.text("steps", lang),
        "steps": assessment.steps(lang),
        "about": assessment.note(lang),
    }
