"""The invoice page: completeness, escaping of text, and claims of the PDF."""

import datetime
import io
import itertools
import re
import subprocess
import sys
import tomllib
import unicodedata
from pathlib import Path

import pikepdf
import pytest
from hypothesis import Phase, given
from hypothesis import strategies as st
from lxml import html as parser
from PIL import Image

import einvoice
from einvoice.cli import main
from einvoice.codelists import codes
from einvoice.errors import MissingDependency
from einvoice.model.group import Group, terms_of, types_of
from einvoice.model.invoice import Invoice
from einvoice.model.iteration import filled
from einvoice.model.lines import Line
from einvoice.model.terms import terms
from einvoice.model.values import Binary, Code, Date, Identifier, Number, Percentage, Quantity, Text
from einvoice.pdf.writer.xmp import Packet
from einvoice.visualization import glyphs, invoice_pdf
from einvoice.visualization.invoice.context import PageContext
from einvoice.visualization.invoice.page import invoice_html
from einvoice.visualization.invoice.payment import conditions
from einvoice.visualization.labels import field_label, label, meaning
from einvoice.visualization.markup import Markup, tag
from einvoice.visualization.typesetting import render
from tests.helpers.full import full_invoice
from tests.helpers.labelled import Page, condensed, missing, unlabelled
from tests.helpers.properties import examples
from tests.helpers.strategies import everything, invoices, plausible_invoices

PAGE = Path(glyphs.__file__).parent
NO_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)  # it takes minutes, and the message says it all


def page_text(invoice, lang="de"):
    """Return what the page says, without blanks and in lower case."""
    return Page(invoice, lang).text


# ---------------------------------------------------------------- it says everything


def filled_group(cls, counter, depth=0):
    """A group with two of everything that may be many and one of the rest; no two values say the same."""
    content = {}
    for field in cls.fields:
        kind, many = types_of(cls)[field]
        if field == "more" or (kind is Line and depth > 1):
            continue
        deeper = depth + (kind is Line)
        made = [
            filled_group(kind, counter, deeper) if issubclass(kind, Group) else unique(kind, field, next(counter))
            for _ in range(2 if many else 1)
        ]
        content[field] = made if many else made[0]
    return cls(**content)


def unique(kind, field, number):
    if kind is Date:
        return Date((datetime.date(1990, 1, 1) + datetime.timedelta(days=number)).isoformat())
    if field == "indicator":
        return Code("true" if number % 2 else "false")
    if issubclass(kind, Number):
        beside = {"unitCode": f"U{number}"} if kind is Quantity else {"currencyID": f"X{number}"}
        return kind(f"{number}.25", {} if kind is Percentage else beside)
    if kind is Binary:
        return Binary("YWJj", {"filename": f"file{number}.pdf", "mimeCode": "application/pdf"})
    return kind(f"V{number}V", {"schemeID": f"S{number}"} if kind is Identifier else {})


@pytest.mark.parametrize("lang", ["de", "en"])
def test_every_business_term_is_displayed(lang):
    invoice = filled_group(Invoice, itertools.count(1))
    invoice.documents[0].type_code = Code("130")  # BT-18
    invoice.seller.tax_registrations[0].scheme = Code("VAT")  # BT-31
    invoice.allowances_and_charges[0].indicator = Code("true")  # BT-99
    invoice.allowances_and_charges[1].indicator = Code("false")
    invoice.tax_totals[1].amount.attributes["currencyID"] = invoice.tax_currency.raw  # BT-111
    without = set(terms()) - {it.number for it in filled(invoice)}
    of_groups = {number for number, term in terms().items() if term.datatype == "Group"}
    attributes = {number for number in terms() if "-" in number[3:]} | {"BT-130", "BT-150"}  # attributes, checked below
    assert without <= of_groups | attributes
    assert missing(invoice, lang) == []


@pytest.mark.slow
@examples(40, phases=NO_SHRINKING)
@given(invoices(repeated=everything, syntax="UBL"), st.sampled_from(["de", "en"]))
def test_every_value_of_any_invoice_is_displayed(invoice: Invoice, lang: str) -> None:
    assert missing(invoice, lang) == []


@examples(15, phases=NO_SHRINKING)
@given(plausible_invoices())
def test_every_value_of_a_plausible_invoice_is_displayed(invoice: Invoice) -> None:
    assert missing(invoice, "de") == []


@pytest.mark.parametrize("name", ["ubl-invoice.xml", "cii-invoice.xml", "ubl-credit-note.xml"])
@pytest.mark.parametrize("lang", ["de", "en"])
def test_every_value_of_the_samples_is_displayed(sample, name, lang):
    invoice = einvoice.read(sample(name))
    assert missing(invoice, lang) == []
    assert unlabelled(invoice, lang) == []


