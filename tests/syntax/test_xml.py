"""Hardened parsing: accepted and rejected input, with cause, position and remedy of each error."""

import codecs
import io
import time
import tomllib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from einvoice import errors
from einvoice.resources import rules_folder
from einvoice.syntax import xml
from einvoice.syntax.detect import identify
from tests.helpers.archives import archive
from tests.helpers.properties import examples

UBL = "urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"
LAUGHS = b"""<?xml version="1.0"?>
<!DOCTYPE lolz [
 <!ENTITY lol "lol">
 <!ENTITY lol2 "&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;">
 <!ENTITY lol3 "&lol2;&lol2;&lol2;&lol2;&lol2;&lol2;&lol2;&lol2;&lol2;&lol2;">
]>
<lolz>&lol3;</lolz>"""
EXTERNAL = b'<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]><r>&x;</r>'
ORDER_X = b"urn:un:unece:uncefact:data:SCRDMCCBDACIOMessageStructure:100"

# problem -> bytes, error, expected text
BAD: dict[str, tuple[bytes, type[errors.UnreadableDocument], dict[str, object]]] = {
    "empty": (b"", errors.EmptyFile, {}),
    "blanks only": (b"\xef\xbb\xbf \r\n\t", errors.EmptyFile, {}),
    "zeros only": (bytes(512), errors.EmptyFile, {}),
    "PNG": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", errors.UnsupportedFormat, {"found": "PNG"}),
    "ZIP": (b"PK\x03\x04\x14\0\0\0", errors.UnsupportedFormat, {"found": "ZIP"}),
    "empty ZIP": (archive([]), errors.EmptyArchive, {}),
    "JSON": (b'\n{"invoice_number": "1"}', errors.UnsupportedFormat, {"found": "JSON"}),
    "HTML": (b"<!doctype HTML><p>Login", errors.UnsupportedFormat, {"found": "HTML"}),
    "PDF": (b"%PDF-1.7\n", errors.UnsupportedFormat, {"found": "PDF"}),
    "plain text": ("Grüße".encode(), errors.UnsupportedFormat, {"found": '"Grüße"'}),
    "bytes": (b"\x01\x02\xfe\xff", errors.UnsupportedFormat, {"found": "01 02 FE FF"}),
    "UTF-32": ("<a/>".encode("utf-32"), errors.UnsupportedEncoding, {"encoding": "UTF-32"}),
    "EBCDIC": ("<?xml version='1.0'?><a/>".encode("cp037"), errors.UnsupportedEncoding, {"encoding": "EBCDIC"}),
    "Shift JIS": (b'<?xml version="1.0" encoding="Shift_JIS"?><a/>', errors.UnsupportedEncoding, {}),
    "made-up encoding": (b'<?xml version="1.0" encoding="klingon"?><a/>', errors.UnsupportedEncoding, {}),
    "11 MB": (b"<a>" + b"x" * 11_000_000 + b"</a>", errors.TooLarge, {"limit": 10_485_760}),
    "depth 100,000": (b"<a>" * 100_000 + b"</a>" * 100_000, errors.TooDeep, {"limit": 256, "line": 1}),
    "depth 257": (b"<a>\n" * 257 + b"</a>" * 257, errors.TooDeep, {"line": 257}),
    "depth 257, long text": (b"<a>" * 257 + b"x" * 10_000_001 + b"</a>" * 257, errors.TooDeep, {"limit": 256}),
    "500,001 elements": (b"<r>" + b"<a/>" * 500_000 + b"</r>", errors.TooManyElements, {"limit": 500_000}),
    "500,001 attributes": (
        b"<r>" + b"<a b='' c =\n\"\"/>" * 250_001 + b"</r>",
        errors.TooManyElements,
        {"limit": 500_000},
    ),
    "257 attributes": (
        b"<r>\n<a " + b" ".join(b"b%d = '>'" % n for n in range(257)) + b"/></r>",
        errors.TooManyAttributes,
        {"limit": 256, "line": 2, "column": 1},
    ),
    "257 namespaces": (
        b"<a " + b"\n".join(b'xmlns:b%d="c"' % n for n in range(257)) + b"/>",
        errors.TooManyAttributes,
        {"limit": 256},
    ),
    "namespace of 1,001 bytes": (
        b"<r><a b='c' xmlns:d = '" + b"e" * 1001 + b"'/></r>",
        errors.NamespaceTooLong,
        {"limit": 1000, "line": 1, "column": 4},
    ),
    "billion laughs": (LAUGHS, errors.DoctypeForbidden, {"line": 2, "column": 1}),
    "external entity": (EXTERNAL, errors.DoctypeForbidden, {"line": 1, "column": 1}),
    "DOCTYPE behind a comment": (b"<!-- <x> -->\n <!DOCTYPE a><a/>", errors.DoctypeForbidden, {"line": 2, "column": 2}),
    "DOCTYPE in UTF-16": (LAUGHS.decode().encode("utf-16"), errors.DoctypeForbidden, {"line": 2}),
    "truncated in a tag": (b"<a>\n<b te", errors.TruncatedXml, {"line": 2, "column": 6}),
    "truncated in a value": (b'<a>\n<b c="d', errors.TruncatedXml, {"line": 2}),
    "truncated in text": (b"<a>\n<b>text", errors.TruncatedXml, {"line": 2, "column": 8}),
    "truncated in a comment": (b"<a>\n<!-- ", errors.TruncatedXml, {"line": 2}),
    "truncated in a character": ("<a>\nä".encode()[:-1], errors.TruncatedXml, {"line": 2, "column": 1}),
    "declaration only": (b'<?xml version="1.0"?>', errors.TruncatedXml, {"line": 1, "column": 22}),
    "wrong closing tag": (
        b"<a>\n<b>\n</c></a>",
        errors.TagMismatch,
        {"opened": "b", "opened_line": 2, "closed": "c", "line": 3},
    ),
    "bare ampersand": (b"<a>\nM & S</a>", errors.BadReference, {"line": 2}),
    "ampersand in a name": (b"<a>\nM&S GmbH</a>", errors.BadReference, {"line": 2}),
    "unknown entity": (b"<a>&nbsp;</a>", errors.BadReference, {"line": 1}),
    "NUL": (b"<a>\nx\0</a>", errors.ForbiddenCharacter, {"line": 2, "column": 2}),
    "control character": (b"<a>\n\x01</a>", errors.ForbiddenCharacter, {"line": 2, "column": 1}),
    "Latin-1 taken for UTF-8": ("<a>\nGrüße</a>".encode("latin-1"), errors.EncodingMismatch, {"line": 2, "column": 3}),
    "UTF-8 taken for UTF-16": (
        b'<?xml version="1.0" encoding="utf-16"?><a/>',
        errors.EncodingMismatch,
        {"encoding": "utf-16", "line": 1},
    ),
    "UTF-16 taken for UTF-8": (
        '<?xml version="1.0" encoding="utf-8"?><a/>'.encode("utf-16"),
        errors.EncodingMismatch,
        {"encoding": "utf-8"},
    ),
    "little endian taken for big": (
        '<?xml version="1.0" encoding="utf-16be"?><a/>'.encode("utf-16"),
        errors.EncodingMismatch,
        {"encoding": "utf-16be"},
    ),
    "half a surrogate": (
        codecs.BOM_UTF16_LE + "<a>\nx".encode("utf-16-le") + b"\x00\xd8<\0",
        errors.EncodingMismatch,
        {"line": 2, "column": 2},
    ),
    "not ASCII": ('<?xml version="1.0" encoding="US-ASCII"?>\n<ä/>'.encode(), errors.EncodingMismatch, {"line": 2}),
    "blank line first": (b'\n <?xml version="1.0"?><a/>', errors.MisplacedDeclaration, {"line": 2}),
    "two documents": (b'<a/>\n<?xml version="1.0"?><a/>', errors.MisplacedDeclaration, {"line": 2}),
    "undeclared prefix": (b"<a>\n<b:c/></a>", errors.NotWellFormed, {"line": 2}),
    "attribute twice": (b"<a b='1' b='2'/>", errors.NotWellFormed, {"reason": "Attribute b redefined", "line": 1}),
    "text behind the root": (b"<a/>\nend", errors.NotWellFormed, {"line": 2, "column": 1}),
    "another root": (b"\n<Order xmlns='urn:x'/>", errors.UnknownRoot, {"name": "Order", "namespace": "urn:x"}),
    "no namespace": (b"<Invoice/>", errors.UnknownRoot, {"name": "Invoice", "namespace": "–", "line": 1}),
    "ZUGFeRD 1": (
        b"<r:CrossIndustryDocument xmlns:r='urn:ferd:CrossIndustryDocument:invoice:1p0'/>",
        errors.ZugferdV1,
        {"line": 1},
    ),
    "Order-X": (b"<SCRDMCCBDACIOMessageStructure xmlns='" + ORDER_X + b"'/>", errors.OrderX, {"line": 1}),
}
GOOD = '<?xml version="1.0" encoding="{}"?>\n<a b="é">Grüße, 5 €<c/></a>'


