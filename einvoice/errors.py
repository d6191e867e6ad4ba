"""Exceptions. A finding in an invoice is a value and never raised.

    EinvoiceError
    ├── UnreadableDocument              the file cannot be read as an invoice; one subclass per cause
    │   ├── EmptyFile                   FILE-EMPTY
    │   ├── UnsupportedFormat           FILE-FORMAT           neither XML nor PDF
    │   ├── EmptyArchive                FILE-ARCHIVE-EMPTY    a ZIP without files
    │   ├── PdfSupportMissing           FILE-PDF              a PDF, but pikepdf is not installed
    │   ├── NotAPdf                     FILE-NO-PDF           a PDF is required
    │   ├── PdfDamaged                  FILE-PDF-DAMAGED      cannot be repaired
    │   ├── PdfEncrypted                FILE-PDF-PASSWORD
    │   ├── PdfTooComplex               FILE-PDF-COMPLEX      exceeds the time or memory limit
    │   ├── PdfWithoutXml               FILE-PDF-NO-XML       no attachment is an invoice
    │   ├── EmbeddedXmlUnreadable       FILE-PDF-UNPACK       the invoice is attached, but cannot be decoded
    │   ├── UnsupportedEncoding         FILE-ENCODING
    │   ├── TooLarge                    FILE-SIZE
    │   ├── FileNotReadable             FILE-OPEN             bulk validation: missing file or no permission
    │   ├── ArchiveUnreadable           FILE-ARCHIVE          bulk validation: damaged or oversized ZIP or TAR
    │   ├── ArchiveMemberUnreadable     FILE-MEMBER           bulk validation: an encrypted or damaged file of a ZIP
    │   ├── WorkerCrashed               FILE-WORKER           bulk validation: the worker process exited
    │   ├── TooDeep                     FILE-DEPTH
    │   ├── TooManyElements             FILE-ELEMENTS
    │   ├── TooManyAttributes           FILE-ATTRIBUTES
    │   ├── NamespaceTooLong            FILE-NAMESPACE
    │   ├── ResourceLimitExceeded       FILE-WORK             a server aborted the validation
    │   ├── DoctypeForbidden            FILE-DOCTYPE
    │   ├── NotWellFormed               FILE-XML              any other XML syntax error
    │   │   ├── TruncatedXml            FILE-XML-END
    │   │   ├── TagMismatch             FILE-XML-TAG
    │   │   ├── BadReference            FILE-XML-REFERENCE    an unescaped & or an undefined entity
    │   │   ├── ForbiddenCharacter      FILE-XML-CHARACTER
    │   │   ├── EncodingMismatch        FILE-XML-BYTES        bytes that are invalid in the declared encoding
    │   │   ├── MisplacedDeclaration    FILE-XML-DECLARATION
    │   │   └── EmbeddedXmlNotWellFormed FILE-PDF-XML         the XML in a PDF
    │   └── UnknownRoot                 FILE-ROOT             XML, but not a supported invoice document
    │       ├── ZugferdV1               FILE-ZUGFERD-1
    │       ├── OrderX                  FILE-ORDER-X
    │       └── UblInPdf                FILE-PDF-UBL
    ├── DraftError                      an invalid draft, with every error in it
    ├── FindingsError                   raised by `raise_for_findings()`
    ├── RuleError                       an invalid rule file
    ├── PdfNotEmbeddable                no invoice can be attached to the PDF: encrypted, damaged, or no PDF
    ├── ConversionRefused               the other syntax cannot represent the invoice
    ├── SignedDocument                  a signed document, which no repair changes
    ├── MissingDependency               an optional package or system library is not installed
    ├── SchemaFilesError                XML schemas are missing or damaged (in `einvoice.syntax.schema.d16b`)
    └── BundleRejected                  official artefacts are refused (in `einvoice.reference.bundles.errors`)

`str(error)` is one English sentence. The catalog has title, explanation and fix in each language under the error's
code (`rules/file/<CODE>.toml`); `error.values` fills their placeholders.
"""

import sys
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, ClassVar, Final, NamedTuple, Protocol, Self

from einvoice.localization import Language, Messages
from einvoice.localization.options import language
from einvoice.quotation import quote

_DRAFT_PROBLEMS: Final = Messages("einvoice.draft", "problems")
_REFUSALS: Final = Messages("einvoice.conversion", "refused")