def test_completeness_check_detects_a_missing_value():
    invoice = full_invoice()
    text = page_text(invoice)
    invoice.buyer.address.line_3 = Text("Hinterhaus")
    assert "hinterhaus" not in text
    assert "hinterhaus" in page_text(invoice)


def test_codes_are_displayed_as_text():
    text = page_text(full_invoice())
    for words in ("SEPA-Überweisung", "2 % Skonto bei Zahlung innerhalb von 14 Tagen", "DE89370400440532013000"):
        assert condensed(words) in text
    for words in ("Rechnung R-2026-0815", "Treuerabatt, Rabatt", "Zuschlag: Fracht", "2 Std.", "Italien"):
        assert condensed(words) in text


@pytest.mark.parametrize(
    ("term", "lang", "expected"),
    [
        ("#SKONTO#TAGE=7#PROZENT=2.50#BASISBETRAG=1500.00#", "de", "2,5 % Skonto auf 1.500,00 EUR bei Zahlung"),
        ("#VERZUG#TAGE=30#PROZENT=9.12#", "de", "9,12 % Verzugszinsen ab 30 Tagen"),
        ("#VERZUG#TAGE=30#PROZENT=9.12#BASISBETRAG=10.00#", "en", "9.12 % interest on 10.00 EUR for late payment"),
        ("#SKONTO#TAGE=7#PROZENT=2#", "de", "#SKONTO#TAGE=7#PROZENT=2#"),
    ],
)
def test_structured_payment_terms_are_displayed_as_text(term, lang, expected):
    shown = conditions(PageContext(full_invoice(), lang), f"Vorab.\n{term}\nEnde.")
    assert shown.splitlines()[0] == "Vorab."
    assert shown.splitlines()[1].replace("\xa0", " ").startswith(expected)


@pytest.mark.parametrize("nested", [True, False])
def test_sub_lines_follow_their_parent(nested):
    first, second, third = full_invoice(3).lines
    invoice = full_invoice(0)
    if nested:  # as in UBL
        first.lines, second.lines = [second], [third]
        invoice.lines = [first]
    else:  # as in CII
        second.parent_line, third.parent_line = first.identifier, second.identifier
        invoice.lines = [first, second, third]
    tree = parser.document_fromstring(f"<body>{invoice_html(PageContext(invoice, 'de'))}</body>")
    rows = tree.xpath("//table[@class='lines']/tbody/tr")
    assert [(row[0].text_content(), row.get("class")) for row in rows] == [
        ("1", None),
        ("2", "below below1"),
        ("3", "below below2"),
    ]


def test_cyclic_parent_lines_terminate():
    invoice = full_invoice(2)
    first, second = invoice.lines
    first.parent_line, second.parent_line = second.identifier, first.identifier
    assert page_text(invoice).count("4711-0000") == 2


def test_codes_are_displayed_as_english_text():
    text = page_text(full_invoice(), "en")
    for words in ("Invoice R-2026-0815", "SEPA credit transfer", "2 % cash discount if paid within 14 days"):
        assert condensed(words) in text
    assert "31mar2026" in text


# ---------------------------------------------------------------- labels


def messages(lang):
    return tomllib.loads((PAGE / "messages" / f"{lang}.toml").read_text("utf-8"))


def test_every_label_is_used():
    source = "".join(path.read_text() for path in PAGE.rglob("*.py"))
    for key in messages("de")["invoice"]:
        stem = re.sub("(_always)?(_base)?$|_(title|document)$", "", key)
        assert key in terms() or re.search(f"['\"]{stem}['\"]", source), key


PEPPOL_PROCESSES = {
    "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0",
    "urn:fdc:peppol.eu:2017:poacc:selfbilling:01:1.0",
}
INCOTERMS = {"EXW", "FCA", "FAS", "FOB", "CFR", "CIF", "CPT", "CIP", "DAP", "DPU", "DDP"}
#: Lists that no rule uses: UNTDID 1001 beyond invoices, UNTDID 3035, and the standard texts of ZUGFeRD.
UNLISTED = {"document_types": "[0-9]{1,3}", "party_roles": "[A-Z]{2}", "text_blocks": "[EVW]EV|ST[123]"}


def test_labels_of_a_kind_of_document_replace_those_of_an_invoice():
    for lang in ("de", "en", "fr"):
        for kind in ("credit_note", "negative", "self_billed"):
            assert messages(lang)[kind].keys() <= messages(lang)["invoice"].keys()
            assert messages(lang)[kind].keys() == messages("de")[kind].keys()


