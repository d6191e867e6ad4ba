"""Decodes XML for Saxon, which takes text without an encoding declaration."""

from __future__ import annotations

import re
from typing import Final

from einvoice.syntax import xml

_DECLARATION: Final = re.compile(r"\ufeff?<\?xml\s[^>]*\?>")


def without_declaration(data: bytes) -> str:
    """Return the text of an XML document without its XML declaration, since Saxon would apply its encoding to the text.

    Raises:
        errors.UnreadableDocument: the encoding is not supported.
    """
    return _DECLARATION.sub("", xml.text(data), count=1)
