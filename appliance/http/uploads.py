"""Uploads: a form (RFC 7578) or a JSON document, taken in as it streams, and never more of it than is allowed.

The web framework's own form handling stores everything first and counts later; here the count comes first.
"""

from collections.abc import AsyncIterable, Callable
from dataclasses import dataclass, field

import anyio
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from appliance.problems import Problem, ProblemKind, Words

FILE_LIMIT = 10_485_760
"""Bytes of one file at most (10 MB)."""

FRAME_LIMIT = 1_048_576
"""Bytes of everything in a form that is no file: the headers of its parts, and its other fields."""

INVALID_FORM = ProblemKind(
    "invalid_form",
    422,
    de=Words("Kein gültiges Formular", "Der Inhalt ist kein vollständiges Formular der Art multipart/form-data."),
    en=Words("Not a valid form", "The body is not a complete form of the type multipart/form-data."),
)
NO_FILE = ProblemKind(
    "no_file",
    422,
    de=Words("Keine Datei", "Das Formular enthält keine Datei im Feld {field}."),
    en=Words("No file", "The form has no file in the field {field}."),
    example={"field": "file"},
)
TOO_MANY_FILES = ProblemKind(
    "too_many_files",
    422,
    de=Words("Zu viele Dateien", "Das Formular darf im Feld {field} höchstens {limit} Dateien enthalten."),
    en=Words("Too many files", "The form may have {limit} files at most in the field {field}."),
    example={"field": "files", "limit": 10},
)
ONE_FILE_EXPECTED = ProblemKind(
    "one_file_expected",
    422,
    de=Words("Mehr als eine Datei", "Das Formular darf im Feld {field} nur eine Datei enthalten."),
    en=Words("More than one file", "The form may have only one file in the field {field}."),
    example={"field": "file"},
)
EMPTY_FILE = ProblemKind(
    "empty_file",
    422,
    de=Words("Leere Datei", "Die Datei „{name}“ hat keinen Inhalt."),
    en=Words("Empty file", "The file “{name}” has no content."),
    example={"name": "invoice.xml"},
)
FILE_TOO_LARGE = ProblemKind(
    "file_too_large",
    413,
    de=Words("Datei zu groß", "Die Datei „{name}“ ist größer als {limit} Bytes (10 MB)."),
    en=Words("File too large", "The file “{name}” is larger than {limit} bytes (10 MB)."),
    example={"name": "invoice.pdf", "limit": FILE_LIMIT},
)
FORM_TOO_LARGE = ProblemKind(
    "form_too_large",
    413,
    de=Words("Formular zu groß", "Das Formular enthält neben der Datei mehr als {limit} Bytes."),
    en=Words("Form too large", "The form holds more than {limit} bytes beside the file."),
    example={"limit": FRAME_LIMIT},
)
BODY_TOO_LARGE = ProblemKind(
    "body_too_large",
    413,
    de=Words("Inhalt zu groß", "Der Inhalt der Anfrage ist größer als {limit} Bytes (10 MB)."),
    en=Words("Body too large", "The body of the request is larger than {limit} bytes (10 MB)."),
    example={"limit": FILE_LIMIT},
)
UPLOAD_TOO_SLOW = ProblemKind(
    "upload_too_slow",
    408,
    de=Words("Übertragung zu langsam", "Der Inhalt war nach {seconds} Sekunden noch nicht vollständig angekommen."),
    en=Words("Upload too slow", "The body had not arrived completely after {seconds} seconds."),
    example={"seconds": 60},
)


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file of a form; `name` is what the caller calls it, or else the name of its field."""

    name: str
    content: bytes


@dataclass(slots=True)
class Form:
    """A form: the files of its file field in their order, and the other fields; of a repeated field the last counts."""

    files: list[UploadedFile] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FileField:
    """The field of a form that carries the files.

    Attributes:
        name: of the field.
        most: so many files it may have.
        beyond: the problem of one more.
        may_be_empty: whether a file without content is taken in like any other.
    """

    name: str
    most: int
    beyond: ProblemKind
    may_be_empty: bool = False


async def read_form(
    stream: AsyncIterable[bytes],
    content_type: str,
    file_field: FileField,
    *,
    seconds: float,
    take: Callable[[int], None] = lambda size: None,
) -> Form:
    """Take in a form with at least one file; `take` is told of each piece's size before it is kept.

    Raises:
        Problem: the form is not valid, has no file or too many, or is too large or too slow, or `take` refuses.
            Nothing behind the place that shows it is read.
    """
    media_type, options = parse_options_header(content_type)
    if media_type != b"multipart/form-data" or not options.get(b"boundary"):
        raise Problem(INVALID_FORM)
    try:
        intake = _Intake(options[b"boundary"], file_field)
        with anyio.fail_after(seconds):
            async for chunk in stream:
                take(len(chunk))
                intake.take(chunk)
    except FormParserError:
        raise Problem(INVALID_FORM) from None
    except TimeoutError:
        raise Problem(UPLOAD_TOO_SLOW, seconds=round(seconds)) from None
    return intake.form()


async def read_body(stream: AsyncIterable[bytes], *, seconds: float, take: Callable[[int], None]) -> bytes:
    """Take in a body that is no form.

    Raises:
        Problem: it is too large or too slow, or `take` refuses.
    """
    body = bytearray()
    try:
        with anyio.fail_after(seconds):
            async for chunk in stream:
                take(len(chunk))
                body += chunk
                if len(body) > FILE_LIMIT:
                    raise Problem(BODY_TOO_LARGE, limit=FILE_LIMIT)
    except TimeoutError:
        raise Problem(UPLOAD_TOO_SLOW, seconds=round(seconds)) from None
    return bytes(body)


ONE_FILE = FileField("file", 1, ONE_FILE_EXPECTED)
TEN_FILES = FileField("files", 10, TOO_MANY_FILES, may_be_empty=True)


class _Intake:
    """Puts a form together from the parser's events, part by part, and counts."""

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
                "on_part_begin": self._begin_part,
                "on_header_field": self._take_header_name,
                "on_header_value": self._take_header_value,
                "on_header_end": self._end_header,
                "on_headers_finished": self._end_headers,
                "on_part_data": self._take_content,
                "on_part_end": self._end_part,
                "on_end": self._end,
            },
        )

    def take(self, chunk: bytes) -> None:
        self._received += len(chunk)
        self._parser.write(chunk)
        if self._received - self._file_bytes > FRAME_LIMIT:
            raise Problem(FORM_TOO_LARGE, limit=FRAME_LIMIT)

    def form(self) -> Form:
        if not self._complete:
            raise Problem(INVALID_FORM)
        if not self._form.files:
            raise Problem(NO_FILE, field=self._file_field.name)
        return self._form

    def _begin_part(self) -> None:
        self._disposition = {}
        self._content = bytearray()

    def _take_header_name(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]

    def _take_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _end_header(self) -> None:
        if self._header_name.lower() == b"content-disposition":
            _, self._disposition = parse_options_header(self._header_value.decode("latin-1"))
        self._header_name.clear()
        self._header_value.clear()

    def _end_headers(self) -> None:
        if b"name" not in self._disposition:
            raise Problem(INVALID_FORM)
        field = self._file_field
        self._is_file = self._text(b"name") == field.name
        if self._is_file and len(self._form.files) >= field.most:
            raise Problem(field.beyond, field=field.name, limit=field.most)

    def _take_content(self, data: bytes, start: int, end: int) -> None:
        if self._is_file:
            self._file_bytes += end - start
            if len(self._content) + end - start > FILE_LIMIT:
                raise Problem(FILE_TOO_LARGE, name=self._file_name(), limit=FILE_LIMIT)
        self._content += data[start:end]

    def _end_part(self) -> None:
        if not self._is_file:
            self._form.fields[self._text(b"name")] = self._content.decode(errors="replace")
            return
        if not self._content and not self._file_field.may_be_empty:
            raise Problem(EMPTY_FILE, name=self._file_name())
        self._form.files.append(UploadedFile(self._file_name(), bytes(self._content)))

    def _end(self) -> None:
        self._complete = True

    def _file_name(self) -> str:
        return self._text(b"filename") or self._file_field.name

    def _text(self, option: bytes) -> str:
        return self._disposition.get(option, b"").decode(errors="replace")