def test_every_code_is_in_its_official_list():
    official = {
        "invoice_types": codes("invoice_types") | codes("credit_note_types"),
        "schemes": codes("icd") | codes("eas") | {"VA", "FC"} | {"9958"},  # of tax registrations in CII; withdrawn
        "business_processes": codes("france_billing_modes") | PEPPOL_PROCESSES,
        "classifications": codes("item_classifications"),
        "vat_short": codes("vat_categories"),
        "line_actions": codes("line_statuses"),
        "taxes": codes("tax_types"),
        "delivery_terms": INCOTERMS,
        "transport_modes": set("0123456789"),  # UN/ECE Recommendation 19
        "line_statuses": {"DETAIL", "GROUP", "INFORMATION"},  # of Factur-X EXTENDED (BT-X-8)
    }
    for name, known in messages("de").items():
        if name in UNLISTED:
            assert all(re.fullmatch(UNLISTED[name], code) for code in known)
        elif name not in ("invoice", "credit_note", "negative", "self_billed", "report", "fields", "elements"):
            unknown = known.keys() - (official.get(name) or codes(name))
            assert unknown == set(), name


def test_every_field_without_business_term_has_a_label():
    for lang in ("de", "en", "fr"):
        for name in fields_without_term(Invoice):
            assert field_label(name, lang)


def fields_without_term(cls, seen=None):
    """Return the names of all fields below a class that hold values of no business term."""
    seen = seen if seen is not None else set()
    if cls in seen:
        return set()
    seen.add(cls)
    found = set()
    for name in cls.fields.keys() - {"more"}:
        kind, _ = types_of(cls)[name]
        if issubclass(kind, Group):
            found |= fields_without_term(kind, seen)
        elif not any(terms_of(cls, name)):
            found.add(name)
    return found


def test_mandatory_code_lists_have_labels():
    for name in ("vat_categories", "allowance_reasons", "tax_point_codes"):
        assert {code for code in codes(name) if not meaning(name, code, "de")} <= {"104"}
    assert not {code for code in codes("france_billing_modes") if not meaning("business_processes", code, "de")}


def test_label_falls_back_to_the_standard():
    assert label("BT-97", "de") == "Grund des Nachlasses"
    with pytest.raises(LookupError):
        label("BT-999", "de")


# ---------------------------------------------------------------- escaping


def test_text_is_escaped():
    assert tag("td", "<script>&", class_='"x"') == '<td class="&quot;x&quot;">&lt;script&gt;&amp;</td>'
    invoice = full_invoice(text="<img src=x onerror=1>")
    tree = parser.document_fromstring(f"<body>{invoice_html(PageContext(invoice, 'de'))}</body>")
    assert not tree.xpath("//img | //script | //link | //style")


@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_printable_text_has_glyphs_and_no_direction_overrides(text):
    shown = glyphs.printable(text)
    for character in shown:
        assert ord(character) in glyphs._covered() or character in glyphs._INVISIBLE or character == "\n"
        assert unicodedata.bidirectional(character) not in ("RLO", "LRO", "RLE", "LRE", "RLI", "LRI", "FSI")


@given(st.text("ABCäöüß€§–„“ .,;:-/0123456789", max_size=30))
def test_german_text_is_unchanged(text):
    assert glyphs.printable(text) == text


def test_unprintable_characters_are_marked():
    assert glyphs.printable("漢字 a\u202eb\x07") == "\ufffd\ufffd ab"
    assert "\ufffd" not in page_text(full_invoice())
    assert condensed(label("unshown", "de")) in page_text(full_invoice(text="漢"))


def test_external_resources_are_not_loaded(tmp_path, caplog):
    Image.new("RGB", (8, 8), "red").save(tmp_path / "secret.png")
    reference = Markup(f'<img alt="" src="{(tmp_path / "secret.png").as_uri()}"/>')
    with pikepdf.open(io.BytesIO(render(reference, lang="de", title="x"))) as pdf:
        assert not pdf.pages[0].get_images()
        assert "/EmbeddedFiles" not in pdf.Root.get("/Names", {})
    assert "Failed to load image" in caplog.text


# ---------------------------------------------------------------- the PDF


@pytest.fixture(scope="module")
def pdf():
    with pikepdf.open(io.BytesIO(invoice_pdf(full_invoice(), "de"))) as opened:
        yield opened


