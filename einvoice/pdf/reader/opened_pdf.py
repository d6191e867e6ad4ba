"""An open PDF with its chosen invoice: the input of the container checks."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from einvoice.facturx.profile import declared_profile
from einvoice.pdf.reader.file_spec import FileSpec
from einvoice.pdf.reader.metadata import Metadata, read_metadata
from einvoice.pdf.reader.release import Release, release_of
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
    def release(self) -> Release:
        """The release of ZUGFeRD or Factur-X that the PDF follows, at its conformance level."""
        properties, chosen = self.metadata.invoice, self.chosen
        release = release_of(chosen.root, chosen.name, chosen.guideline, self.metadata.namespace, properties)
        return release.at(properties.get("ConformanceLevel") or self.level, chosen.guideline)

    @property
    def level(self) -> str:
        """The conformance level that the XML declares in BT-24; "" if it is none of Factur-X."""
        profile = declared_profile(self.chosen.guideline)
        return profile.conformance_level if profile else ""

    @functools.cached_property
    def resources(self) -> Resources:
        """Resources of the pages."""
        return Resources(self.pdf)