class EinvoiceError(Exception):
    """Base class of all exceptions of this package."""


class SettingError(ValueError):
    """An environment variable has a value that it cannot have."""


class LetterheadError(ValueError):
    """The logo is not an image, the accent is not a colour, or the format has no page for them."""


class UnknownSpecification(ValueError):  # noqa: N818 (names the state)
    """The argument `specification` is no identifier and no name of a specification that the syntax can declare.

    Attributes:
        name: the argument.
        known: the names.
    """

    def __init__(self, name: str, known: Sequence[str]) -> None:
        self.name = name
        self.known = tuple(known)
        names = ", ".join(known)
        super().__init__(f"argument 'specification' must be an identifier or one of {names}, not {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.known)


class UnreadableDocument(EinvoiceError):  # noqa: N818 (subclasses name the cause)
    """The input cannot be read as an invoice.

    Attributes:
        code: code of the catalog entry (`FILE-…`); stable.
        problem: `code` of the HTTP problem, in snake_case; stable.
        line, column: position in the file in characters, counted from 1; None if the error has no position.
        values: placeholder values for `sentence` and the catalog texts; `line` and `column` if known.
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
        # Worker processes return errors pickled; the default implementation would drop the values.
        values: dict[str, Any] = self.values
        return partial(type(self), **values), ()


class EmptyFile(UnreadableDocument):
    """The file is empty or contains only white space."""

    code = "FILE-EMPTY"
    problem = "empty_file"
    sentence = "The file is empty."


class UnsupportedFormat(UnreadableDocument):
    """The file is neither XML nor PDF; `found` is the detected type."""

    code = "FILE-FORMAT"
    problem = "unsupported_file"
    sentence = "The file is neither XML nor PDF; found: {found}."


class EmptyArchive(UnreadableDocument):
    """The file is a ZIP that contains no files."""

    code = "FILE-ARCHIVE-EMPTY"
    problem = "empty_archive"
    sentence = "The file is a ZIP that contains no files."


class PdfSupportMissing(UnreadableDocument):
    """The file is a PDF, but the extra `pdf` is not installed."""

    code = "FILE-PDF"
    problem = "pdf_not_supported"
    sentence = "The file is a PDF; to read PDFs, run pip install 'einvoice-toolkit[pdf]'."


class NotAPdf(UnreadableDocument):
    """The file is not a PDF, but a PDF is required; `found` is the detected type."""

    code = "FILE-NO-PDF"
    problem = "no_pdf"
    sentence = "The file is not a PDF; found: {found}."


class PdfDamaged(UnreadableDocument):
    """The PDF structure cannot be repaired; `reason` is the PDF library's message (English)."""

    code = "FILE-PDF-DAMAGED"
    problem = "damaged_pdf"
    sentence = "The PDF is damaged and cannot be opened: {reason}"


class PdfEncrypted(UnreadableDocument):
    """The PDF requires a password."""

    code = "FILE-PDF-PASSWORD"
    problem = "encrypted_pdf"
    sentence = "The PDF is encrypted and requires a password."


class PdfTooComplex(UnreadableDocument):
    """Reading the PDF exceeds the time or memory limit."""

    code = "FILE-PDF-COMPLEX"
    problem = "too_complex"
    sentence = "Reading the PDF exceeds the limit of {megabytes} MB of memory or {seconds} seconds."


class PdfWithoutXml(UnreadableDocument):
    """The PDF has no invoice attached; `found` lists its attachments, or "–"."""

    code = "FILE-PDF-NO-XML"
    problem = "no_embedded_xml"
    sentence = "The PDF has no embedded invoice XML; attachments found: {found}"


class EmbeddedXmlUnreadable(UnreadableDocument):
    """The attachment `name` is the invoice, but cannot be decoded; `reason` is in English."""

    code = "FILE-PDF-UNPACK"
    problem = "embedded_xml_not_unpacked"
    sentence = "The attachment {name} of the PDF cannot be decoded: {reason}"


class UnsupportedEncoding(UnreadableDocument):
    """The character encoding of the XML is not supported."""

    code = "FILE-ENCODING"
    problem = "unsupported_encoding"
    sentence = "The character encoding {encoding} is not supported; use UTF-8."


class TooLarge(UnreadableDocument):
    """The file exceeds the size limit."""

    code = "FILE-SIZE"
    problem = "file_too_large"
    sentence = "The file is larger than {limit} bytes."


class FileNotReadable(UnreadableDocument):
    """A file of a bulk validation cannot be opened; `reason` is the system's message (English).

    Validating a single file raises `OSError` instead.
    """

    code = "FILE-OPEN"
    problem = "file_not_opened"
    sentence = "The file cannot be opened: {reason}."


class ArchiveUnreadable(UnreadableDocument):
    """A ZIP or TAR archive is damaged or exceeds the limits; `reason` is in English."""

    code = "FILE-ARCHIVE"
    problem = "archive_not_read"
    sentence = "The rest of the archive cannot be read: {reason}."


class ArchiveMemberUnreadable(UnreadableDocument):
    """A file of a ZIP archive is encrypted or damaged, or packed by an unknown method; `reason` is in English."""

    code = "FILE-MEMBER"
    problem = "archive_member_not_read"
    sentence = "The file cannot be read from the archive: {reason}."


class WorkerCrashed(UnreadableDocument):
    """The worker process exited while validating the file, for example for lack of memory; `reason` is in English."""

    code = "FILE-WORKER"
    problem = "worker_crashed"
    sentence = "The worker process exited while validating the file: {reason}."


class TooDeep(UnreadableDocument):
    """Elements are nested too deeply."""

    code = "FILE-DEPTH"
    problem = "too_complex"
    sentence = "Elements are nested more than {limit} levels deep."


class TooManyElements(UnreadableDocument):
    """The XML exceeds the limit of elements or attributes."""

    code = "FILE-ELEMENTS"
    problem = "too_complex"
    sentence = "The document has more than {limit} elements or attributes."


class TooManyAttributes(UnreadableDocument):
    """An element exceeds the limit of attributes."""

    code = "FILE-ATTRIBUTES"
    problem = "too_complex"
    sentence = "An element has more than {limit} attributes and namespace declarations."


class NamespaceTooLong(UnreadableDocument):
    """A namespace name exceeds the limit."""

    code = "FILE-NAMESPACE"
    problem = "too_complex"
    sentence = "A namespace name has more than {limit} bytes."


class ResourceLimitExceeded(UnreadableDocument):
    """The validation exceeded its time or memory limit; raised by servers, not by `validate`."""

    code = "FILE-WORK"
    problem = "too_complex"
    sentence = "Validating the file exceeds the limit of {seconds} seconds or {megabytes} MB of memory."


class DoctypeForbidden(UnreadableDocument):
    """The XML has a document type declaration, which could define entities."""

    code = "FILE-DOCTYPE"
    problem = "doctype_refused"
    sentence = "A document type declaration (DOCTYPE) is not allowed in an invoice."


class NotWellFormed(UnreadableDocument):
    """The file is not well-formed XML; `reason` is the parser's message (English)."""

    code = "FILE-XML"
    problem = "not_well_formed"
    sentence = "The file is not well-formed XML: {reason}."


class TruncatedXml(NotWellFormed):
    """The file ends before the root element is closed."""

    code = "FILE-XML-END"
    sentence = "The XML is incomplete: the file is truncated or an end tag is missing."


class TagMismatch(NotWellFormed):
    """A start tag and its end tag do not match."""

    code = "FILE-XML-TAG"
    sentence = "The end tag </{closed}> does not match the start tag <{opened}> on line {opened_line}."


class BadReference(NotWellFormed):
    """An ampersand is not escaped, or refers to an undefined entity."""

    code = "FILE-XML-REFERENCE"
    sentence = "An '&' is not escaped as '&amp;', or refers to an entity that XML does not define."


class ForbiddenCharacter(NotWellFormed):
    """The file contains a control character that XML does not allow, such as NUL."""

    code = "FILE-XML-CHARACTER"
    sentence = "The file contains a character that XML does not allow."


class EncodingMismatch(NotWellFormed):
    """The bytes are invalid in the declared encoding (UTF-8 by default)."""

    code = "FILE-XML-BYTES"
    sentence = "The file contains bytes that are invalid in {encoding}, its declared encoding."


class MisplacedDeclaration(NotWellFormed):
    """Content, such as a blank line, precedes the XML declaration."""

    code = "FILE-XML-DECLARATION"
    sentence = "The XML declaration '<?xml … ?>' must be at the start of the file."


class EmbeddedXmlNotWellFormed(NotWellFormed):
    """The embedded XML `name` of a PDF is not well-formed; line and column refer to the XML."""

    code = "FILE-PDF-XML"
    problem = "embedded_xml_not_well_formed"
    sentence = "The XML embedded in the PDF, {name}, is not well-formed: {reason}"


class UnknownRoot(UnreadableDocument):
    """The root element is not a UBL Invoice, UBL CreditNote or CII CrossIndustryInvoice."""

    code = "FILE-ROOT"
    problem = "unknown_root_element"
    sentence = "The root element '{name}' in the namespace '{namespace}' is not an invoice in UBL or CII."


class ZugferdV1(UnknownRoot):
    """The document is ZUGFeRD 1.x, which predates EN 16931."""

    code = "FILE-ZUGFERD-1"
    problem = "zugferd_1"
    sentence = "This is a ZUGFeRD 1.x invoice; ZUGFeRD 1.x predates EN 16931 and is not supported."


class OrderX(UnknownRoot):
    """The document is an Order-X order."""

    code = "FILE-ORDER-X"
    problem = "order_x"
    sentence = "This is an Order-X order, not an invoice."


class UblInPdf(UnknownRoot):
    """The PDF embeds a UBL invoice; ZUGFeRD and Factur-X require CII."""

    code = "FILE-PDF-UBL"
    problem = "ubl_in_pdf"
    sentence = "The embedded invoice {name} is UBL; hybrid invoices require CII."


class DraftProblem(NamedTuple):
    """An error in a draft.

    Attributes:
        pointer: JSON pointer (RFC 6901).
        key: of the message in the message files of `einvoice.draft`.
        values: values of its placeholders.
    """

    pointer: str
    key: str
    values: Mapping[str, Any] = {}

    def message(self, lang: Language | None = None) -> str:
        """Return the message in a language, by default that of `einvoice.options`."""
        return _DRAFT_PROBLEMS[language(lang)][self.key].format_map(self.values)

    def below(self, pointer: str) -> "DraftProblem":
        """Return the problem with `pointer` prepended."""
        return self._replace(pointer=pointer + self.pointer)

    @classmethod
    def of_amount(cls, pointer: str, *, expected: Decimal, actual: Decimal) -> "DraftProblem":
        """Return the problem for a given amount that differs from the calculated one."""
        return cls(pointer, "amount_differs", {"expected": f"{expected:f}", "actual": quote(f"{actual:f}")})


class DraftError(EinvoiceError):
    """The draft is not JSON or has invalid fields.

    Attributes:
        code: `code` of the HTTP problem; stable.
        errors: the errors in the draft; their number is limited.
        line, column: position of a JSON syntax error, counted from 1; None for other errors.
    """

    code: ClassVar[str] = "invalid_draft"

    def __init__(self, errors: Sequence[DraftProblem], *, line: int | None = None, column: int | None = None) -> None:
        self.errors = tuple(errors)
        self.line = line
        self.column = column
        messages = ((it.pointer, it.message("en")) for it in self.errors)
        super().__init__(" ".join(f"{pointer}: {text}" if pointer else text for pointer, text in messages))

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), line=self.line, column=self.column), (self.errors,)