def refusal(data: bytes) -> errors.UnreadableDocument:
    with pytest.raises(errors.UnreadableDocument) as caught:
        identify(xml.parse(data))
    return caught.value


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_rejected_with_cause_and_position(case):
    data, kind, said = BAD[case]
    start = time.process_time()
    error = refusal(data)
    assert type(error) is kind
    assert said.items() <= error.values.items()
    assert (error.line, error.column) == (error.values.get("line"), error.values.get("column"))
    assert time.process_time() - start < 2, "refusing must be quick"


@pytest.mark.parametrize("case", BAD)
def test_the_texts_of_each_error_can_be_formatted(case):
    error = refusal(BAD[case][0])
    entry = tomllib.loads((rules_folder() / "file" / f"{error.code}.toml").read_text(encoding="utf-8"))
    for language in ("de", "en"):
        for text in entry[language].values():
            assert text.format(**error.values).strip()
    assert str(error).isprintable()
    assert len(str(error)) < 250


@pytest.mark.parametrize("case", BAD)
def test_errors_have_a_position_inside_the_file(case):
    error = refusal(BAD[case][0])
    if isinstance(error, errors.NotWellFormed):
        lines = BAD[case][0].count(b"\n") + 1
        assert error.line is not None
        assert 1 <= error.line <= lines
        assert error.column is not None
        assert error.column >= 1


