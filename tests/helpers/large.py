"""Results of many files, from a small number of documents that were validated."""

import itertools
import re

import einvoice
from einvoice.bulk import ResultSet
from einvoice.bulk.files.sources import corpus
from einvoice.bulk.record import resumed_row
from tests.helpers.paths import SAMPLES

SELLERS = [
    "Hafenkran Service AG",
    "Lindenhof Gartenbau GmbH",
    "Werkstatt am Kanal GmbH",
    "Zweckverband " + 12 * "Nord ",
]
MONTHS = [b"2026-%02d" % month for month in range(1, 13)]


def documents():
    """Return documents by kind: valid, with errors, unreadable, and with the consequences of a schema error."""
    ubl, cii = ((SAMPLES / f"{name}-invoice.xml").read_bytes() for name in ("ubl", "cii"))
    without_id = re.sub(rb" *<cbc:ID>LG-2026-0417</cbc:ID>\n", b"", ubl)
    return {
        "valid": ubl,
        "cii": cii,
        "credit-note": (SAMPLES / "ubl-credit-note.xml").read_bytes(),
        "sum": ubl.replace(b'"EUR">99.00', b'"EUR">98.99'),
        "vat": ubl.replace(b'EUR">260.00', b'EUR">261.00'),
        "reference": re.sub(rb" *<cbc:BuyerReference>.*\n", b"", ubl),
        "schema": without_id,
        "truncated": ubl[: len(ubl) // 2],
        "other": b"<order/>",
    }


def large_results(size):
    """Return the results of `size` files: every second is valid, some have the same content or a long name."""
    kinds = documents()
    distinct = {
        f"{kind}/{seller}/{month.decode()}": data.replace(b"Lindenhof Gartenbau GmbH", seller.encode()).replace(
            b"2026-05-04", month + b"-04"
        )
        for (kind, data), seller, month in itertools.product(kinds.items(), SELLERS, MONTHS)
    }
    validated = einvoice.validate_many(distinct, workers=0, progress=False, lang="en")
    lines = {file.file: validated.take([number])._lines[0] for number, file in enumerate(validated)}
    names = list(
        itertools.chain.from_iterable(zip(itertools.cycle(sorted(it for it in lines if it[:5] == "valid")), lines))
    )
    files, records = {}, []
    for number in range(size):
        known = names[number % len(names)]
        seller = known.split("/")[1]
        long = "-and-a-name-that-an-archive-made-very-long" * 4 if number % 50 == 0 else ""
        name = f"{seller[:8].strip().lower()}/{known[-7:]}/{number:06}{long}.xml"
        files[name] = distinct[known]
        records.append(resumed_row(name, lines[known]).line)
    return ResultSet(records, validated.settings, lang="en", corpus=corpus(files))
