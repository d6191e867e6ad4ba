"""Error of an artefact that did not run to completion."""

from __future__ import annotations


class ExecutionFailed(Exception):  # noqa: N818 (names the state)
    """An artefact did not run to completion.

    Attributes:
        reason: as in `ReferenceRun`: "stopped", "artefact", "time", "died" or "engine".
        detail: message of the engine, in English; "" if there is none.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        self.reason = reason
        self.detail = detail
        super().__init__(f"{reason}: {detail}" if detail else reason)


def problem_code(reason: str) -> str:
    """Return the catalog code of the reason why an artefact was not executed."""
    return f"REFERENCE-{reason.upper()}"