@pytest.mark.parametrize("codec", ["utf-8", "utf-16", "windows-1252", "iso-8859-15"])
def test_declared_encodings_are_read(codec):
    root = xml.parse(GOOD.format(codec).encode(codec)).getroot()
    assert (root.get("b"), root.text) == ("é", "Grüße, 5 €")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (codecs.BOM_UTF8 + "<a>ä</a>".encode(), "ä"),
        (codecs.BOM_UTF8 + '<?xml version="1.0" encoding="ISO-8859-1"?><a>ä</a>'.encode(), "ä"),
        ('<?xml version="1.0" encoding="ISO-8859-1"?><a>ä</a>'.encode("latin-1"), "ä"),
        ('<?xml version="1.0" encoding="US-ASCII"?><a>a</a>'.encode("ascii"), "a"),
        ("<a>ä€\U0001d11e</a>".encode(), "ä€\U0001d11e"),
        ("<a>ä€\U0001d11e</a>".encode("utf-16"), "ä€\U0001d11e"),
        (codecs.BOM_UTF16_BE + "<a>ä</a>".encode("utf-16-be"), "ä"),
        ('<?xml version="1.0" encoding="UTF-16"?><a>ä</a>'.encode("utf-16-le"), "ä"),
        ('<?xml version="1.0" encoding="UTF-16"?><a>ä</a>'.encode("utf-16-be"), "ä"),
        (b"<a>31<!-- -->4.<?pi x?>86</a>", "314.86"),
        (b"<a><![CDATA[<!DOCTYPE b>]]></a>", "<!DOCTYPE b>"),
        (b"<!-- <!DOCTYPE b> --><a>x</a>", "x"),
        (b"\n\n<a>x</a>", "x"),
        (b"<a>&amp;&lt;&#65;</a>", "&<A"),
    ],
)
def test_valid_documents_are_read_completely(data, text):
    root = xml.parse(data).getroot()
    assert root.text == text
    assert len(root) == 0


