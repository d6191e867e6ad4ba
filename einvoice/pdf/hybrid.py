"""The content of a hybrid PDF as plain data, which can be sent between processes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, TypeAlias

AttachmentSource: TypeAlias = Literal["names", "catalog", "page", "annotation", "unreferenced"]

LIMIT: Final = 10_485_760
"""Maximum unpacked size of an attachment (bytes), the same as for an input file."""


class Fault(NamedTuple):
    """A violation found by a container check: the code of its catalog entry, and the values quoted in its texts."""

    code: str
    values: Mapping[str, str | int]


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file embedded in a PDF, as the PDF describes it (ISO 32000-1, 7.11).

    Attributes:
        name: its file name, without folders.
        sources: where the PDF refers to it: "names" (the EmbeddedFiles name tree), "catalog" (associated files of the
            document), "page", "annotation"; "unreferenced" if it was found only by searching all objects.
        relationship: AFRelationship, such as "Alternative" or "Data"; "" if missing.
        mime: media type, such as "text/xml"; "" if missing.
        created, modified: dates in PDF notation, such as "D:20260301110000Z"; "" if missing.
        size: unpacked size (bytes); None if it was not unpacked, since it cannot be an invoice.
        root: local name of the root element; "" if it is not XML.
        guideline: the specification that the XML declares (BT-24); "" if there is none.
        problem: why the content cannot be read, in English; "" if it can.
    """

    name: str
    sources: tuple[AttachmentSource, ...]
    relationship: str = ""
    mime: str = ""
    created: str = ""
    modified: str = ""
    size: int | None = None
    root: str = ""
    guideline: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Hybrid:
    """A PDF with an embedded invoice.

    Attributes:
        xml: the bytes of the chosen attachment.
        candidates: the attachments that may be the invoice, best first; the first one was chosen.
        attachments: all attachments, in the order in which they were found.
        faults: violations found by the container checks.
        checks: number of container checks.
        signed: whether the PDF has a signature.
        software: the program that made the PDF, as its metadata name it; "" if they do not.
    """

    xml: bytes = field(repr=False)
    candidates: tuple[Attachment, ...]
    attachments: tuple[Attachment, ...]
    faults: tuple[Fault, ...] = ()
    checks: int = 0
    signed: bool = False
    software: str = ""

    @property
    def chosen(self) -> Attachment:
        """The attachment that is the invoice."""
        return self.candidates[0]

    def to_plain(self) -> dict[str, Any]:
        """Return all fields except the XML as JSON-compatible data."""
        plain = dataclasses.asdict(self)
        del plain["xml"]
        return plain

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], xml: bytes) -> Hybrid:
        """Return the hybrid from the output of `to_plain`."""
        return cls(
            xml,
            tuple(map(_attachment, plain["candidates"])),
            tuple(map(_attachment, plain["attachments"])),
            tuple(Fault(code, values) for code, values in plain["faults"]),
            plain["checks"],
            plain["signed"],
            plain["software"],
        )


def _attachment(plain: Mapping[str, Any]) -> Attachment:
    return Attachment(**{**plain, "sources": tuple(plain["sources"])})
