"""What a hybrid PDF turned out to be: plain data that can travel between processes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, TypeAlias

Place: TypeAlias = Literal["names", "catalog", "page", "annotation", "unreferenced"]

LIMIT: Final = 10_485_760
"""So many bytes an attachment has at most, unpacked: as many as a file that is handed over."""


class Fault(NamedTuple):
    """Something that a check of the container found: the code of a catalog entry, and what its texts quote."""

    code: str
    values: Mapping[str, str | int]


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file embedded in a PDF, as the PDF describes it (ISO 32000-1, 7.11).

    Attributes:
        name: its file name, without folders.
        places: where the PDF refers to it: "names" (the list of embedded files), "catalog" (the associated files of
            the document), "page", "annotation"; "unreferenced" if nothing does and it was found by search.
        relationship: AFRelationship, such as "Alternative" or "Data"; "" where it is missing.
        mime: media type, such as "text/xml"; "" where it is missing.
        created, modified: dates as the PDF has them, such as "D:20260301110000Z"; "" where they are missing.
        size: bytes, unpacked; None where nobody looked: only what may be an invoice is unpacked.
        root: local name of the XML's root element; "" where it is no XML.
        guideline: the specification that the XML declares (BT-24), "" where there is none.
        problem: why the content cannot be had, English; "" where it can.
    """

    name: str
    places: tuple[Place, ...]
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
    """A PDF with an invoice embedded.

    Attributes:
        xml: the bytes of the attachment that was chosen.
        candidates: the attachments that may be the invoice, the best first: that one was chosen.
        attachments: all attachments, in the order in which they were found.
        faults: what the checks of the container found.
        checks: how many checks there are.
    """

    xml: bytes = field(repr=False)
    candidates: tuple[Attachment, ...]
    attachments: tuple[Attachment, ...]
    faults: tuple[Fault, ...] = ()
    checks: int = 0

    @property
    def chosen(self) -> Attachment:
        """The attachment that is the invoice."""
        return self.candidates[0]

    def to_plain(self) -> dict[str, Any]:
        """All but the XML, ready for JSON."""
        plain = dataclasses.asdict(self)
        del plain["xml"]
        return plain

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], xml: bytes) -> Hybrid:
        """The opposite of `to_plain`."""
        return cls(
            xml,
            tuple(_attachment(told) for told in plain["candidates"]),
            tuple(_attachment(told) for told in plain["attachments"]),
            tuple(Fault(code, values) for code, values in plain["faults"]),
            plain["checks"],
        )


def _attachment(told: Mapping[str, Any]) -> Attachment:
    return Attachment(**{**told, "places": tuple(told["places"])})