def test_a_comment_before_the_root_may_be_long():
    assert xml.parse(b"<!--" + b"x" * 3_000_000 + b"--><a/>").getroot().tag == "a"


def test_an_unfinished_prolog_is_scanned_in_linear_time():
    start = time.process_time()
    assert type(refusal(b"<!---->" * 1_000_000 + b"<!--")) is errors.TruncatedXml
    assert time.process_time() - start < 2


def test_depth_is_allowed_up_to_the_limit():
    assert len(list(xml.parse(b"<a>" * 256 + b"</a>" * 256).iter())) == 256


def test_an_invoice_of_ten_thousand_lines_is_read():
    line = b"<l>" + b"<a>1</a>" * 29 + b"</l>"
    assert len(xml.parse(b"<r>" + line * 10_000 + b"</r>").getroot()) == 10_000


def test_many_attributes_are_read():
    root = xml.parse(
        b"<a " + b" ".join(b'b%d="="' % n for n in range(256)) + b">" + b"=" * 1_000_000 + b"</a>"
    ).getroot()
    assert len(root.attrib) == 256


def test_a_text_or_value_may_resemble_a_long_namespace():
    text = ' xmlns="' + "e" * 2000
    root = xml.parse(f"<a b='{text}' xmlns='c'>{text}</a>".encode()).getroot()
    assert (root.get("b"), root.text) == (text, text)


def test_an_attachment_may_fill_the_file():
    assert len(xml.parse(b"<a>" + b"x" * 10_400_000 + b"</a>").getroot().text) == 10_400_000


def test_the_caller_sets_the_limits():
    limits = xml.DEFAULT._replace(bytes=20, elements=3)
    assert len(xml.parse(b"<r><a/><a/></r>", limits).getroot()) == 2
    with pytest.raises(errors.TooManyElements):
        xml.parse(b"<r><a/><a/><a/></r>", limits)
    with pytest.raises(errors.TooLarge):
        xml.parse(b"<r>1234567890123</r>x", limits)


def test_nothing_is_fetched_or_included(tmp_path):
    (tmp_path / "secret").write_text("secret")
    include = f'<a xmlns:x="http://www.w3.org/2001/XInclude"><x:include href="{tmp_path}/secret" parse="text"/></a>'
    assert "secret" not in "".join(xml.parse(include.encode()).getroot().itertext())


@given(st.binary(max_size=300))
def test_random_bytes_raise_documented_errors(data):
    with suppress(errors.UnreadableDocument):
        identify(xml.parse(data))


EDITS = st.lists(
    st.tuples(
        st.integers(0, 400),
        st.integers(0, 12),
        st.sampled_from([b"", b"<", b">", b"&", b"\0", b"\xff", b"<!DOCTYPE ", b"--", b"]]>", b"<?", b"'", b"<b>"]),
    ),
    min_size=1,
    max_size=4,
)


@examples(300)
@given(st.sampled_from(["utf-8", "utf-16", "latin-1"]), EDITS)
def test_damaged_documents_raise_documented_errors(codec, edits):
    data = f'<?xml version="1.0" encoding="{codec}"?>\n<!-- c -->\n<Invoice xmlns="{UBL}"><a b="c">ä&amp;</a></Invoice>'
    damaged = data.encode(codec)
    for start, length, new in edits:
        damaged = damaged[:start] + new + damaged[start + length :]
    with suppress(errors.UnreadableDocument):
        identify(xml.parse(damaged))


# Positions

BLANKS = st.text("\n \tä€\U0001d11e", max_size=4)


