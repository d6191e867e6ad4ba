"""The files that are attached to a PDF beside the invoice: those of BG-24, and further ones."""

from __future__ import annotations

import datetime
import functools
import hashlib
import mimetypes
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Final, TypeAlias

from einvoice.localization import Language, Messages
from einvoice.localization.options import language
from einvoice.model.invoice import Invoice
from einvoice.quotation import quote
from einvoice.syntax import xml

#: Values of AFRelationship (ISO 19005-3, 6.8 and annex E).
RELATIONSHIPS: Final = ("Supplement", "Source", "Data", "Alternative", "Unspecified")
LIMIT: Final = xml.DEFAULT.bytes
"""Maximum size of a PDF, and so of an attached file (bytes)."""
_MIME: Final = "application/octet-stream"
_MAX_NAME: Final = 200
_MEDIA_TYPE: Final = re.compile(r"[\w.+-]+/[\w.+-]+", re.ASCII)
_UNSEEN: Final = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Categories of control and format characters, line breaks, and halves of characters."""
_NUMBER: Final = re.compile(r" \(\d+\)\Z")
_MESSAGES: Final = Messages("einvoice.pdf", "attach")


class NotAttachable(ValueError):  # noqa: N818 (names the state)
    """A file cannot be attached; `text` says why, and what to do.

    Attributes:
        reason: key of the text, such as "name".
        values: placeholder values of the text.
    """

    def __init__(self, reason: str, **values: str | int) -> None:
        self.reason = reason
        self.values = values
        super().__init__(self.text("en"))

    def text(self, lang: Language | None = None) -> str:
        """Return why, in a language; default: `einvoice.options.lang`."""
        return _MESSAGES[language(lang)][self.reason].format(**self.values)

    def __reduce__(self) -> tuple[Any, ...]:
        return functools.partial(type(self), self.reason, **self.values), ()


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
        NotAttachable: the relationship is none of PDF/A-3; the name is empty or has a folder or invisible characters;
            the description has characters that no text has; the media type is none; the content is no bytes.
    """

    name: str
    data: bytes = field(repr=False)
    relationship: str = "Supplement"
    description: str = ""
    mime: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise NotAttachable("no_name", found=quote(repr(self.name)))
        name = quote(self.name, limit=_MAX_NAME)
        if not isinstance(self.data, bytes):
            raise NotAttachable("data", name=name, found=type(self.data).__name__)
        if self.name in (".", "..") or re.search(r"[/\\]", self.name):
            raise NotAttachable("folder", name=name)
        if any(map(_is_unseen, self.name)):
            raise NotAttachable("name", name=name)
        if self.relationship not in RELATIONSHIPS:
            known = ", ".join(RELATIONSHIPS)
            raise NotAttachable("relationship", name=name, found=quote(str(self.relationship)), known=known)
        if not isinstance(self.description, str) or any(map(_is_unseen, re.sub(r"[\t\r\n]", "", self.description))):
            raise NotAttachable("description", name=name, found=quote(str(self.description)))
        if self.mime and not (isinstance(self.mime, str) and _MEDIA_TYPE.fullmatch(self.mime)):
            raise NotAttachable("mime", name=name, found=quote(str(self.mime)))


def _is_unseen(character: str) -> bool:
    return unicodedata.category(character) in _UNSEEN


Source: TypeAlias = str | os.PathLike[str] | AttachedFile


def files_to_attach(sources: Iterable[Source]) -> list[AttachedFile]:
    """Return the files of paths, and those that are given as such.

    Raises:
        NotAttachable: a file is larger than a PDF may be, or its name is none for an attachment.
        OSError: a file cannot be read.
    """
    return [it if isinstance(it, AttachedFile) else file_at(Path(it)) for it in sources]


def file_at(path: Path, relationship: str = RELATIONSHIPS[0], description: str = "") -> AttachedFile:
    """Return the file of a path.

    Raises:
        NotAttachable: it is larger than a PDF may be, or cannot be attached; see `AttachedFile`.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        data = file.read(LIMIT + 1)
    if len(data) > LIMIT:
        raise NotAttachable("file_size", name=quote(str(path), limit=_MAX_NAME), limit=LIMIT)
    return AttachedFile(path.name, data, relationship, description)


def files_of_invoice(invoice: Invoice) -> Iterator[AttachedFile]:
    """Yield the files attached to the invoice (BT-125), named by BT-125-2, or else by the identifier (BT-122)."""
    for document in invoice.documents:
        attachment = document.attachment
        data = attachment.value if attachment else None
        if isinstance(data, bytes):
            mime = attachment.mime if attachment.mime and _MEDIA_TYPE.fullmatch(attachment.mime) else ""
            name = _name(attachment.filename or f"{document.identifier.text or 'BG-24'}{_extension(mime)}")
            description = "".join(it for it in document.description.text or "" if not _is_unseen(it) or it in "\t\n")
            yield AttachedFile(name, data, description=description, mime=mime)


def _name(path: str) -> str:
    """Return a file name without folders and control characters."""
    name = PurePosixPath(path.replace("\\", "/")).name
    name = "".join(it for it in name if it.isprintable())[-_MAX_NAME:]
    return name if name.strip(".") else "BG-24"


def _extension(mime: str) -> str:
    return mimetypes.guess_extension(mime) or ""


def renamed(
    files: Iterable[AttachedFile], taken: Sequence[tuple[str, bytes | None]], reserved: Iterable[str]
) -> list[AttachedFile]:
    """Return the files without those that are there already, be it with a number; add one to names that are taken.

    Args:
        files: the files to attach.
        taken: name and content of the files in the PDF; None if it is unknown.
        reserved: names of invoices, which other files must not have.
    """
    there, added = {(_unnumbered(name), data) for name, data in taken}, []
    names = {it.casefold() for it in (*(name for name, _ in taken), *reserved)}  # as readers compare them
    for file in files:
        if (_unnumbered(file.name), file.data) in there:
            continue
        there.add((_unnumbered(file.name), file.data))
        name, number = file.name, 2
        while name.casefold() in names:
            path = PurePosixPath(file.name)
            name, number = f"{path.stem} ({number}){path.suffix}", number + 1
        names.add(name.casefold())
        added.append(replace(file, name=name))
    return added


def _unnumbered(name: str) -> str:
    path = PurePosixPath(name)
    return _NUMBER.sub("", path.stem) + path.suffix


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