class _Finding(Protocol):
    @property
    def code(self) -> str: ...


class _Result(Protocol):
    @property
    def errors(self) -> Sequence[_Finding]: ...


class FindingsError(EinvoiceError):
    """The invoice has errors; raised by `raise_for_findings()`. `result` is the validation result."""

    def __init__(self, result: _Result) -> None:
        self.result = result
        codes = ", ".join(dict.fromkeys(finding.code for finding in result.errors))
        super().__init__(f"The invoice is not valid: {codes}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.result,)


class RuleError(EinvoiceError):
    """A rule file is invalid; the message names file, line, key, column of the expression, error and a hint."""

    def __init__(
        self,
        message: str,
        *,
        file: str,
        key: str = "",
        column: int | None = None,
        hint: str = "",
        line: int | None = None,
    ) -> None:
        self.message = message
        self.file = file
        self.key = key
        self.column = column
        self.hint = hint
        self.line = line
        numbers = f"line {line}" if line is not None else "", f"column {column}" if column is not None else ""
        place = ", ".join(filter(None, (file, numbers[0], key, numbers[1])))
        super().__init__(f"{place}: {message}" + (f" ({hint})" if hint else ""))

    def at_line(self, line: int | None) -> Self:
        """Return the error with the line of its key."""
        return type(self)(
            self.message, file=self.file, key=self.key, column=self.column, hint=self.hint, line=self.line or line
        )

    def __reduce__(self) -> tuple[Any, ...]:
        place: dict[str, Any] = {"file": self.file, "key": self.key, "column": self.column, "hint": self.hint}
        return partial(type(self), self.message, **place, line=self.line), ()


class PdfNotEmbeddable(EinvoiceError):  # noqa: N818 (names the state)
    """No invoice can be attached to the PDF.

    Attributes:
        cause: "encrypted", "damaged", "no_pdf" (the first file is none), "exchanged" or "invoice_pdf" (the invoice is
            a PDF, too).
    """

    _SENTENCES: ClassVar = {
        "encrypted": "The PDF is encrypted, which PDF/A forbids; save it without a password.",
        "damaged": "The PDF is damaged and cannot be opened.",
        "no_pdf": "The human-readable invoice is not a PDF.",
        "exchanged": "The PDF and the invoice are exchanged; the PDF comes first.",
        "invoice_pdf": "The invoice is a PDF; give its XML, which einvoice.extract returns.",
    }

    def __init__(self, cause: str) -> None:
        self.cause = cause
        super().__init__(self._SENTENCES[cause])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.cause,)


