"""Reads SVRL (ISO/IEC 19757-3, annex D), the output of a compiled Schematron."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, Final

from lxml import etree

from einvoice.quotation import quote
from einvoice.reference.process import limits
from einvoice.reference.process.errors import ExecutionFailed

_SVRL: Final = "{http://purl.oclc.org/dsdl/svrl}"
_CODE: Final = re.compile(r"\s*\[([\w.-]+)\]")
_FLAGS: Final = {
    "warning": "warning",
    "warn": "warning",
    "information": "information",
    "info": "information",
}
"""Any other flag, or a missing one, means "fatal"."""
_NUMBERED: Final = "FX-SCH-A-"
"""How the identifiers in the sheets of the Factur-X profiles begin, which number rules of EN 16931 as well."""
_NOT_USED: Final = re.compile(r"(Element|Attribute) .+ marked as not used in the given context\.?")
"""What these sheets report without an identifier or flag; a warning, as the equivalent rules of EN 16931 are."""
_NOT_USED_CODE: Final = "PROFILE-NOT-USED"


def reports(text: str) -> list[dict[str, str]]:
    """Return the findings of an SVRL document as fields of `ReferenceFinding`, at most `limits.PER_CODE` per code.

    Raises:
        ExecutionFailed: the text is not SVRL.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True)
    try:
        root = etree.fromstring(text.encode(), parser)
    except etree.XMLSyntaxError as error:
        raise ExecutionFailed("stopped", f"The output is not XML: {error}") from None
    if root.tag != f"{_SVRL}schematron-output":
        raise ExecutionFailed("stopped", f"The output is not SVRL, but {quote(str(root.tag), limit=100)}.")
    counts: Counter[str] = Counter()
    findings = []
    for element in root.iter(f"{_SVRL}failed-assert", f"{_SVRL}successful-report"):
        finding = _finding(element)
        counts[finding["code"]] += 1
        if counts[finding["code"]] <= limits.PER_CODE:
            findings.append(finding)
    return findings


def _finding(element: Any) -> dict[str, str]:
    text = " ".join("".join(part for it in element.iter(f"{_SVRL}text") for part in it.itertext()).split())
    bracketed = _CODE.match(text)
    code = element.get("id") or ""
    if bracketed and (not code or code.startswith(_NUMBERED)):
        code = bracketed[1]
    flag = _FLAGS.get((element.get("flag") or element.get("role") or "").strip().lower(), "fatal")
    if not code and _NOT_USED.fullmatch(text):
        code, flag = _NOT_USED_CODE, "warning"
    texts = {"location": element.get("location", ""), "text": text, "test": " ".join(element.get("test", "").split())}
    return {"code": quote(code, limit=100), "flag": flag} | {
        name: quote(content, limit=limits.TEXT) for name, content in texts.items()
    }
