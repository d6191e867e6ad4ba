"""Compare repeated elements with official stylesheets: ``python -m tests.live.repetition --help``.

Each element of a document is given a second time, with the same and with another content, and comments divide the text
of some. Where the XML schema accepts the result, a layer must have stopped if and only if its stylesheet stops.
"""

from __future__ import annotations

import argparse
import copy
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import etree

import einvoice

_PARSER = etree.XMLParser(resolve_entities=False, no_network=True)


def repeated(document: bytes) -> Iterator[bytes]:
    """Yield documents in which one element is given twice, for each path and content."""
    root = etree.fromstring(document, _PARSER)
    first: dict[str, Any] = {}
    for element in root.iterdescendants(etree.Element):
        first.setdefault("/".join(it.tag for it in (element, *element.iterancestors())), element)
    for element in first.values():
        for content in ("same", "other"):
            twin = copy.deepcopy(element)
            twin.tail = None
            if content == "other":
                leaf = next(it for it in twin.iter(etree.Element) if not len(it))
                leaf.text = f"{leaf.text or ''}1"
            element.addnext(twin)
            yield etree.tostring(root)
            element.getparent().remove(twin)


def divided(document: bytes, chance: random.Random, number: int) -> Iterator[bytes]:
    """Yield documents in which a comment divides the text of one element."""
    root = etree.fromstring(document, _PARSER)
    leaves = [it for it in root.iter(etree.Element) if not len(it) and len((it.text or "").strip()) > 1]
    for leaf in chance.sample(leaves, min(number, len(leaves))):
        text = leaf.text
        comment = etree.SubElement(leaf, "comment")
        leaf.text, comment.tail = text[:1], text[1:]
        leaf.replace(comment, _comment(comment.tail))
        yield etree.tostring(root)
        leaf.clear(keep_tail=True)
        leaf.text = text


def _comment(tail: str) -> Any:
    comment = etree.Comment(" ")
    comment.tail = tail
    return comment


def stopped(document: bytes, **options: Any) -> set[str] | None:
    """Return the layers that stopped; None if the XML schema rejects the document."""
    result = einvoice.validate(document, **options)
    if any(it.layer == "schema" for it in result.findings):
        return None
    return {it.name for it in result.stack.layers if not it.executed}


class Stylesheet:
    """A compiled stylesheet of the official Schematron."""

    def __init__(self, path: Path) -> None:
        import saxonche

        self._error = saxonche.PySaxonApiError
        self._saxon = saxonche.PySaxonProcessor(license=False)
        self._executable = self._saxon.new_xslt30_processor().compile_stylesheet(stylesheet_file=str(path))

    def stops(self, document: bytes) -> bool:
        """Return whether the stylesheet ends with an error."""
        text = etree.tostring(etree.fromstring(document, _PARSER), encoding="unicode")
        try:
            self._executable.transform_to_string(xdm_node=self._saxon.parse_xml(xml_text=text))
        except self._error:
            return True
        return False


def main() -> int:
    """Compare, print the differences, and return 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--sheet", action="append", required=True, metavar="LAYER=FILE", help="compiled to XSLT")
    parser.add_argument("--ruleset", help="the release of the stylesheets")
    parser.add_argument("--profile", help="the rule set of the stylesheets")
    parser.add_argument("--divide", type=int, default=20, help="texts of each document to divide")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    sheets = {layer: Stylesheet(Path(file)) for layer, _, file in (it.partition("=") for it in arguments.sheet)}
    options = {name: it for name in ("ruleset", "profile") if (it := getattr(arguments, name))}
    chance, counts = random.Random(arguments.seed), Counter[str]()
    for file in arguments.files:
        data = file.read_bytes()
        if stopped(data, **options) is None:
            continue
        for document in (*repeated(data), *divided(data, chance, arguments.divide)):
            own = stopped(document, **options)
            if own is None:
                counts["not schema-valid"] += 1
                continue
            official = {layer for layer, sheet in sheets.items() if sheet.stops(document)}
            counts["different" if own & sheets.keys() != official else "stops" if official else "answers"] += 1
            if own & sheets.keys() != official:
                print(file, sorted(official), sorted(own))
    print(dict(counts))
    return 1 if counts["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