@given(st.lists(st.tuples(BLANKS, st.booleans()), max_size=12), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_positions_are_those_of_the_start_tags(pieces, codec):
    text = "<r>"
    want = [(1, 1)]
    for blank, comment in pieces:
        text += blank + ("<!-- \n<e> -->" if comment else "")
        want.append((text.count("\n") + 1, len(text) - text.rfind("\n")))
        text += '<e a="\n">'
    text += "</e>" * len(pieces) + "</r>"
    data = text.encode(codec)
    elements = list(xml.parse(data).iter())
    assert xml.positions(data, elements) == want
    assert xml.positions(data, elements[::-2]) == want[::-2]


def test_positions_in_a_single_byte_encoding_and_with_both_line_endings():
    data = '<?xml version="1.0" encoding="windows-1252"?>\r\n<a>€ü<b/>\r\n  <c/></a>'.encode("cp1252")
    root = xml.parse(data).getroot()
    assert xml.positions(data, [*root]) == [(2, 6), (3, 3)]


def test_lines_beyond_65535_are_exact():
    data = b"<r>" + b"<l>\n<m>\n1</m>\n\n</l>\n" * 20_000 + b"</r>"
    last = xml.parse(data).getroot()[-1]
    assert xml.positions(data, [last, last[0]]) == [(5 * 19_999 + 1, 1), (5 * 19_999 + 2, 1)]
    assert abs(last.sourceline - 99_996) <= 2


def test_positions_reject_elements_of_another_document():
    elements = list(xml.parse(b"<a><b/></a>").iter())
    assert xml.positions(b"<a><b/></a>", []) == []
    with pytest.raises(ValueError, match="belong to another document"):
        xml.positions(b"<a/>", elements)


# Sources


def test_a_source_is_a_path_bytes_or_a_binary_file(tmp_path):
    path = tmp_path / "invoice.xml"
    path.write_bytes(b"<a/>")
    assert xml.source_bytes(path) == (b"<a/>", "invoice.xml")
    assert xml.source_bytes(str(path)) == (b"<a/>", "invoice.xml")
    for content in (b"<a/>", bytearray(b"<a/>"), memoryview(b"<a/>"), io.BytesIO(b"<a/>")):
        assert xml.source_bytes(content) == (b"<a/>", "")
    with path.open("rb") as file:
        assert xml.source_bytes(file) == (b"<a/>", "invoice.xml")


def test_an_invalid_source(tmp_path):
    with pytest.raises(TypeError, match="as bytes"):
        xml.source_bytes("\ufeff <a/>")
    with pytest.raises(TypeError, match="not int"):
        xml.source_bytes(5)
    with pytest.raises(TypeError, match="'rb'"):
        xml.source_bytes(io.StringIO("<a/>"))
    with pytest.raises(FileNotFoundError):
        xml.source_bytes(tmp_path / "missing.xml")


class Portions(io.RawIOBase):
    """An endless file that returns seven bytes at a time."""

    taken = 0

    def readable(self):
        return True

    def read(self, size=-1):
        part = min(size, 7)
        self.taken += part
        return b"x" * part


def test_no_more_than_the_limit_is_read(tmp_path):
    endless = Portions()
    with pytest.raises(errors.TooLarge) as caught:
        xml.source_bytes(endless, xml.Limits(bytes=100))
    assert endless.taken == 101
    assert caught.value.values == {"limit": 100}
    assert xml.source_bytes(bytes(100), xml.Limits(bytes=100))[0] == bytes(100)
    with pytest.raises(errors.TooLarge):
        xml.source_bytes(bytes(101), xml.Limits(bytes=100))


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"<a/>", "xml"),
        (codecs.BOM_UTF8 + b" <a/>", "xml"),
        ("<a/>".encode("utf-16"), "xml"),
        ("<a/>".encode("utf-16-be"), "xml"),
        (b"%PDF-1.7", "pdf"),
        (b"x" * 1000 + b"%PDF-1.7", "pdf"),
        (b"x" * 1024 + b"%PDF-1.7", '"' + "x" * 39 + '…"'),
        (b"PK\x03\x04" + b"\x00" * 26 + b"a.pdf%PDF-1.7", "ZIP"),
        (b"\xff\xd8\xff\xe0", "JPEG"),
        (b"UNA:+.? '", "EDIFACT"),
        (b"Nr;Datum\n1;2", '"Nr;Datum↵1;2"'),
        (b"ISO \xe4\xf6", "49 53 4F 20 E4 F6"),
    ],
)
def test_sniff(data, found):
    assert xml.sniff(data) == found
