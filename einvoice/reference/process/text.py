"""XML as Saxon is handed it."""

from __future__ import annotations

import re
from typing import Final

from einvoice.syntax import xml

_DECLARATION: Final = re.compile(r"\ufeff?<\?xml\s[^>]*\?>")


def without_declaration(data: bytes) -> str:
    """The text of an XML document; one that named its encoding would be taken for bytes in that encoding.

    Raises:
        errors.UnreadableDocument: it is in no supported encoding.
    """
    return _DECLARATION.sub("", xml.text(data), count=1)
