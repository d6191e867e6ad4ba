"""Reading SVRL (ISO/IEC 19757-3, annex D): what the stylesheet of a Schematron says of a document."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, Final

from lxml import etree

from einvoice import errors
from einvoice.reference.process import limits
from einvoice.reference.process.sandbox import Failed

_SVRL: Final = "{http://purl.oclc.org/dsdl/svrl}"
_CODE: Final = re.compile(r"\s*\[([\w.-]+)\]")
_FLAGS: Final = {
    "warning": "warning",
    "warn": "warning",
    "information": "information",
    "info": "information",
}
"""What is written otherwise, or not at all, is fatal: "fatal", "error", and what nobody has foreseen."""


def reports(text: str) -> list[dict[str, str]]:
    """Return the reports of an SVRL document, no more than so many of a code: fields of `Report`.

    Raises:
        Failed: it is no SVRL.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True)
    try:
        root = etree.fromstring(text.encode(), parser)
    except etree.XMLSyntaxError as error:
        raise Failed("stopped", f"The result is no XML: {error}") from None
    if root.tag != f"{_SVRL}schematron-output":
        raise Failed("stopped", f"The result is no SVRL, but {errors.quote(str(root.tag), limit=100)}.")
    seen: Counter[str] = Counter()
    told = []
    for element in root.iter(f"{_SVRL}failed-assert", f"{_SVRL}successful-report"):
        report = _report(element)
        seen[report["code"]] += 1
        if seen[report["code"]] <= limits.PER_CODE:
            told.append(report)
    return told


def _report(element: Any) -> dict[str, str]:
    said = " ".join("".join(it for text in element.iter(f"{_SVRL}text") for it in text.itertext()).split())
    named = _CODE.match(said)
    code = element.get("id") or (named[1] if named else "")
    flag = _FLAGS.get((element.get("flag") or element.get("role") or "").strip().lower(), "fatal")
    words = {"location": element.get("location", ""), "text": said, "test": " ".join(element.get("test", "").split())}
    return {"code": errors.quote(code, limit=100), "flag": flag} | {
        name: errors.quote(word, limit=limits.TEXT) for name, word in words.items()
    }
