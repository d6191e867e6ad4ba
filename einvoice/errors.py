"""What is raised, and nothing else: a finding in an invoice is a value, never an exception.

    EinvoiceError
    ├── UnreadableDocument            nobody can read this file; one subclass a cause
    │   ├── EmptyFile                 FILE-EMPTY
    │   ├── UnsupportedFormat         FILE-FORMAT            neither XML nor PDF
    │   ├── PdfNotRead                FILE-PDF               a PDF, and pikepdf, which opens those, is not installed
    │   ├── NoPdf                     FILE-NO-PDF            where a PDF is asked for
    │   ├── PdfDamaged                FILE-PDF-DAMAGED       beyond what can be repaired
    │   ├── PdfEncrypted              FILE-PDF-PASSWORD
    │   ├── PdfTooComplex             FILE-PDF-COMPLEX       needs more time or memory than it may have
    │   ├── PdfWithoutXml             FILE-PDF-NO-XML        no attachment is an invoice
    │   ├── EmbeddedNotUnpacked       FILE-PDF-UNPACK        the invoice is there, but cannot be decoded
    │   ├── UnsupportedEncoding       FILE-ENCODING
    │   ├── TooLarge                  FILE-SIZE
    │   ├── NotOpened                 FILE-OPEN              of many files: this one is missing, or may not be read
    │   ├── ArchiveNotRead            FILE-ARCHIVE           of many files: the ZIP or TAR is damaged, or too much
    │   ├── NotJudged                 FILE-WORKER            of many files: the process that judged this one ended
    │   ├── TooDeep                   FILE-DEPTH
    │   ├── TooManyElements           FILE-ELEMENTS
    │   ├── TooMuchWork               FILE-WORK              a server gave it up
    │   ├── DoctypeRefused            FILE-DOCTYPE
    │   ├── NotWellFormed             FILE-XML               any other breach of the XML grammar
    │   │   ├── TruncatedXml          FILE-XML-END
    │   │   ├── TagMismatch           FILE-XML-TAG
    │   │   ├── BadReference          FILE-XML-REFERENCE     a stray & or an unknown &name;
    │   │   ├── ForbiddenCharacter    FILE-XML-CHARACTER
    │   │   ├── WrongBytes            FILE-XML-BYTES         bytes that are not the declared encoding
    │   │   ├── MisplacedDeclaration  FILE-XML-DECLARATION
    │   │   └── EmbeddedNotWellFormed FILE-PDF-XML           the XML in a PDF
    │   └── UnknownRoot               FILE-ROOT              XML, but none of the invoice documents
    │       ├── ZugferdOne            FILE-ZUGFERD-1
    │       ├── OrderX                FILE-ORDER-X
    │       └── UblInPdf              FILE-PDF-UBL
    ├── DraftError                    a draft that is none; its wrong places
    ├── FindingsError                 raised on request, by `raise_for_findings()`
    ├── RuleError                     a rule file is wrong
    ├── PdfRefused                    this PDF cannot take an invoice in: it is encrypted or damaged
    ├── ToolsMissing                  what makes or changes PDFs is not installed
    ├── SchemaFilesError              the XML schemas are missing or damaged (stands in `einvoice.syntax.schema.d16b`)
    └── ConfigurationRefused          an official artefact is refused (in `einvoice.reference.bundles.errors`)

`str(error)` is one English sentence. The full text in German and English (title, explanation, fix) stands in the
catalog under the error's code, in `rules/file/<CODE>.toml`, with `error.values` for its placeholders.
"""

from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from typing import Any, ClassVar, NamedTuple, Protocol

QUOTED = 40
"""So many characters of a document an error quotes at most: errors travel into logs and into answers."""


def quote(text: str, *, most: int = QUOTED, keep_end: bool = False) -> str:
    """Return `text` fit for a message: `most` characters of it, control characters escaped.

    What is cut off is the end, or with `keep_end` the beginning: of a namespace the last words tell most.

    >>> quote("Müller & Co\\n", most=10)
    'Müller & …'
    >>> quote("a\\0b")
    'a\\\\x00b'
    """
    if len(text) > most:
        text = "…" + text[1 - most :] if keep_end else text[: most - 1] + "…"
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


class EinvoiceError(Exception):
    """The root: catches everything this package raises of its own."""


