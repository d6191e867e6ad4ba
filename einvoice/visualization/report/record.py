"""The record of a validation: what was validated, when and by what, and the result, as JSON attached to the report."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from einvoice.pdf.writer.attachments import AttachedFile
from einvoice.visualization.report.labels import WORDS

if TYPE_CHECKING:
    from einvoice.assessment import Assessment
    from einvoice.causes import Cause
    from einvoice.result import Language, ValidationResult

NAME: Final = "validation-result.json"
_DISTRIBUTION: Final = "einvoice-toolkit"
_DURATION: Final = "processing_time_ms"


def program() -> str:
    """Return name and version of the program."""
    from importlib.metadata import version

    return f"einvoice {version(_DISTRIBUTION)}"


def record(
    result: ValidationResult,
    lang: Language,
    when: datetime.datetime,
    causes: Sequence[Cause],
    assessment: Assessment | None,
) -> AttachedFile:
    """Return the record as a file to attach; equal arguments give equal bytes, so the duration is left out."""
    content: dict[str, Any] = result.to_dict(
        lang, causes=causes, assessment=False if assessment is None else assessment
    )
    del content[_DURATION]
    data = {
        "file": {"name": result.filename, "sha256": result.sha256},
        "program": program(),
        "validated_at": when.astimezone(datetime.UTC).isoformat(timespec="seconds"),
        "result": content,
    }
    text = json.dumps(data, ensure_ascii=False, indent=1)
    return AttachedFile(NAME, text.encode(), "Data", WORDS[lang]["attached"], "application/json")
