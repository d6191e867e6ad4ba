"""Invoices for tests of many files: made by varying the samples, with faults whose code is known."""

from __future__ import annotations

from pathlib import Path

SAMPLES = Path(__file__).parent.parent / "samples"
UBL = (SAMPLES / "ubl-invoice.xml").read_bytes()
CII = (SAMPLES / "cii-invoice.xml").read_bytes()

#: By code: what is changed in the sample, so that this and nothing else is wrong.
FAULTS = {
    "BR-CO-10": (b'"EUR">99.00', b'"EUR">98.99'),
    "BR-DE-15": (b"<cbc:BuyerReference>", b"<!--", b"</cbc:BuyerReference>", b"-->"),
    "SCHEMA-VALUE-DATE": (b"2026-05-04", b"2026-05-32"),
    "FILE-ROOT": (b":Invoice", b":Receipt", b"<Invoice", b"<Receipt", b"</Invoice", b"</Receipt"),
}


def numbered(number: int, data: bytes = UBL) -> bytes:
    """The sample with a number of its own."""
    return data.replace(b"LG-2026-0417", b"LG-2026-%06d" % number).replace(b"SW-88", b"LG-2026-%06d" % number)


def with_fault(code: str, data: bytes) -> bytes:
    """An invoice that has this fault."""
    changes = FAULTS[code]
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        assert old in data or code == "FILE-ROOT"
        data = data.replace(old, new)
    return data


def planted(size: int) -> tuple[dict[str, bytes], dict[str, str]]:
    """So many invoices by name, every third with a fault, and the code of each fault by name."""
    files: dict[str, bytes] = {}
    codes: dict[str, str] = {}
    for number in range(size):
        name = f"{number % 4}/{number:04}.xml"
        files[name] = numbered(number, CII if number % 2 else UBL)
        if number % 6 == 0:
            codes[name] = list(FAULTS)[number // 6 % len(FAULTS)]
            files[name] = with_fault(codes[name], files[name])
    return files, codes


def in_folder(folder: Path, files: dict[str, bytes]) -> Path:
    """The files in a folder."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder
