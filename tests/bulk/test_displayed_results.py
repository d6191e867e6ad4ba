"""Text and HTML of result sets, and of what notebooks display."""

import html.parser

import pytest

import einvoice
from tests.helpers.corpora import UBL, make_corpus, validate_serially, with_error

HOSTILE = "<script>alert(1)</script>&quot;\"'"
CODES = make_corpus(30)[1]


@pytest.fixture(scope="module")
def hostile():
    data = UBL
    for old in (
        b"Lindenhof Gartenbau GmbH",
        b"LG-2026-0417",
        b"Stadt Hohenau",
        b"DE123456789",
        b"2026-05-04",
        b"Lavendel",
    ):
        assert old in data
        data = data.replace(old, HOSTILE.replace("&", "&amp;").replace("<", "&lt;").encode())
    return data


def test_summary_counts_files_and_codes(results):
    overview = results.summary()
    assert (overview.files, overview.findings) == (30, len(CODES))
    assert {it.code: it.files for it in overview.codes} == {
        code: list(CODES.values()).count(code) for code in CODES.values()
    }
    assert str(overview).startswith("30 files: 25 valid, 4 not valid, 1 unreadable\n")
    assert overview.to_frame().files.sum() == len(CODES)
    assert str(results) == str(overview) == repr(overview)
    assert repr(results) == "<ResultSet: 30 files: 25 valid, 4 invalid, 1 unreadable>"


class _Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


def parsed(page):
    tags = _Tags()
    tags.feed(page)
    return tags


def test_html_escapes_invoice_text(hostile):
    first = validate_serially([(HOSTILE, hostile), (f"{HOSTILE}2", b"<x/>")])
    pages = [
        first,
        first.summary(),
        validate_serially([("a", UBL)]).compare(first),
        first.compare(validate_serially([], allow_empty=True)),
        einvoice.read(hostile),
    ]
    pages += [einvoice.validate(hostile), *first[0].findings, *first[1].findings]
    for displayed in pages:
        page = parsed(displayed._repr_html_())
        assert not {"script", "img", "iframe", "object", "link", "a"} & set(page.tags)
        assert not [name for name, _ in page.attributes if name.startswith("on") or name in ("src", "href")]
        assert "alert(1)" not in "".join(value or "" for _, value in page.attributes)


def test_html_of_an_invoice_shows_its_values():
    page = parsed(einvoice.read(UBL)._repr_html_())
    for fact in ("LG-2026-0417", "Lindenhof Gartenbau GmbH", "DE123456789", "415.33", "Lavendel im Topf", "BT-112"):
        assert fact in page.text


def test_html_of_a_finding_is_expanded():
    (finding,) = einvoice.validate(with_error("BR-CO-10", UBL), lang="en").findings
    page = parsed(finding._repr_html_())
    assert ("open", None) in page.attributes
    assert finding.title() in page.text
    assert finding.fix() in page.text


def test_displayed_texts_are_reproducible(tmp_path):
    path = tmp_path / "a.xml"
    path.write_bytes(with_error("BR-CO-10", UBL))
    results = validate_serially([path])
    displayed_objects = [
        results,
        results[0],
        results.summary(),
        results.compare(validate_serially([], allow_empty=True)),
        results.compare(validate_serially([], allow_empty=True)).new[0],
    ]
    for displayed in displayed_objects:
        output = repr(displayed) + str(displayed) + getattr(displayed, "_repr_html_", str)()
        assert str(tmp_path) not in output
        assert "0x" not in output
        assert results[0].sha256 not in repr(displayed)
