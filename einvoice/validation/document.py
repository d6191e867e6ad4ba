"""Opens a document: bytes or hybrid PDF, parsed and identified once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from einvoice.pdf.hybrid import Hybrid
from einvoice.syntax.detect import Identity, identify
from einvoice.syntax.xml import Source, parse, sniff, source_bytes


@dataclass(frozen=True, slots=True, repr=False)
class Document:
    """An invoice document.

    Attributes:
        data: the bytes of the file.
        filename: its name without the folder; "" if it has none.
        xml: the bytes of the invoice: the file itself, or the XML embedded in a hybrid PDF.
        tree: the parsed XML.
        identity: syntax, root element and declared specification.
        hybrid: the hybrid PDF; None if the file is XML.
    """

    data: bytes
    filename: str
    xml: bytes
    tree: Any
    identity: Identity
    hybrid: Hybrid | None

    @classmethod
    def open(cls, source: Source) -> Document:
        """Open a path, bytes, or a binary file.

        Raises:
            UnreadableDocument: one of its subclasses; see `einvoice.errors`.
            OSError: the file cannot be opened.
        """
        data, filename = source_bytes(source)
        if sniff(data) != "pdf":
            tree = parse(data)
            return cls(data, filename, data, tree, identify(tree), None)
        from einvoice.pdf.document import parse as parse_embedded  # imported on use: most files are XML
        from einvoice.pdf.sandbox import read_hybrid

        hybrid = read_hybrid(data)
        tree = parse_embedded(hybrid)
        return cls(data, filename, hybrid.xml, tree, identify(tree), hybrid)

    @property
    def root(self) -> Any:
        """The root element."""
        return self.tree.getroot()
