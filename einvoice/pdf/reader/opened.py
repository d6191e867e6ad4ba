"""An open PDF with its invoice chosen: what the checks of the container look at."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from einvoice.pdf.reader.file_spec import Embedded
from einvoice.pdf.reader.metadata import Metadata, read_metadata
from einvoice.pdf.reader.resources import Resources

if TYPE_CHECKING:
    import pikepdf


class Opened:
    """What there is to check.

    Attributes:
        data: the whole file.
        pdf: the same, open.
        chosen: the attachment that is the invoice; `files` are all attachments.
        repairs: what the PDF reader had to put up with, in its own words.
    """

    def __init__(self, data: bytes, pdf: pikepdf.Pdf, chosen: Embedded, files: Sequence[Embedded]) -> None:
        self.data = data
        self.pdf = pdf
        self.chosen = chosen
        self.files = files
        self.repairs = pdf.get_warnings()  # reading them empties the list

    @functools.cached_property
    def metadata(self) -> Metadata:
        """The XMP of the document."""
        return read_metadata(self.pdf)

    @functools.cached_property
    def resources(self) -> Resources:
        """What the pages use."""
        return Resources(self.pdf)