class SignedDocument(EinvoiceError):  # noqa: N818 (names the state)
    """The document is signed and therefore not changed; `part` is "xml" or "pdf", the signed part."""

    _SENTENCES: ClassVar = {
        "xml": "The XML is signed; a change would invalidate its signature.",
        "pdf": "The PDF is signed; a change would invalidate its signature.",
    }

    def __init__(self, part: str) -> None:
        self.part = part
        super().__init__(self._SENTENCES[part])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.part,)


class ConversionRefused(EinvoiceError):  # noqa: N818 (names the state)
    """The invoice cannot be converted to the other syntax.

    Attributes:
        reason: "profile" (a profile of Factur-X that is no invoice) or "date" (one that the target cannot hold).
        term: the business term that is the reason, such as "BT-24".
        line: its line in the source; None if unknown.
        values: placeholder values of the text.
    """

    def __init__(self, reason: str, *, term: str = "BT-24", line: int | None = None, **values: str) -> None:
        self.reason = reason
        self.term = term
        self.line = line
        self.values = values
        super().__init__(self.text("en"))

    def text(self, lang: Language | None = None) -> str:
        """Return why, in a language; default: `einvoice.options.lang`."""
        return _REFUSALS[language(lang)][self.reason].format(term=self.term, **self.values)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), self.reason, term=self.term, line=self.line, **self.values), ()


_LIBRARIES_OF: Final = {
    "darwin": "macOS: brew install pango",
    "win32": "Windows: Pango of MSYS2 (pacman -S mingw-w64-x86_64-pango), whose folder of DLLs is then named by the "
    "environment variable WEASYPRINT_DLL_DIRECTORIES",
}
"""How to install the libraries of weasyprint, by `sys.platform`."""


class MissingDependency(EinvoiceError):  # noqa: N818 (names the state)
    """An optional dependency is not installed.

    Attributes:
        tool: Python package.
        extra: extra of einvoice-toolkit that installs it.
        libraries: Debian or Ubuntu packages that it also needs; the message names those of the system it runs on.
    """

    def __init__(self, tool: str, *, extra: str, libraries: Sequence[str] = ()) -> None:
        self.tool = tool
        self.extra = extra
        self.libraries = tuple(libraries)
        sentence = f"PDFs need {tool}: pip install 'einvoice-toolkit[{extra}]'"
        if libraries:
            debian = f"Debian or Ubuntu: apt-get install {' '.join(libraries)}"
            sentence += f", and on {_LIBRARIES_OF.get(sys.platform, debian)}"
        super().__init__(sentence)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), self.tool, extra=self.extra, libraries=self.libraries), ()
