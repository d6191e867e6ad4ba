"""Compare mutants of Peppol invoices with a compiled sheet of OpenPeppol: ``python -m tests.live.peppol --help``.

The sheets are not part of this project. The repository phax/phive-rules publishes them, compiled, in the folder
``phive-rules-peppol/src/main/resources/external/schematron/openpeppol``.

A mutant is a base with exchanged countries and one to three edits (``edits.py``). Codes and severities are compared, in
the layer of the rule set. A document that makes the sheet abort, or whose rules could not run, is counted apart.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Final, TypeAlias

from lxml import etree

import einvoice
from einvoice.model.location import NAMESPACES
from einvoice.rulebook.files.examples import examples_of
from tests.helpers.documents import document_of
from tests.helpers.paths import SHARED
from tests.helpers.rule_sets import shipped_rule_sets

from .edits import Words, mutants

Findings: TypeAlias = "set[tuple[str, str]]"

_CASES: Final = SHARED / "cases-peppol" / "peppol"
_SVRL: Final = "{http://purl.oclc.org/dsdl/svrl}"
_COUNTRIES: Final = ("DE", "DK", "GR", "EL", "IS", "IT", "NL", "NO", "SE", "BE", "FR", "no", " SE", "")
_COUNTRY_PATHS: Final = tuple(
    f"cac:Accounting{role}Party/cac:Party/{path}"
    for role in ("Supplier", "Customer")
    for path in ("cac:PostalAddress/cac:Country/cbc:IdentificationCode", "cac:PartyTaxScheme/cbc:CompanyID")
)
_WORDS: Final = Words(
    texts=("S", "Z", "E", "AE", "K", "G", "O", "VAT", "GST", "true", "false", "EUR", "SEK", "30", "58", "380", "381"),
    values=("0088", "0192", "0184", "0208", "EM", "SEK", "XXX"),
)


def bases(ruleset: str, cases: Path) -> list[bytes]:
    """Return the documents to change: those of a folder, or the examples of a rule set if the folder does not exist."""
    if cases.exists():
        return [path.read_bytes() for path in sorted(cases.glob("*.xml"))]
    definitions = shipped_rule_sets().definitions[ruleset]
    examples = (example for definition in definitions for _, example in examples_of(definition, "UBL"))
    return [etree.tostring(document_of(example, example.file, "UBL")) for example in examples]


def _exchange_countries(chance: random.Random, root: Any) -> str:
    exchanged = []
    for path in _COUNTRY_PATHS:
        for element in root.iterfind(path, NAMESPACES):
            if chance.random() < 0.5:
                country = chance.choice(_COUNTRIES)
                element.text = country if path.endswith("Code") else country + (element.text or "")[2:]
                exchanged.append(country)
    return f"countries {exchanged}"


class Sheet:
    """A compiled sheet, run by Saxon."""

    def __init__(self, path: Path) -> None:
        import saxonche

        self._error = saxonche.PySaxonApiError
        self._saxon = saxonche.PySaxonProcessor(license=False)
        self._executable = self._saxon.new_xslt30_processor().compile_stylesheet(stylesheet_file=str(path))

    def findings(self, document: bytes) -> Findings | None:
        """Return codes and severities; None if the sheet aborts."""
        try:
            node = self._saxon.parse_xml(xml_text=document.decode())
            report = self._executable.transform_to_string(xdm_node=node)
        except self._error:
            return None
        failed = etree.fromstring(report.encode()).iter(f"{_SVRL}failed-assert")
        return {(it.get("id"), it.get("flag") or "fatal") for it in failed}


def native(document: bytes, ruleset: str, release: str) -> Findings | None:
    """Return codes and severities in the layer of the rule set; None if its rules could not run."""
    options = {"ruleset": f"{ruleset}-{release}"} if release else {}
    result = einvoice.validate(document, profile=ruleset, **options)
    if not result.stack.complete:
        return None
    return {(it.code, it.severity) for it in result.findings if it.layer == ruleset}


def main() -> int:
    """Compare, print the differences as JSON lines, and return 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sheet", type=Path, help="compiled sheet, such as 2026.5/xslt/PEPPOL-EN16931-UBL.xslt")
    parser.add_argument("--ruleset", default="peppol", help="peppol (default) or peppol-selfbilling")
    parser.add_argument("--release", default="", help="release of the rule set (default: the current one)")
    parser.add_argument("--bases", type=Path, default=_CASES, help="folder of invoices (default: comparison cases)")
    parser.add_argument("--codes", default="", help="compare only codes that begin with this")
    parser.add_argument("--number", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    documents, sheet = bases(options.ruleset, options.bases), Sheet(options.sheet)
    counts = Counter(same=0, different=0, findings=0, sheet_aborted=0, rules_incomplete=0)
    fired: set[str] = set()
    for document, edits in mutants(documents, options.number, options.seed, _WORDS, _exchange_countries):
        own, official = native(document, options.ruleset, options.release), sheet.findings(document)
        if own is None or official is None:
            counts["sheet_aborted" if official is None else "rules_incomplete"] += 1
            continue
        fired |= {code for code, _ in official if code.startswith(options.codes)}
        counts["findings"] += len(own)
        differing = sorted(it for it in own ^ official if it[0].startswith(options.codes))
        counts["different" if differing else "same"] += 1
        if differing:
            difference = {
                "native": [it for it in differing if it in own],
                "sheet": [it for it in differing if it in official],
            }
            print(json.dumps({**difference, "edits": edits, "document": document.decode()}))
    print(
        f"{len(documents)} bases, {options.number} mutants, {dict(counts)}, {len(fired)} codes fired", file=sys.stderr
    )
    return bool(counts["different"])


if __name__ == "__main__":
    sys.exit(main())
