"""Applies the changes that resolve findings, validates again, and repeats while findings are resolved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from einvoice.causes.cause import Cause
from einvoice.causes.change import Change
from einvoice.editing.edits import apply
from einvoice.editing.serialization import EditError
from einvoice.errors import SignedDocument, UnreadableDocument
from einvoice.repair.fixed import Fixed, is_applicable
from einvoice.repair.search import compare
from einvoice.result import ValidationResult
from einvoice.syntax import xml
from einvoice.validation import revalidate

MAX_ROUNDS: Final = 10
"""Maximum number of times that causes are searched; each round resolves at least one finding."""
_SIGNATURE: Final = "{http://www.w3.org/2000/09/xmldsig#}Signature"


def fix(result: ValidationResult, unsafe: bool = False) -> Fixed:
    """Return the repaired document of a result; see `ValidationResult.fixed`.

    Raises:
        SignedDocument: the XML, or the PDF around it, is signed.
    """
    _reject_signed(result)
    applied: list[Change] = []
    current, causes = result, result.causes()
    for _ in range(MAX_ROUNDS):
        changes, after = _accepted(current, _selected(causes, unsafe))
        if after is None:
            break
        applied += changes
        current, causes = after, after.causes()
    return Fixed(current.document.data, tuple(applied), causes, result, current, result.lang)


def _reject_signed(result: ValidationResult) -> None:
    """Reject a signed document: XML with an XML signature anywhere, such as in UBLExtensions, or a signed PDF."""
    if result.container is not None and result.container.signed:
        raise SignedDocument("pdf")
    if next(xml.parse(result.document.data).getroot().iter(_SIGNATURE), None) is not None:
        raise SignedDocument("xml")


def _selected(causes: Sequence[Cause], unsafe: bool) -> list[Change]:
    """Return the changes to make; none that builds on a change that is not made."""
    selected = [it.changes[0] for it in causes if is_applicable(it) and (unsafe or it.changes[0].safe)]
    chosen = {id(it) for it in selected}
    others = {edit for cause in causes for it in cause.changes if id(it) not in chosen for edit in it.edits}
    return [it for it in selected if others.isdisjoint(it.edits)]


def _accepted(result: ValidationResult, changes: Sequence[Change]) -> tuple[list[Change], ValidationResult | None]:
    """Return the changes that fit together and the result of all of them; None if none of them resolves anything."""
    if not changes:
        return [], None
    after = _applied(result, changes)
    if after is not None:
        return list(changes), after
    accepted: list[Change] = []
    for change in changes:
        if (tried := _applied(result, [*accepted, change])) is not None:
            accepted.append(change)
            after = tried
    return accepted, after


def _applied(result: ValidationResult, changes: Sequence[Change]) -> ValidationResult | None:
    """Return the result of the changed document; None if the changes add a finding or resolve none."""
    try:
        after = revalidate(result, apply(result.document.data, [edit for it in changes for edit in it.edits]))
    except (EditError, UnreadableDocument):
        return None
    resolved, added = compare(result.findings, after.findings)
    return after if resolved and not added else None
