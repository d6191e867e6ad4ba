"""Damaged and malicious PDFs: each is answered within the memory and time limits."""

import random
import time
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pikepdf import Array, Dictionary, Name, String

import einvoice
from einvoice import errors
from einvoice.pdf import embedded_invoice
from einvoice.pdf.sandbox import read_hybrid
from tests.helpers.hybrids import RAW, XML, hybrid, packed
from tests.helpers.properties import examples

GOOD = hybrid()
SECONDS = 10
"""Of the processor, on a busy machine; most take a hundredth of one."""


def outcome(data):
    """What becomes of a file, by name; nothing but a verdict or an error of ours is an answer."""
    started = time.perf_counter()
    try:
        read_hybrid(data)
        answer = "read"
    except errors.UnreadableDocument as error:
        answer = type(error).__name__
    assert time.perf_counter() - started < 30 * SECONDS
    return answer


def blown_up(megabytes):
    """So many megabytes of blanks, packed by Flate."""
    pack = zlib.compressobj(9)
    parts = [pack.compress(b" " * (1 << 20)) for _ in range(megabytes)]
    return b"".join((*parts, pack.flush()))


def lzw():
    """A few hundred kilobytes that LZW unpacks to gigabytes: codes for ever longer runs of zeros."""
    data, held, bits = bytearray(), 0, 0

    def put(code, width):
        nonlocal held, bits
        held, bits = held << width | code, bits + width
        while bits >= 8:
            bits -= 8
            data.append(held >> bits & 255)
        held &= (1 << bits) - 1

    for number in range(400):
        put(256, 12 if number else 9)
        put(0, 9)
        for code in range(258, 4094):
            put(code, 9 if code < 511 else 10 if code < 1023 else 11 if code < 2047 else 12)
    put(257, 12)
    put(0, 8)
    return bytes(data)


def instead(data, *filters):
    return hybrid(lambda pdf, spec: packed(pdf, spec, data, *filters), **RAW)


def nested(times):
    data = XML
    for _ in range(times):
        data = zlib.compress(data)
    return instead(data, *["FlateDecode"] * times)


def cross_reference_bomb():
    """The list of objects itself is the bomb, so that opening the file is enough."""
    header, data = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", lzw()
    entries = b"<</Type/XRef/Size 10/W[1 2 1]/Root 2 0 R/Filter/LZWDecode/Length %d>>" % len(data)
    body = b"1 0 obj\n" + entries + b"\nstream\n" + data + b"\nendstream\nendobj\n"
    return header + body + b"startxref\n%d\n%%%%EOF\n" % len(header)


def metadata(data, filter):
    def change(pdf, spec):
        del pdf.Root.Metadata["/Type"]  # by which qpdf would know it, and unpack it
        pdf.Root.Metadata.write(data, filter=filter, type_check=False)

    return hybrid(change, **RAW)


def loop_of_names(pdf, spec):
    one = pdf.make_indirect(Dictionary())
    other = pdf.make_indirect(Dictionary(Kids=Array([one, one])))
    one.Kids = Array([other, other, other])
    pdf.Root.Names.EmbeddedFiles = one


def loop_of_pages(pdf, spec):
    pdf.Root.Pages.Kids.append(pdf.Root.Pages)


def loop_of_forms(pdf, spec):
    form = pdf.make_stream(b"", Subtype=Name.Form)
    form.Resources = Dictionary(XObject=Dictionary(A=form))
    pdf.pages[0].obj.Resources = form.Resources


def loop_of_actions(pdf, spec):
    action = pdf.make_indirect(Dictionary(S=Name.GoTo))
    action.Next = Array([action] * 50)
    pdf.Root.OpenAction = action


def deep_names(pdf, spec):
    node = pdf.make_indirect(Dictionary(Names=Array([String("factur-x.xml"), spec])))
    for _ in range(3000):
        node = pdf.make_indirect(Dictionary(Kids=Array([node])))
    pdf.Root.Names.EmbeddedFiles = node


def wide_names(pdf, spec):
    pdf.Root.Names.EmbeddedFiles.Names = Array([it for n in range(50_000) for it in (String(f"{n:06}"), spec)])


