"""Record of the causes of one file, for the causes of many: kinds of changes, without what belongs to the file.

Causes of a file that make the same change, such as in each line, are one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from einvoice.causes import Cause, Change
from einvoice.editing.edits import apply
from einvoice.editing.serialization import EditError
from einvoice.errors import UnreadableDocument
from einvoice.result.validation import ValidationResult
from einvoice.validation import revalidate

_MAX_TEXT: Final = 500


class Edit(NamedTuple):
    """A kind of edit.

    Attributes:
        kind: "set", "fill", "add" and others; see `einvoice.causes.change.Step`.
        term: business term; "" if there is none.
        element: name of the element or attribute.
        before: previous text; None if it differs.
        after: new text; None if it differs.
    """

    kind: str
    term: str
    element: str
    before: str | None
    after: str | None

    @property
    def name(self) -> str:
        """The kind and the place: "set BT-116"."""
        return f"{self.kind} {self.term or self.element}"

    def merged(self, other: Edit) -> Edit:
        """Return an edit of the same name without the texts that differ."""
        before = self.before if self.before == other.before else None
        return self._replace(before=before, after=self.after if self.after == other.after else None)


Edits: TypeAlias = tuple[Edit, ...]


class FileCause(NamedTuple):
    """A cause in one file.

    Attributes:
        name: names of the edits, "+" between them and "|" between alternatives; without a change, the gravest code.
        alternatives: the edits of each possible change; empty if none is known.
        codes: codes of the findings that it explains, the gravest first.
        findings: number of findings that it explains.
        errors: number of those that are errors.
        explains_errors: whether it explains all errors of the file.
        is_proven: whether the file is valid with the change; for several possible changes, with one of them.
        is_question: whether only the issuer can know which change is right, or whether the only one is.
    """

    name: str
    alternatives: tuple[Edits, ...]
    codes: tuple[str, ...]
    findings: int
    errors: int
    explains_errors: bool
    is_proven: bool
    is_question: bool


class FileCauses(NamedTuple):
    """The causes of one file.

    Attributes:
        causes: the causes, the gravest first.
        is_limited: whether the search for them ended at a limit.
    """

    causes: list[FileCause]
    is_limited: bool


def file_causes(result: ValidationResult) -> FileCauses:
    """Return the causes of a result."""
    groups: dict[str, list[Cause]] = {}
    found = result.causes()
    for cause in found:
        groups.setdefault(_name(cause), []).append(cause)
    causes = [_merged(name, members, result) for name, members in groups.items()]
    return FileCauses(causes, bool(getattr(found, "ended_by", "")))


def plain(found: FileCauses) -> dict[str, Any]:
    """Return causes as plain data, ready for JSON."""
    return {"causes": [list(cause) for cause in found.causes], "is_limited": found.is_limited}


def restored(stored: Mapping[str, Any]) -> FileCauses:
    """Return the causes that `plain` made plain; records omit values that are empty or false."""
    causes = [_restored(*cause) for cause in stored.get("causes", ())]
    return FileCauses(causes, stored.get("is_limited", False))


def _restored(name: str, alternatives: Sequence[Sequence[Any]], codes: Sequence[str], *others: Any) -> FileCause:
    if len(others) == 4:  # stored by a version that knew only a question between several changes
        others = (*others, len(alternatives) > 1)
    return FileCause(name, tuple(tuple(Edit(*it) for it in edits) for edits in alternatives), tuple(codes), *others)


def _name(cause: Cause) -> str:
    if not cause.changes:
        return cause.findings[0].code
    # The order of alternatives depends on the invoice.
    return " | ".join(sorted({" + ".join(it.name for it in _edits(change)) for change in cause.changes}))


def _merged(name: str, causes: Sequence[Cause], result: ValidationResult) -> FileCause:
    findings = [finding for cause in causes for finding in cause.findings]
    errors = sum(finding.severity == "fatal" for finding in findings)
    explains_errors = result.stack.complete and 0 < errors == len(result.errors)
    alternatives: dict[str, Edits] = {}
    for change in (change for cause in causes for change in cause.changes):
        edits = _edits(change)
        key = " + ".join(it.name for it in edits)
        known = alternatives.get(key, edits)
        alternatives[key] = tuple(one.merged(other) for one, other in zip(known, edits, strict=True))
    return FileCause(
        name=name,
        alternatives=tuple(alternatives[key] for key in sorted(alternatives)),
        codes=tuple(dict.fromkeys(finding.code for finding in findings)),
        findings=len(findings),
        errors=errors,
        explains_errors=explains_errors,
        is_proven=explains_errors and _is_proven(causes, result),
        is_question=any(cause.is_question for cause in causes),
    )


def _edits(change: Change) -> Edits:
    """Return the kinds of edits of a change, each once."""
    edits: dict[str, Edit] = {}
    for step in change.steps:
        edit = Edit(step.kind, step.term, step.element, step.before[:_MAX_TEXT], step.after[:_MAX_TEXT])
        edits[edit.name] = edits.get(edit.name, edit).merged(edit)
    return tuple(edits[name] for name in sorted(edits))


def _is_proven(causes: Sequence[Cause], result: ValidationResult) -> bool:
    """Return whether the document is valid with the changes of all these causes."""
    if not all(cause.changes for cause in causes):
        return False
    if len(causes) == 1:
        return any(all(it.severity != "fatal" for it in change.remaining) for change in causes[0].changes)
    edits = dict.fromkeys(edit for cause in causes for edit in cause.changes[0].edits)
    try:
        return revalidate(result, apply(result.document.data, tuple(edits))).is_valid
    except (EditError, UnreadableDocument):
        return False
