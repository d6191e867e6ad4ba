"""Signatures of a PDF, detected while reading it."""

import pytest
from pikepdf import Array, Dictionary

import einvoice
from einvoice.pdf import embedded_invoice
from tests.helpers.hybrids import hybrid

SIGNED = {
    "signature": {"AcroForm": Dictionary(SigFlags=3, Fields=Array())},
    "certification": {"Perms": Dictionary(DocMDP=Dictionary())},
}
UNSIGNED = {
    "nothing": {},
    "a form": {"AcroForm": Dictionary(Fields=Array())},
    "no signature yet": {"AcroForm": Dictionary(SigFlags=2)},
    "damaged": {"AcroForm": Array(), "Perms": Array()},
    "damaged flags": {"AcroForm": Dictionary(SigFlags=Array([1]))},
}


def with_root(entries):
    return hybrid(lambda pdf, spec: [pdf.Root.__setitem__(f"/{key}", value) for key, value in entries.items()])


@pytest.mark.parametrize("entries", SIGNED.values(), ids=SIGNED)
def test_signed_pdf(entries):
    assert embedded_invoice.read(with_root(entries)).signed
    assert einvoice.validate(with_root(entries)).container.signed


@pytest.mark.parametrize("entries", UNSIGNED.values(), ids=UNSIGNED)
def test_pdf_without_signature(entries):
    assert not embedded_invoice.read(with_root(entries)).signed
