"""Elements whose text comments or processing instructions divide into several text nodes (XPath 2.0, 2.5.4).

The reader joins the text, as the string value of an element does. A rule of the official Schematron that selects
`text()` sees the parts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from lxml import etree

_DECLARATION: Final = b"<?xml "
_BESIDE_TEXT: Final = re.compile(rb"[^>\s]\s*<(?:!--|\?)|(?:--|\?)>\s*[^<\s]")
"""A comment or processing instruction before or after other text than white space."""


def text_nodes(root: Any, data: bytes, utf8: Callable[[], bytes]) -> dict[Any, tuple[str, ...]]:
    """Return the text nodes of each element without child elements that has several.

    Args:
        root: root element of the parsed document, without comments and processing instructions.
        data: the document, checked and parsed before.
        utf8: returns the document in UTF-8.
    """
    start = data.find(b"?>") + 1 if data.startswith(_DECLARATION) else 0
    if b"!" not in data and data.find(b"?", start) < 0:  # as in most documents
        return {}
    text = utf8()
    if b"<![CDATA[" not in text and not _BESIDE_TEXT.search(text):
        return {}
    parser = etree.XMLParser(encoding="utf-8", resolve_entities=False, load_dtd=False, no_network=True, huge_tree=True)
    elements = zip(etree.fromstring(text, parser).iter(etree.Element), root.iter(etree.Element), strict=True)
    return {own: texts for whole, own in elements if len(whole) and not len(own) and len(texts := _texts(whole)) > 1}


def _texts(element: Any) -> tuple[str, ...]:
    return tuple(text for text in (element.text, *(it.tail for it in element)) if text)