def test_pdf_declares_pdfa_and_pdfua(pdf):
    packet = Packet(bytes(pdf.Root.Metadata.read_bytes()))
    assert (packet.part, packet.conformance, packet.get("pdfuaid:part")) == ("3", "A", "1")
    assert packet.get("dc:title") == str(pdf.docinfo.Title) == "Rechnung R-2026-0815"
    assert packet.get("dc:creator") == "Müller & Söhne GmbH"
    assert packet.get("xmp:CreateDate").startswith("2026-03-31T12:00:00")
    assert pdf.Root.Lang == "de"
    assert pdf.Root.MarkInfo.Marked
    assert "/StructTreeRoot" in pdf.Root
    assert pdf.Root.OutputIntents[0].S == "/GTS_PDFA1"
    assert pdf.check_pdf_syntax() == []


def test_pdf_contains_only_bundled_fonts(pdf):
    names = {str(it.FontName) for it in pdf.objects if isinstance(it, pikepdf.Dictionary) and "/FontName" in it}
    assert names
    assert {name.partition("+")[2].removesuffix("-Bold") for name in names} == {"DejaVu-Sans"}


def test_pdf_is_reproducible():
    assert invoice_pdf(full_invoice(), "en") == invoice_pdf(full_invoice(), "en")


def test_long_table_repeats_its_header_on_a4_pages():
    with pikepdf.open(io.BytesIO(invoice_pdf(full_invoice(60)))) as long:
        assert len(long.pages) > 3
        assert {tuple(round(float(edge)) for edge in page.mediabox) for page in long.pages} == {(0, 0, 595, 842)}
        heads = [it for it in long.objects if isinstance(it, pikepdf.Dictionary) and it.get("/S") == "/TH"]
        assert len(heads) > 20


def test_empty_invoice_has_one_page():
    with pikepdf.open(io.BytesIO(invoice_pdf(Invoice()))) as empty:
        assert len(empty.pages) == 1


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["RGB", "RGBA", "CMYK", "L", "P", "1", "LA", "I;16"])
def test_logo_is_rgb_without_interpolation(mode):
    picture = io.BytesIO()
    Image.new(mode, (40, 20)).save(picture, "TIFF" if mode == "CMYK" else "PNG")
    with pikepdf.open(io.BytesIO(invoice_pdf(full_invoice(1), logo=picture.getvalue()))) as pdf:
        streams = [it for it in pdf.objects if isinstance(it, pikepdf.Stream) and it.get("/Subtype") == "/Image"]
        (image,) = [it for it in streams if it.get("/ColorSpace") != "/DeviceGray"]  # the gray one is the alpha channel
        assert image.ColorSpace == "/DeviceRGB"
        assert image.Interpolate == False  # noqa: E712 (of pikepdf)


def test_invalid_logo_is_rejected():
    with pytest.raises(ValueError, match="not an image"):
        invoice_pdf(full_invoice(1), logo=b"<html/>")


# ---------------------------------------------------------------- dependencies


def test_weasyprint_is_imported_lazily():
    modules = "einvoice.visualization, einvoice.pdf.writer.embed"
    code = f"import sys, {modules}; print({{'weasyprint', 'pikepdf', 'PIL'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_missing_renderer_error_names_its_libraries(monkeypatch):
    module = sys.modules["einvoice.visualization.typesetting"]
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    module._tools.cache_clear()
    with pytest.raises(
        MissingDependency, match=re.escape("libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0")
    ) as raised:
        invoice_pdf(full_invoice(1))
    assert raised.value.extra == "pdf"
    module._tools.cache_clear()


def test_command_generate_names_a_missing_renderer(monkeypatch, sample, capsys):
    module = sys.modules["einvoice.visualization.typesetting"]
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    module._tools.cache_clear()
    assert main(["generate", str(sample("draft.json")), "--format", "ZUGFERD"]) == 2
    module._tools.cache_clear()
    assert capsys.readouterr().err.startswith("PDFs need weasyprint: pip install")


@pytest.mark.parametrize(
    ("system", "command"), [("darwin", "brew install pango"), ("win32", "WEASYPRINT_DLL_DIRECTORIES")]
)
def test_missing_libraries_are_those_of_the_system(monkeypatch, system, command):
    monkeypatch.setattr(sys, "platform", system)
    message = str(MissingDependency("weasyprint", extra="pdf", libraries=["libpango-1.0-0"]))
    assert command in message
    assert "apt-get" not in message


def test_environment_is_restored(monkeypatch):
    monkeypatch.setenv("FONTCONFIG_FILE", "mine")
    module = sys.modules["einvoice.visualization.typesetting"]
    assert module._with_bundled_fonts(lambda: __import__("os").environ["FONTCONFIG_FILE"]).endswith("fonts.conf")
    assert __import__("os").environ["FONTCONFIG_FILE"] == "mine"
