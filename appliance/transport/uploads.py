"""Uploads: multipart forms (RFC 7578) and plain bodies, parsed as a stream with limits enforced while reading.

The form parser of the web framework stores a body before it checks its size; this one checks first.
"""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterable, Callable
from dataclasses import dataclass, field

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from appliance.contract.problems import Problem, ProblemType

MAX_FILE_BYTES = 10_485_760
"""Maximum size of a file (10 MB)."""

MAX_FORM_BYTES = 1_048_576
"""Maximum size of a form without its files: part headers and other fields."""

INVALID_FORM = ProblemType("invalid_form", 422)
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
    """

    name: str
    max_files: int
    excess_problem: ProblemType
    allow_empty: bool = False


SINGLE_FILE = FileField("file", 1, ONE_FILE_EXPECTED)
BATCH_FILES = FileField("files", 10, TOO_MANY_FILES, allow_empty=True)


async def read_form(
    stream: AsyncIterable[bytes],
    content_type: str,
    file_field: FileField,
    *,
    seconds: float,
    reserve: Callable[[int], None] = lambda size: None,
) -> Form:
    """Read a form with at least one file. Reading stops at the first error.

    Args:
        stream: request body.
        content_type: request header Content-Type.
        file_field: field for the files.
        seconds: time limit.
        reserve: called with the size of each chunk before it is kept; may raise Problem.

    Raises:
        Problem: the form is invalid, has no file or too many, is too large, or is too slow.
    """
    media_type, options = _parse_options(content_type.encode("latin-1"))
    if media_type != b"multipart/form-data" or not options.get(b"boundary"):
        raise Problem(INVALID_FORM)
    with contextlib.closing(_FormReader(options[b"boundary"], file_field)) as reader:
        try:
            async with asyncio.timeout(seconds):
                async for chunk in stream:
                    if chunk:  # the last one is empty
                        reserve(len(chunk))
                        reader.feed(chunk)
        except FormParserError:
            raise Problem(INVALID_FORM) from None
        except TimeoutError:
            raise Problem(UPLOAD_TOO_SLOW, seconds=round(seconds)) from None
        return reader.form()


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


_USUAL_OPTIONS = re.compile(
    rb'(multipart/form-data); boundary=([A-Za-z0-9_-]+)|(form-data); name="([^"\\]*)"(?:; filename="([^"\\]*)")?'
)


def _parse_options(value: bytes) -> tuple[bytes, dict[bytes, bytes]]:
    """Return a header value, as `parse_options_header` does: the value in lower case, and its parameters by name.

    Nearly all clients send one of two forms, which a pattern reads in a tenth of the time.
    """
    match = _USUAL_OPTIONS.fullmatch(value)
    if match is None:
        return parse_options_header(value.decode("latin-1"))
    media_type, boundary, disposition, name, filename = match.groups()
    if media_type is not None:
        return media_type, {b"boundary": boundary}
    return disposition, {b"name": name} if filename is None else {b"name": name, b"filename": filename}


class _FormReader:
    """Builds a form from the events of the multipart parser and enforces the limits.

    The parser and its reader refer to each other. `close` separates them, so that the content is released with the
    last reference to it, not when the garbage collector runs.
    """

    def __init__(self, boundary: bytes, file_field: FileField) -> None:
        self._file_field = file_field
        self._form = Form()
        self._received = 0
        self._file_bytes = 0
        self._complete = False
        self._header_name = bytearray()
        self._header_value = bytearray()
        self._disposition: dict[bytes, bytes] = {}
        self._content = bytearray()
        self._is_file = False
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._on_part_begin,
                "on_header_field": self._on_header_name,
                "on_header_value": self._on_header_value,
                "on_header_end": self._on_header_end,
                "on_headers_finished": self._on_headers_end,
                "on_part_data": self._on_content,
                "on_part_end": self._on_part_end,
                "on_end": self._on_end,
            },
        )

    def feed(self, chunk: bytes) -> None:
        self._received += len(chunk)
        self._parser.write(chunk)
        if self._received - self._file_bytes > MAX_FORM_BYTES:
            raise Problem(FORM_TOO_LARGE, limit=MAX_FORM_BYTES)

    def close(self) -> None:
        del self._parser

    def form(self) -> Form:
        if not self._complete:
            raise Problem(INVALID_FORM)
        if not self._form.files:
            raise Problem(NO_FILE, field=self._file_field.name)
        return self._form

    def _on_part_begin(self) -> None:
        self._disposition = {}
        self._content = bytearray()

    def _on_header_name(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _on_header_end(self) -> None:
        if self._header_name.lower() == b"content-disposition":
            _, self._disposition = _parse_options(bytes(self._header_value))
        self._header_name.clear()
        self._header_value.clear()

    def _on_headers_end(self) -> None:
        if b"name" not in self._disposition:
            raise Problem(INVALID_FORM)
        field = self._file_field
        self._is_file = self._text(b"name") == field.name
        if self._is_file and len(self._form.files) >= field.max_files:
            raise Problem(field.excess_problem, field=field.name, limit=field.max_files)

    def _on_content(self, data: bytes, start: int, end: int) -> None:
        if self._is_file:
            self._file_bytes += end - start
            if len(self._content) + end - start > MAX_FILE_BYTES:
                raise Problem(FILE_TOO_LARGE, name=self._file_name(), limit=MAX_FILE_BYTES)
        self._content += data[start:end]

    def _on_part_end(self) -> None:
        if not self._is_file:
            self._form.fields[self._text(b"name")] = self._content.decode(errors="replace")
            return
        if not self._content and not self._file_field.allow_empty:
            raise Problem(EMPTY_FILE, name=self._file_name())
        self._form.files.append(UploadedFile(self._file_name(), bytes(self._content)))

    def _on_end(self) -> None:
        self._complete = True

    def _file_name(self) -> str:
        return self._text(b"filename") or self._file_field.name

    def _text(self, option: bytes) -> str:
        return self._disposition.get(option, b"").decode(errors="replace")
