"""Elements whose text comments or processing instructions divide into several text nodes (XPath 2.0, 2.5.4).

The reader joins the text, as the string value of an element does. A rule of the official Schematron that selects
``text()`` sees the parts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from lxml import etree

_OF_DECLARATION: Final = 2
"""Number of question marks in an XML declaration."""
_BESIDE_TEXT: Final = re.compile(rb"[^>\s]\s*<(?:!--|\?)|(?:--|\?)>\s*[^<\s]")
"""A comment or processing instruction before or after other text than white space."""


def text_nodes(root: Any, data: bytes, utf8: Callable[[], bytes]) -> dict[Any, int]:
    """Return the number of text nodes of each element without child elements that has several.

    Args:
        root: root element of the parsed document, without comments and processing instructions.
        data: the document, checked and parsed before.
        utf8: returns the document in UTF-8.
    """
    if b"!" not in data and data.count(b"?") <= _OF_DECLARATION:  # as in most documents
        return {}
    text = utf8()
    if b"<![CDATA[" not in text and not _BESIDE_TEXT.search(text):
        return {}
    parser = etree.XMLParser(encoding="utf-8", resolve_entities=False, load_dtd=False, no_network=True, huge_tree=True)
    elements = zip(etree.fromstring(text, parser).iter(etree.Element), root.iter(etree.Element), strict=True)
    return {own: count for whole, own in elements if len(whole) and not len(own) and (count := _count(whole)) > 1}


def _count(element: Any) -> int:
    return sum(bool(text) for text in (element.text, *(it.tail for it in element)))