def many_pictures(pdf, spec):
    pictures = {f"/I{n}": pdf.make_stream(b"", Subtype=Name.Image) for n in range(30_000)}
    pdf.pages[0].obj.Resources = Dictionary(XObject=Dictionary(pictures))


BOMBS = {
    "flate": (lambda: instead(blown_up(200), "FlateDecode"), "EmbeddedXmlUnreadable"),
    "flate twice": (lambda: instead(zlib.compress(blown_up(200), 9), "FlateDecode", "FlateDecode"),
                    "EmbeddedXmlUnreadable"),
    "flate thirty times": (lambda: nested(30), "EmbeddedXmlUnreadable"),
    "run length": (lambda: instead(bytes([129, 32]) * (2 << 20) + b"\x80", "RunLengthDecode"), "EmbeddedXmlUnreadable"),
    "base 85": (lambda: instead(zlib.compress(b"z" * (24 << 20) + b"~>", 9), "FlateDecode", "ASCII85Decode"),
                "EmbeddedXmlUnreadable"),
    "lzw": (lambda: instead(lzw(), "LZWDecode"), "EmbeddedXmlUnreadable"),
    "list of objects": (cross_reference_bomb, "PdfDamaged"),
    "metadata": (lambda: metadata(blown_up(200), Name.FlateDecode), "read"),
    "loop of names": (lambda: hybrid(loop_of_names), "read"),
    "loop of pages": (lambda: hybrid(loop_of_pages, **RAW), "PdfDamaged"),
    "loop of forms": (lambda: hybrid(loop_of_forms), "read"),
    "loop of actions": (lambda: hybrid(loop_of_actions), "read"),
    "deep names": (lambda: hybrid(deep_names), "read"),
    "wide names": (lambda: hybrid(wide_names), "read"),
    "many pictures": (lambda: hybrid(many_pictures), "read"),
    "entities": (lambda: hybrid(xml=b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'), "read"),
    "deep XML": (lambda: hybrid(xml=b"<a>" * 1_000_000), "read"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_decompression_bombs_are_contained(name):
    resource = pytest.importorskip("resource")
    make, answer = BOMBS[name]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    data = make()
    made = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert outcome(data) == answer
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - max(before, made) < 50_000  # kilobytes: this process does not grow
    assert read_hybrid(GOOD).xml == XML  # the next file is read normally


def test_xml_bombs_raise_specific_errors():
    with pytest.raises(errors.TooDeep):
        einvoice.validate(hybrid(xml=b"<a>" * 100_000))
    with pytest.raises(errors.DoctypeForbidden):
        einvoice.validate(hybrid(xml=b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'))


def damaged(seed):
    """Return a valid file that is truncated, or with bytes changed, removed, inserted or repeated."""
    random_source = random.Random(seed)
    data, kind = bytearray(GOOD), seed % 5
    position = random_source.randrange(len(data))
    if kind == 0:
        del data[position:]
    elif kind == 1:
        for _ in range(random_source.choice((1, 10, 100))):
            data[random_source.randrange(len(data))] = random_source.randrange(256)
    elif kind == 2:
        del data[position : position + random_source.randrange(1, 500)]
    elif kind == 3:
        data[position:position] = random_source.randbytes(200)
    else:
        data += data[:position]
    return bytes(data)


@pytest.mark.slow
def test_damaged_files_raise_known_errors():
    outcomes = {outcome(damaged(seed)) for seed in range(200)}
    assert "read" in outcomes
    assert outcomes <= {"read", "PdfDamaged", "PdfWithoutXml", "EmbeddedXmlUnreadable"}


UNCOMPRESSED = hybrid(**RAW)


@examples(60)
@given(st.lists(st.tuples(st.integers(0, len(UNCOMPRESSED) - 1), st.binary(max_size=6)), min_size=1, max_size=8))
def test_replaced_bytes_raise_known_errors(changes):
    data = bytearray(UNCOMPRESSED)
    for position, other in changes:
        data[position : position + len(other) + 1] = other
    try:
        assert embedded_invoice.read(bytes(data)).candidates
    except errors.UnreadableDocument as raised:
        error = raised
    else:
        return
    assert error.code.startswith("FILE-PDF-")