class UnreadableDocument(EinvoiceError):  # noqa: N818 (its subclasses name causes, and read better so)
    """Input that nobody can read as an invoice.

    Attributes:
        code: stable, the key of the catalog entry (`FILE-…`).
        problem: stable, snake_case, the `code` of the HTTP problem.
        line, column: where in the file, counted from 1, in characters; None if it is no matter of a place.
        values: what the texts quote, by the names in `sentence`; and `line` and `column` where they are known.
    """

    code: ClassVar[str]
    problem: ClassVar[str]
    sentence: ClassVar[str]

    def __init__(self, *, line: int | None = None, column: int | None = None, **values: str | int) -> None:
        place = {name: number for name, number in (("line", line), ("column", column)) if number is not None}
        self.line = line
        self.column = column
        self.values: dict[str, str | int] = {**values, **place}
        where = ", ".join(f"{name} {number}" for name, number in place.items())
        super().__init__(self.sentence.format(**values) + (f" ({where})" if where else ""))

    def __reduce__(self) -> tuple[Any, ...]:
        # Worker processes send errors home, and the default would call the class without its values.
        values: dict[str, Any] = self.values
        return partial(type(self), **values), ()


class EmptyFile(UnreadableDocument):
    """The file has no content, or white space only."""

    code = "FILE-EMPTY"
    problem = "empty_file"
    sentence = "The file is empty."


class UnsupportedFormat(UnreadableDocument):
    """The file is neither XML nor PDF; `found` says what it looks like."""

    code = "FILE-FORMAT"
    problem = "unsupported_file"
    sentence = "The file is neither XML nor PDF; found: {found}."


class PdfNotRead(UnreadableDocument):
    """A PDF, perhaps a hybrid invoice; the extra `pdf` of this package, which reads those, is not installed."""

    code = "FILE-PDF"
    problem = "pdf_not_supported"
    sentence = "The file is a PDF; to read those, install einvoice-toolkit with its extra 'pdf'."


class NoPdf(UnreadableDocument):
    """The file is no PDF, where one is asked for; `found` says what it looks like."""

    code = "FILE-NO-PDF"
    problem = "no_pdf"
    sentence = "The file is not a PDF; found: {found}."


class PdfDamaged(UnreadableDocument):
    """A PDF whose structure is broken beyond repair; `reason` is the PDF reader's own, English."""

    code = "FILE-PDF-DAMAGED"
    problem = "damaged_pdf"
    sentence = "The PDF is damaged and cannot be opened: {reason}"


class PdfEncrypted(UnreadableDocument):
    """A PDF that asks for a password before it can be opened."""

    code = "FILE-PDF-PASSWORD"
    problem = "encrypted_pdf"
    sentence = "The PDF is encrypted and opens with a password only."


class PdfTooComplex(UnreadableDocument):
    """A PDF that needs more time or memory to read than it may have."""

    code = "FILE-PDF-COMPLEX"
    problem = "too_complex"
    sentence = "The PDF needs more than {megabytes} MB of memory or {seconds} seconds to be read."


class PdfWithoutXml(UnreadableDocument):
    """A PDF in which nothing is embedded that could be the invoice; `found` names what is, "–" if nothing."""

    code = "FILE-PDF-NO-XML"
    problem = "no_embedded_xml"
    sentence = "The PDF has no invoice in XML embedded in it; attachments found: {found}"


class EmbeddedNotUnpacked(UnreadableDocument):
    """The attachment `name` is the invoice, but its bytes cannot be had; `reason` says why, in English."""

    code = "FILE-PDF-UNPACK"
    problem = "embedded_xml_not_unpacked"
    sentence = "The attachment {name} of the PDF cannot be unpacked: {reason}"


class UnsupportedEncoding(UnreadableDocument):
    """The XML is written in a character encoding that is not read here."""

    code = "FILE-ENCODING"
    problem = "unsupported_encoding"
    sentence = "The character encoding {encoding} is not supported; use UTF-8."


class TooLarge(UnreadableDocument):
    """The file has more bytes than the limit."""

    code = "FILE-SIZE"
    problem = "file_too_large"
    sentence = "The file is larger than {limit} bytes."


class NotOpened(UnreadableDocument):
    """One of many files cannot be opened; `reason` is the system's own, English. Of a single file `OSError` says it."""

    code = "FILE-OPEN"
    problem = "file_not_opened"
    sentence = "The file cannot be opened: {reason}."


