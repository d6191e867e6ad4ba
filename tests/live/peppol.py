"""Compare mutants of Peppol invoices with a compiled sheet of OpenPeppol: ``python -m tests.live.peppol --help``.

The sheets are not part of this project. The repository phax/phive-rules publishes them, compiled, in the folder
``phive-rules-peppol/src/main/resources/external/schematron/openpeppol``.

A mutant is a base with exchanged countries and one to three edits: a text, an attribute or an element is removed,
doubled, padded or replaced by another one of the document. Codes and severities are compared, in the layer of the
rule set. A document that makes the sheet abort, or whose rules could not run, is counted apart.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

from lxml import etree

import einvoice
from einvoice.model.location import NAMESPACES
from einvoice.resources import shipped
from einvoice.rulebook.files.examples import examples_of
from einvoice.rulebook.program.build import RuleSets

sys.path.insert(0, str(Path(__file__).parents[1]))
from documents import document_of

Findings: TypeAlias = "set[tuple[str, str]]"

_CASES: Final = Path(__file__).parents[2].parent / "shared" / "cases-peppol" / "peppol"
_PARSER: Final = etree.XMLParser(remove_comments=True, remove_pis=True, resolve_entities=False)
_SVRL: Final = "{http://purl.oclc.org/dsdl/svrl}"
_COUNTRIES: Final = ("DE", "DK", "GR", "EL", "IS", "IT", "NL", "NO", "SE", "BE", "FR", "no", " SE", "")
_COUNTRY_PATHS: Final = tuple(
    f"cac:Accounting{role}Party/cac:Party/{path}"
    for role in ("Supplier", "Customer")
    for path in ("cac:PostalAddress/cac:Country/cbc:IdentificationCode", "cac:PartyTaxScheme/cbc:CompanyID")
)
_NUMBERS: Final = ("0", "-1.00", "0.01", "99.995", "1000000.00")


def bases(ruleset: str, cases: Path) -> list[bytes]:
    """Return the documents to change: those of a folder, or the examples of a rule set if the folder does not exist."""
    if cases.exists():
        return [path.read_bytes() for path in sorted(cases.glob("*.xml"))]
    definitions = RuleSets(shipped()).definitions[ruleset]
    examples = (example for definition in definitions for _, example in examples_of(definition, "UBL"))
    return [etree.tostring(document_of(example, example.file, "UBL")) for example in examples]


def mutants(documents: list[bytes], number: int, seed: int) -> Iterator[tuple[bytes, list[str]]]:
    """Yield mutants with their edits; the same ones for the same seed."""
    chance = random.Random(seed)
    for _ in range(number):
        root: Any = etree.fromstring(chance.choice(documents), _PARSER)
        done = [_exchange_countries(chance, root)]
        for _ in range(chance.randint(1, 3)):
            edit = chance.choice(_EDITS)
            candidates = [it for it in root.iterdescendants("*") if edit in _OF_GROUPS or not len(it)]
            if not candidates:
                break
            element = chance.choice(candidates)
            name = etree.QName(element).localname
            edit(chance, root, element)
            done.append(f"{edit.__name__.strip('_')} {name}")
        yield etree.tostring(root), done


def _exchange_countries(chance: random.Random, root: Any) -> str:
    exchanged = []
    for path in _COUNTRY_PATHS:
        for element in root.iterfind(path, NAMESPACES):
            if chance.random() < 0.5:
                country = chance.choice(_COUNTRIES)
                element.text = country if path.endswith("Code") else country + (element.text or "")[2:]
                exchanged.append(country)
    return f"countries {exchanged}"


def _remove(chance: random.Random, root: Any, element: Any) -> None:
    element.getparent().remove(element)


def _repeat(chance: random.Random, root: Any, element: Any) -> None:
    element.addnext(copy.deepcopy(element))


def _pad(chance: random.Random, root: Any, element: Any) -> None:
    element.text = chance.choice((" {}", "{} ", "\n{}\n", "\u00a0{}", "{}0", "{}X")).format(element.text or "")


def _empty(chance: random.Random, root: Any, element: Any) -> None:
    element.text = chance.choice(("", " "))


def _exchange(chance: random.Random, root: Any, element: Any) -> None:
    others = [it.text for it in root.iter("*") if not len(it)]
    element.text = chance.choice([*others, *_NUMBERS])


def _change_number(chance: random.Random, root: Any, element: Any) -> None:
    amounts = [it for it in root.iter("*") if it.get("currencyID") or it.get("unitCode")]
    if amounts:
        chance.choice(amounts).text = chance.choice(_NUMBERS)


def _change_attribute(chance: random.Random, root: Any, element: Any) -> None:
    marked = [it for it in root.iter("*") if it.attrib] or [element]
    chosen = chance.choice(marked)
    name = chance.choice([*chosen.attrib, "schemeID"])
    values = [it.get(name) for it in marked if it.get(name)]
    chosen.set(name, chance.choice([*values, "", "0088", "0192", "0184", "0208", "EM", "SEK", "XXX"]))


_EDITS: Final[tuple[Callable[[random.Random, Any, Any], None], ...]] = (
    _remove, _repeat, _pad, _empty, _exchange, _change_number, _change_attribute,
)  # fmt: skip
_OF_GROUPS: Final = (_remove, _repeat)


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
    counts: Counter[str] = Counter()
    fired: set[str] = set()
    for document, edits in mutants(documents, options.number, options.seed):
        own, official = native(document, options.ruleset, options.release), sheet.findings(document)
        if own is None or official is None:
            counts["aborted"] += 1
            continue
        fired |= {code for code, _ in official if code.startswith(options.codes)}
        differing = sorted(it for it in own ^ official if it[0].startswith(options.codes))
        counts["different" if differing else "same"] += 1
        if differing:
            difference = {
                "native": [it for it in differing if it in own],
                "sheet": [it for it in differing if it in official],
            }
            print(json.dumps({**difference, "edits": edits, "document": document.decode()}))
    print(f"{len(documents)} bases, {dict(counts)}, {len(fired)} codes fired", file=sys.stderr)
    return bool(counts["different"])


if __name__ == "__main__":
    sys.exit(main())
