"""Input that cannot be read, and encodings."""

import pytest

import einvoice
from einvoice import errors
from tests.helpers.paths import SAMPLES

UBL = (SAMPLES / "ubl-invoice.xml").read_bytes()
CII = (SAMPLES / "cii-invoice.xml").read_bytes()


def entity_bomb():
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    return f'<!DOCTYPE Invoice [<!ENTITY e0 "0123456789">{entities}]><Invoice>&e9;</Invoice>'.encode()


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", errors.EmptyFile),
        (b" \n", errors.EmptyFile),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", errors.UnsupportedFormat),
        (b"%PDF-1.7\n", errors.PdfDamaged),
        (UBL[: len(UBL) // 2], errors.TruncatedXml),
        (b"<Rechnung/>", errors.UnknownRoot),
        (entity_bomb(), errors.DoctypeForbidden),
        (b"<a>" * 100_000, errors.TooDeep),
        (b"<a>" * 100_000 + b"</a>" * 100_000, errors.TooDeep),
        (UBL + b" " * 11_000_000, errors.TooLarge),
    ],
)
def test_unreadable_documents_raise_errors_with_texts(data, error):
    for function in (einvoice.validate, einvoice.read):
        with pytest.raises(error) as raised:
            function(data)
    for lang in ("de", "en"):
        title, detail = einvoice.explain_error(raised.value, lang)
        assert title
        assert detail
        assert "{" not in title + detail


@pytest.mark.parametrize(
    ("declared", "codec"),
    [
        ("UTF-8", "utf-8-sig"),
        ("UTF-16", "utf-16"),
        ("UTF-16", "utf-16-le"),
        ("UTF-16", "utf-16-be"),
        ("ISO-8859-1", "iso-8859-1"),
        ("windows-1252", "cp1252"),
    ],
)
def test_supported_encodings(declared, codec):
    data = CII.decode().replace("UTF-8", declared).encode(codec)
    result = einvoice.validate(data)
    assert result.is_valid
    assert result.summary.buyer == "Hausverwaltung Eck & Söhne"


def test_missing_file_raises_file_not_found_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        einvoice.validate(tmp_path / "no.xml")


def test_unknown_element_with_an_xml_fifth_edition_name_has_a_position():
    data = UBL.replace(b"<cbc:Note>", "<cbc:\U00010000/><cbc:Note>".encode(), 1)
    (finding,) = (found for found in einvoice.validate(data).findings if found.layer == "schema")
    assert (finding.code, finding.line, finding.column) == ("SCHEMA-UNKNOWN-ELEMENT", 11, 3)