class ArchiveNotRead(UnreadableDocument):
    """A ZIP or TAR, or a file in one, cannot be unpacked, or not within the limits; `reason` says why, in English."""

    code = "FILE-ARCHIVE"
    problem = "archive_not_read"
    sentence = "The archive cannot be read from here on: {reason}."


class NotJudged(UnreadableDocument):
    """One of many files cost the process that judged it its life, for want of memory perhaps; `reason` in English."""

    code = "FILE-WORKER"
    problem = "not_judged"
    sentence = "The process that judged the file came to no end: {reason}."


class TooDeep(UnreadableDocument):
    """Elements are nested more deeply than any invoice needs."""

    code = "FILE-DEPTH"
    problem = "too_complex"
    sentence = "Elements are nested more than {limit} levels deep."


class TooManyElements(UnreadableDocument):
    """The XML has more elements, or more attributes, than the limit."""

    code = "FILE-ELEMENTS"
    problem = "too_complex"
    sentence = "The document has more than {limit} elements or attributes."


class TooMuchWork(UnreadableDocument):
    """Judging the file took more time or memory than whoever judges allows; raised by servers, not by `validate`."""

    code = "FILE-WORK"
    problem = "too_complex"
    sentence = "Judging the file takes more than {seconds} seconds or {megabytes} MB of memory."


class DoctypeRefused(UnreadableDocument):
    """The XML has a document type declaration, which could define entities; invoices need none."""

    code = "FILE-DOCTYPE"
    problem = "doctype_refused"
    sentence = "A document type declaration (DOCTYPE) is not allowed in an invoice."


class NotWellFormed(UnreadableDocument):
    """The file is not well-formed XML; `reason` is the parser's own, English."""

    code = "FILE-XML"
    problem = "not_well_formed"
    sentence = "The file is not well-formed XML: {reason}."


class TruncatedXml(NotWellFormed):
    """The file ends before its last element is closed."""

    code = "FILE-XML-END"
    sentence = "The XML ends too early: the file is cut off or a closing tag is missing."


class TagMismatch(NotWellFormed):
    """An element is closed by another name than the one it was opened with."""

    code = "FILE-XML-TAG"
    sentence = "The element <{opened}>, opened on line {opened_line}, is closed by </{closed}>."


class BadReference(NotWellFormed):
    """An ampersand stands alone, or names an entity that XML does not know."""

    code = "FILE-XML-REFERENCE"
    sentence = "An '&' must be written as '&amp;', and of named characters XML knows only five."


class ForbiddenCharacter(NotWellFormed):
    """A control character, such as NUL, that XML does not allow."""

    code = "FILE-XML-CHARACTER"
    sentence = "The file contains a character that XML does not allow."


class WrongBytes(NotWellFormed):
    """The bytes are not in the encoding that the file declares (UTF-8 if it declares none)."""

    code = "FILE-XML-BYTES"
    sentence = "The file contains bytes that are not {encoding}, the encoding it declares."


class MisplacedDeclaration(NotWellFormed):
    """Something, be it a blank line, stands before the XML declaration."""

    code = "FILE-XML-DECLARATION"
    sentence = "The XML declaration '<?xml … ?>' must be the very first thing in the file."


class EmbeddedNotWellFormed(NotWellFormed):
    """The XML embedded in a PDF as `name` is not well-formed; line and column are those of the XML."""

    code = "FILE-PDF-XML"
    problem = "embedded_xml_not_well_formed"
    sentence = "The XML embedded in the PDF, {name}, is not well-formed: {reason}"


class UnknownRoot(UnreadableDocument):
    """Well-formed XML whose root element is none of the three invoice documents."""

    code = "FILE-ROOT"
    problem = "unknown_root_element"
    sentence = "The root element '{name}' in the namespace '{namespace}' is not an invoice in UBL or CII."


class ZugferdOne(UnknownRoot):
    """ZUGFeRD 1.x: an invoice, but from before EN 16931."""

    code = "FILE-ZUGFERD-1"
    problem = "zugferd_1"
    sentence = "This is an invoice in ZUGFeRD 1.x, which is older than EN 16931 and not judged here."


class OrderX(UnknownRoot):
    """Order-X: an order, not an invoice."""

    code = "FILE-ORDER-X"
    problem = "order_x"
    sentence = "This is an order in Order-X, not an invoice."


class UblInPdf(UnknownRoot):
    """A PDF with an invoice in UBL embedded: ZUGFeRD and Factur-X embed CII, and nothing else."""

    code = "FILE-PDF-UBL"
    problem = "ubl_in_pdf"
    sentence = "The invoice embedded in the PDF, {name}, is written in UBL; hybrid invoices embed CII."


