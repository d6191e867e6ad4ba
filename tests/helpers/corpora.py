"""Invoices for tests of bulk validation: varied samples, some with a known error."""

from __future__ import annotations

from pathlib import Path

import einvoice
from tests.helpers.paths import SAMPLES

UBL = (SAMPLES / "ubl-invoice.xml").read_bytes()
CII = (SAMPLES / "cii-invoice.xml").read_bytes()

#: By code: replacements in the sample that cause exactly this finding.
REPLACEMENTS = {
    "BR-CO-10": (b'"EUR">99.00', b'"EUR">98.99'),
    "BR-DE-15": (b"<cbc:BuyerReference>", b"<!--", b"</cbc:BuyerReference>", b"-->"),
    "SCHEMA-VALUE-DATE": (b"2026-05-04", b"2026-05-32"),
    "FILE-ROOT": (b":Invoice", b":Receipt", b"<Invoice", b"<Receipt", b"</Invoice", b"</Receipt"),
}


def numbered(number: int, data: bytes = UBL) -> bytes:
    """Return the sample with a different invoice number."""
    return data.replace(b"LG-2026-0417", b"LG-2026-%06d" % number).replace(b"SW-88", b"LG-2026-%06d" % number)


def with_error(code: str, data: bytes) -> bytes:
    """Return an invoice that violates the rule with this code."""
    changes = REPLACEMENTS[code]
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        assert old in data or code == "FILE-ROOT"
        data = data.replace(old, new)
    return data


def make_corpus(size: int) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return ``size`` invoices by name, every sixth with an error, and the code of each error by name."""
    files: dict[str, bytes] = {}
    codes: dict[str, str] = {}
    for number in range(size):
        name = f"{number % 4}/{number:04}.xml"
        files[name] = numbered(number, CII if number % 2 else UBL)
        if number % 6 == 0:
            codes[name] = list(REPLACEMENTS)[number // 6 % len(REPLACEMENTS)]
            files[name] = with_error(codes[name], files[name])
    return files, codes


def write_files(folder: Path, files: dict[str, bytes]) -> Path:
    """Write the files into a folder and return it."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def validate_serially(source, **options):
    """Validate in this process."""
    return einvoice.validate_many(source, workers=0, progress=False, **options)
