"""Finds elements by XPath; an XPath that only names its steps, as those of findings, without walking the siblings."""

from __future__ import annotations

import re
from typing import Any, Final

from lxml import etree

from einvoice.model.location import NAMESPACES

_PATH: Final = re.compile(r"(?:/[A-Za-z][\w.-]*:[A-Za-z_][\w.-]*(?:\[[1-9][0-9]*\])?)+", re.ASCII)
_STEP: Final = re.compile(r"/([^:]+):([^/\[]+)(?:\[([0-9]+)\])?")


class Finder:
    """Finds the elements of one document; the document must not change in between.

    Args:
        root: the root element.
    """

    def __init__(self, root: Any) -> None:
        self._root = root
        self._children: dict[Any, dict[str, list[Any]]] = {}

    def find(self, xpath: str) -> Any:
        """Return what an XPath selects: a list, or another value.

        Raises:
            lxml.etree.XPathError: invalid XPath.
        """
        if not _PATH.fullmatch(xpath):
            return self._root.getroottree().xpath(xpath, namespaces=NAMESPACES)
        found = [None]
        for prefix, local, number in _STEP.findall(xpath):
            if prefix not in NAMESPACES:
                raise etree.XPathEvalError(f"undefined namespace prefix {prefix!r}")
            tag = f"{{{NAMESPACES[prefix]}}}{local}"
            named = [self._named(parent, tag) for parent in found]
            found = [it for same in named for it in (same[int(number) - 1 : int(number)] if number else same)]
        return found

    def _named(self, parent: Any, tag: str) -> list[Any]:
        """Return the children of a name; the root element is the child of None."""
        if parent not in self._children:
            by_tag: dict[str, list[Any]] = {}
            for child in (self._root,) if parent is None else parent.iterchildren(etree.Element):
                by_tag.setdefault(child.tag, []).append(child)
            self._children[parent] = by_tag
        return self._children[parent].get(tag, [])