class DraftProblem(NamedTuple):
    """One place of a draft that is wrong: its JSON pointer (RFC 6901), and what is wrong in English and German."""

    pointer: str
    en: str
    de: str

    def message(self, lang: str = "de") -> str:
        """What is wrong, and what to do."""
        return self.de if lang == "de" else self.en

    def below(self, pointer: str) -> "DraftProblem":
        """The same, seen from further up."""
        return self._replace(pointer=pointer + self.pointer)

    @classmethod
    def of_amount(cls, pointer: str, *, expected: Decimal, actual: Decimal) -> "DraftProblem":
        """An amount that is given, and that is another one than what the draft comes to."""
        wanted, found = f"{expected:f}", quote(f"{actual:f}")
        return cls(
            pointer,
            en=f"Calculated is {wanted}, given is {found}; leave the field out, or correct what it is the sum of.",
            de=f"Errechnet ist {wanted}, angegeben ist {found}; das Feld weglassen oder berichtigen, woraus es folgt.",
        )


class DraftError(EinvoiceError):
    """A draft that no invoice can be made from: no JSON, or fields that are wrong.

    Attributes:
        code: stable, the `code` of the HTTP problem.
        errors: every wrong place, but no more than some hundred.
        line, column: where JSON stops being JSON, counted from 1; None where that is not the matter.
    """

    code: ClassVar[str] = "invalid_draft"

    def __init__(self, errors: Sequence[DraftProblem], *, line: int | None = None, column: int | None = None) -> None:
        self.errors = tuple(errors)
        self.line = line
        self.column = column
        super().__init__(" ".join(f"{it.pointer}: {it.en}" if it.pointer else it.en for it in self.errors))

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), line=self.line, column=self.column), (self.errors,)


class _Finding(Protocol):
    @property
    def code(self) -> str: ...


class _Result(Protocol):
    @property
    def errors(self) -> Sequence[_Finding]: ...


class FindingsError(EinvoiceError):
    """The invoice has errors and the caller asked for an exception; `result` holds them all."""

    def __init__(self, result: _Result) -> None:
        self.result = result
        codes = ", ".join(dict.fromkeys(finding.code for finding in result.errors))
        super().__init__(f"The invoice is not valid: {codes}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.result,)


class RuleError(EinvoiceError):
    """A rule file is wrong: says in which file, at which key and column, what, and what was perhaps meant."""

    def __init__(self, message: str, *, file: str, key: str = "", column: int | None = None, hint: str = "") -> None:
        self.message = message
        self.file = file
        self.key = key
        self.column = column
        self.hint = hint
        place = ", ".join(filter(None, (file, key, f"column {column}" if column is not None else "")))
        super().__init__(f"{place}: {message}" + (f" ({hint})" if hint else ""))

    def __reduce__(self) -> tuple[Any, ...]:
        place: dict[str, Any] = {"file": self.file, "key": self.key, "column": self.column, "hint": self.hint}
        return partial(type(self), self.message, **place), ()


class PdfRefused(EinvoiceError):  # noqa: N818 (says what happened)
    """A PDF that no invoice can be put into; `cause` is `encrypted` or `damaged`."""

    _SENTENCES: ClassVar = {
        "encrypted": "The PDF is encrypted. Hybrid invoices must not be; save it without a password.",
        "damaged": "The PDF is damaged and cannot be opened.",
    }

    def __init__(self, cause: str) -> None:
        self.cause = cause
        super().__init__(self._SENTENCES[cause])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.cause,)


class ToolsMissing(EinvoiceError):  # noqa: N818 (says what happened)
    """What makes or changes PDFs is not installed: `tool` is the Python package, `extra` what to install it with.

    `libraries` are packages of the system (Debian, Ubuntu) that the tool needs besides.
    """

    def __init__(self, tool: str, *, extra: str, libraries: Sequence[str] = ()) -> None:
        self.tool = tool
        self.extra = extra
        self.libraries = tuple(libraries)
        sentence = f"PDFs need {tool}: pip install 'einvoice-toolkit[{extra}]'"
        if libraries:
            sentence += f", and on Debian or Ubuntu: apt-get install {' '.join(libraries)}"
        super().__init__(sentence)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), self.tool, extra=self.extra, libraries=self.libraries), ()
