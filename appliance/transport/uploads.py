"""Uploads: multipart forms (RFC 7578) and plain bodies, parsed as a stream with limits enforced while reading.

The form parser of the web framework stores a body before it checks its size; this one checks first.
"""

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from multipart import MultipartError, MultipartSegment, PushMultipartParser, parse_options_header

from appliance.contract.problems import Problem, ProblemType

MAX_FILE_BYTES = 10_485_760
"""Maximum size of a file (10 MB)."""

MAX_FORM_BYTES = 1_048_576
"""Maximum size of a form without its files: part headers and other fields."""

_PIECE_BYTES: Final = 1 << 20
"""Size from which a piece of a file is passed on."""

INVALID_FORM = ProblemType("invalid_form", 422, example={"field": "file", "found": "application/json"})
_NO_BOUNDARY = ProblemType("invalid_form", 422, message="form_without_boundary")
_NAMELESS_PART = ProblemType("invalid_form", 422, message="part_without_name")
_INCOMPLETE_FORM = ProblemType("invalid_form", 422, message="incomplete_form")
_DAMAGED_FORM = ProblemType("invalid_form", 422, message="damaged_form")
NO_FILE = ProblemType("no_file", 422, example={"field": "file"})
TOO_MANY_FILES = ProblemType("too_many_files", 422, example={"field": "files", "limit": 10})
ONE_FILE_EXPECTED = ProblemType("one_file_expected", 422, example={"field": "file"})
EMPTY_FILE = ProblemType("empty_file", 422, example={"name": "invoice.xml"})
FILE_TOO_LARGE = ProblemType("file_too_large", 413, example={"name": "invoice.pdf", "limit": MAX_FILE_BYTES})
FORM_TOO_LARGE = ProblemType("form_too_large", 413, example={"limit": MAX_FORM_BYTES})
BODY_TOO_LARGE = ProblemType("body_too_large", 413, example={"limit": MAX_FILE_BYTES})
UPLOAD_TOO_SLOW = ProblemType("upload_too_slow", 408, example={"seconds": 60})


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file of a form; `name` is the file name of the part or, if there is none, the name of its field."""

    name: str
    content: bytes


@dataclass(slots=True)
class Form:
    """A form: its files in order, and its other fields; the last value of a repeated field wins."""

    files: list[UploadedFile] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FileField:
    """The form field for files.

    Attributes:
        name: name of the field.
        max_files: maximum number of files.
        excess_problem: problem type raised for more files.
        allow_empty: whether to accept empty files.
        max_bytes: maximum size of a file; None is `MAX_FILE_BYTES`.
        size_problem: problem type raised for larger files.
    """

    name: str
    max_files: int
    excess_problem: ProblemType
    allow_empty: bool = False
    max_bytes: int | None = None
    size_problem: ProblemType = FILE_TOO_LARGE


SINGLE_FILE = FileField("file", 1, ONE_FILE_EXPECTED)
BATCH_FILES = FileField("files", 10, TOO_MANY_FILES, allow_empty=True)


async def read_form(
    stream: AsyncIterable[bytes],
    content_type: str,
    file_field: FileField,
    *,
    seconds: float,
    reserve: Callable[[int], None] = lambda size: None,
    sink: Callable[[bytes], Awaitable[None]] | None = None,
) -> Form:
    """Read a form with at least one file. Reading stops at the first error.

    Args:
        stream: request body.
        content_type: request header Content-Type.
        file_field: field for the files.
        seconds: time limit; with a sink, for each mebibyte.
        reserve: called with the size of each chunk before it is kept; may raise Problem.
        sink: called with the content of a file, piece by piece; only the last piece remains in the form.

    Raises:
        Problem: the form is invalid, has no file or too many, is too large, or is too slow.
    """
    media_type, options = parse_options_header(content_type)
    if media_type != "multipart/form-data":
        raise Problem(INVALID_FORM, field=file_field.name, found=content_type)
    if not options.get("boundary"):
        raise Problem(_NO_BOUNDARY, field=file_field.name)
    failure, size = _DAMAGED_FORM, 0
    try:
        reader = _FormReader(options["boundary"], file_field)
        async with asyncio.timeout(seconds) as limit:
            async for chunk in stream:
                if chunk:  # the last one is empty
                    reserve(len(chunk))
                    size += len(chunk)
                    reader.feed(chunk)
                if sink is not None and len(reader.content) >= _PIECE_BYTES:
                    await sink(reader.take())
                    limit.reschedule(asyncio.get_running_loop().time() + seconds)
        failure = _INCOMPLETE_FORM
        return reader.form()
    except MultipartError as error:
        error.__traceback__ = None  # it refers to the content, and to the parser, which keeps the error
        raise Problem(failure, field=file_field.name, size=size, reason=str(error)) from None
    except TimeoutError:
        raise Problem(UPLOAD_TOO_SLOW, seconds=round(seconds)) from None


async def read_body(stream: AsyncIterable[bytes], *, seconds: float, reserve: Callable[[int], None]) -> bytes:
    """Read a body that is not a form; `seconds` and `reserve` as in `read_form`.

    Raises:
        Problem: the body is too large or too slow.
    """
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for chunk in stream:
                reserve(len(chunk))
                body += chunk
                if len(body) > MAX_FILE_BYTES:
                    raise Problem(BODY_TOO_LARGE, limit=MAX_FILE_BYTES)
    except TimeoutError:
        raise Problem(UPLOAD_TOO_SLOW, seconds=round(seconds)) from None
    return bytes(body)


class _FormReader:
    """Builds a form from the events of the multipart parser and enforces the limits."""

    def __init__(self, boundary: str, file_field: FileField) -> None:
        self._parser = PushMultipartParser(boundary, header_charset=_HEADER_CHARSET)
        self._file_field = file_field
        self._form = Form()
        self._received = 0
        self._file_bytes = 0
        self._name = ""
        self._file_name = ""
        self._size = 0
        self.content = bytearray()

    def take(self) -> bytes:
        """Return, and no longer keep, what has been read of a file."""
        if not self._is_file():
            return b""
        content, self.content = bytes(self.content), bytearray()
        return content

    def feed(self, chunk: bytes) -> None:
        self._received += len(chunk)
        for event in self._parser.parse(chunk):
            if event is None:
                self._end_part()
            elif isinstance(event, MultipartSegment):
                self._begin_part(event)
            else:
                self._add_content(event)
        if self._received - self._file_bytes > MAX_FORM_BYTES:
            raise Problem(FORM_TOO_LARGE, limit=MAX_FORM_BYTES)

    def form(self) -> Form:
        self._parser.close()  # raises an error if the end is missing
        if not self._form.files:
            raise Problem(NO_FILE, field=self._file_field.name)
        return self._form

    def _begin_part(self, part: MultipartSegment) -> None:
        if not part.name:
            raise Problem(_NAMELESS_PART, field=self._file_field.name)
        field = self._file_field
        self._name = _utf8(part.name)
        self._file_name = _utf8(part.filename or "") or field.name
        self._size = 0
        self.content = bytearray()  # not a list: its many blocks would stay in the heap after the response
        if self._is_file() and len(self._form.files) >= field.max_files:
            raise Problem(field.excess_problem, field=field.name, limit=field.max_files)

    def _add_content(self, content: bytes) -> None:
        field = self._file_field
        if self._is_file():
            self._file_bytes += len(content)
            self._size += len(content)
            limit = field.max_bytes or MAX_FILE_BYTES
            if self._size > limit:
                raise Problem(field.size_problem, name=self._file_name, limit=limit, megabytes=limit >> 20)
        self.content += content

    def _end_part(self) -> None:
        if not self._is_file():
            self._form.fields[self._name] = self.content.decode(errors="replace")
        elif self._size or self._file_field.allow_empty:
            self._form.files.append(UploadedFile(self._file_name, bytes(self.content)))
        else:
            raise Problem(EMPTY_FILE, name=self._file_name)
        self.content = bytearray()

    def _is_file(self) -> bool:
        return self._name == self._file_field.name


_HEADER_CHARSET: Final = "latin-1"
"""Reads any bytes: old clients send file names in other encodings than UTF-8."""


def _utf8(text: str) -> str:
    """Return what was read from a header, decoded as UTF-8; other bytes are replaced."""
    return text.encode(_HEADER_CHARSET).decode(errors="replace")
