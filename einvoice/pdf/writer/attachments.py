"""The files that are attached to a PDF beside the invoice: those of BG-24, and further ones."""

from __future__ import annotations

import datetime
import hashlib
import mimetypes
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Final, TypeAlias

from einvoice.model.invoice import Invoice

#: Values of AFRelationship (ISO 19005-3, 6.8 and annex E).
RELATIONSHIPS: Final = ("Supplement", "Source", "Data", "Alternative", "Unspecified")
_MIME: Final = "application/octet-stream"
_MAX_NAME: Final = 200


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file to attach to a PDF.

    Attributes:
        name: its file name, without folders.
        data: its content.
        relationship: AFRelationship, one of `RELATIONSHIPS`; "Supplement" is for documents that support the invoice.
        description: a description, which PDF viewers show.
        mime: media type; "" derives it from the name.

    Raises:
        ValueError: the relationship is none of PDF/A-3, or the name is empty.
    """

    name: str
    data: bytes = field(repr=False)
    relationship: str = "Supplement"
    description: str = ""
    mime: str = ""

    def __post_init__(self) -> None:
        if self.relationship not in RELATIONSHIPS:
            raise ValueError(f"relationship must be one of {', '.join(RELATIONSHIPS)}, not {self.relationship!r}")
        if not self.name:
            raise ValueError("an attached file needs a name")


Source: TypeAlias = str | os.PathLike[str] | AttachedFile


def files_to_attach(sources: Iterable[Source]) -> list[AttachedFile]:
    """Return the files of paths, and those that are given as such.

    Raises:
        OSError: a file cannot be read.
    """
    return [it if isinstance(it, AttachedFile) else _of_path(Path(it)) for it in sources]


def _of_path(path: Path) -> AttachedFile:
    return AttachedFile(path.name, path.read_bytes())


def files_of_invoice(invoice: Invoice) -> Iterator[AttachedFile]:
    """Yield the files attached to the invoice (BT-125), named by BT-125-2, or else by the identifier (BT-122)."""
    for document in invoice.documents:
        attachment = document.attachment
        data = attachment.value if attachment else None
        if isinstance(data, bytes):
            mime = attachment.mime or ""
            name = _name(attachment.filename or f"{document.identifier.text or 'BG-24'}{_extension(mime)}")
            yield AttachedFile(name, data, description=document.description.text or "", mime=mime)


def _name(path: str) -> str:
    """Return a file name without folders and control characters."""
    name = PurePosixPath(path.replace("\\", "/")).name
    return "".join(it for it in name if it.isprintable())[-_MAX_NAME:] or "BG-24"


def _extension(mime: str) -> str:
    return mimetypes.guess_extension(mime) or ""


def renamed(
    files: Iterable[AttachedFile], taken: Sequence[tuple[str, bytes]], reserved: Iterable[str]
) -> list[AttachedFile]:
    """Return the files without those that are there already, with a number in names that are taken.

    Args:
        files: the files to attach.
        taken: name and content of the files in the PDF.
        reserved: names of invoices, which other files must not have.
    """
    there, added = set(taken), []
    names = {it.casefold() for it in (*(name for name, _ in taken), *reserved)}  # as readers compare them
    for file in files:
        if (file.name, file.data) in there:
            continue
        there.add((file.name, file.data))
        name, number = file.name, 2
        while name.casefold() in names:
            path = PurePosixPath(file.name)
            name, number = f"{path.stem} ({number}){path.suffix}", number + 1
        names.add(name.casefold())
        added.append(replace(file, name=name))
    return added


def file_specification(document: Any, file: AttachedFile, date: str) -> Any:
    """Return a new file specification in a PDF opened by pikepdf (ISO 32000-1, 7.11.3; ISO 19005-3, 6.8)."""
    from pikepdf import Dictionary, Name, String

    mime = file.mime or mimetypes.guess_type(file.name)[0] or _MIME
    checksum = String(hashlib.md5(file.data, usedforsecurity=False).digest())
    params = Dictionary(Size=len(file.data), CheckSum=checksum, CreationDate=String(date), ModDate=String(date))
    stream = document.make_stream(file.data, Type=Name.EmbeddedFile, Subtype=Name("/" + mime), Params=params)
    name = String(file.name)
    entries: dict[str, Any] = {
        "Type": Name.Filespec,
        "F": name,
        "UF": name,
        "AFRelationship": Name("/" + file.relationship),
        "EF": Dictionary(F=stream, UF=stream),
    }
    if file.description:
        entries["Desc"] = String(file.description)
    return document.make_indirect(Dictionary({f"/{key}": value for key, value in entries.items()}))


def pdf_date(when: datetime.datetime) -> str:
    """Return a date in PDF notation (ISO 32000-1, 7.9.4)."""
    return when.astimezone(datetime.UTC).strftime("D:%Y%m%d%H%M%SZ")
