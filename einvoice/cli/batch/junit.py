"""JUnit XML: one test case per file; errors in an invoice are a failure, an unreadable file is an error.

The elements are those of the JUnit schema of Jenkins (xUnit plugin, junit-10.xsd).
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from einvoice.bulk import FileResult, ResultSet
from einvoice.cli.formats import full_text
from einvoice.localization.formatting import with_colon
from einvoice.quotation import printable
from einvoice.render.text import by_severity, finding_counts, position
from einvoice.result import Finding, Language

_ELEMENTS: Final = {"invalid": "failure", "unreadable": "error"}
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(results: ResultSet, options: argparse.Namespace) -> Iterator[str]:
    """Yield the report."""
    counts = Counter(_element(record["verdict"], record.get("errors", 0)) for record in results.records())
    totals = _attributes(tests=len(results), failures=counts["failure"], errors=counts["error"])
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites{totals}>\n<testsuite name="einvoice"{totals}>\n'
    for file in results:
        yield _case(file, options.lang)
    yield "</testsuite>\n</testsuites>\n"


def _element(verdict: str, errors: int) -> str:
    """Return the element for a verdict; "" for a file whose errors are accepted."""
    return _ELEMENTS.get(verdict, "") if errors else ""


def _case(file: FileResult, lang: Language) -> str:
    head = f"<testcase{_attributes(name=printable(file.file), classname=printable(file.folder))}"
    if not file.findings:
        return f"{head}/>\n"
    text = "\n\n".join(_text(finding, lang) for finding in by_severity(file.findings))
    element = _element(file.verdict, file.errors)
    if not element:
        return f"{head}><system-out>{_escaped(text)}</system-out></testcase>\n"
    worst = next(iter(by_severity(file.findings)))
    cause = _attributes(type=worst.code, message=finding_counts(file.findings, lang))
    return f"{head}><{element}{cause}>{_escaped(text)}</{element}></testcase>\n"


def _text(finding: Finding, lang: Language) -> str:
    place = position(finding, lang)
    return with_colon(f"{finding.code} ({place})" if place else finding.code, lang, full_text(finding, lang))


def _attributes(**contents: object) -> str:
    return "".join(f" {name}={quoteattr(_NOT_XML.sub('?', str(content)))}" for name, content in contents.items())


def _escaped(text: str) -> str:
    return escape(_NOT_XML.sub("?", text))
