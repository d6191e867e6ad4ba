"""An open PDF with its chosen invoice: the input of the container checks."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from einvoice.pdf.reader.file_spec import FileSpec
from einvoice.pdf.reader.metadata import Metadata, read_metadata
from einvoice.pdf.reader.resources import Resources

if TYPE_CHECKING:
    import pikepdf


class OpenedPdf:
    """An open PDF.

    Attributes:
        data: the bytes of the file.
        pdf: the same file, opened by pikepdf.
        chosen: the attachment that is the invoice.
        files: all attachments.
        repairs: warnings of the PDF reader about damage it repaired.
    """

    def __init__(self, data: bytes, pdf: pikepdf.Pdf, chosen: FileSpec, files: Sequence[FileSpec]) -> None:
        self.data = data
        self.pdf = pdf
        self.chosen = chosen
        self.files = files
        self.repairs = pdf.get_warnings()  # the call empties the list

    @functools.cached_property
    def metadata(self) -> Metadata:
        """XMP metadata of the document."""
        return read_metadata(self.pdf)

    @functools.cached_property
    def resources(self) -> Resources:
        """Resources of the pages."""
        return Resources(self.pdf)
