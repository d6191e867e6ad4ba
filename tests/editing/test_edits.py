"""Edits of XML: the tree has the change, and nothing outside the edited element is another byte."""

import difflib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

import einvoice
from einvoice import errors
from einvoice.editing.edits import EditError, Insert, Remove, RemoveAttribute, SetAttribute, SetText, apply
from einvoice.model import location
from einvoice.syntax import xml
from tests.helpers.markup import documents

ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "iso-8859-1", "iso-8859-15", "windows-1252")
NEW = st.text(st.sampled_from("ab ü€&<>\"'\t\n\r]🧾"), max_size=8)


def encoded(text, codec):
    """Return the text as a document; a character that the encoding lacks is dropped."""
    if codec == "utf-16":
        return text.encode("utf-16")
    return text.encode(codec, "ignore")


def trimmed(root):
    """Return the canonical form without the white space around elements."""
    return etree.canonicalize(root, strip_text=True, rewrite_prefixes=True)


def numbers(markup, *, leaves=False):
    return [n for n, element in enumerate(markup.elements) if not (leaves and element.children)]


@st.composite
def edited(draw):
    """Generate (text, edit, span of the edited element in the text, expected change of the tree)."""
    markup = draw(documents())
    kind = draw(st.sampled_from(["text", "attribute", "remove attribute", "remove"]))
    choice = numbers(markup, leaves=kind == "text")
    if kind == "remove":
        choice = choice[1:]
    if kind == "remove attribute":
        choice = [n for n in choice if markup.elements[n].attributes]
    if not choice:
        kind, choice = "attribute", [0]
    number = draw(st.sampled_from(choice))
    element, new = markup.elements[number], draw(NEW)
    root = xml.parse(markup.text.encode()).getroot()
    node = list(root.iter())[number]
    xpath = location.xpath(node)
    span = (element.start, element.end)
    if kind == "text":
        edit, span = SetText(xpath, new), span if element.close == element.end else (element.content, element.close)
        node.text = new
    elif kind == "attribute":
        name = draw(st.sampled_from(["currencyID", "unitCode", "{urn:own}own", "{urn:other}new"]))
        edit, span = SetAttribute(xpath, name, new), (element.start, element.content)
        node.set(name, new)
    elif kind == "remove attribute":
        name = draw(st.sampled_from(sorted(element.attributes))).replace("x:", "{urn:own}")
        edit, span = RemoveAttribute(xpath, name), (element.start, element.content)
        del node.attrib[name]
    else:
        edit = Remove(xpath)
        blanks = len(markup.text[: element.start]) - len(markup.text[: element.start].rstrip(" \t"))
        line = markup.text[: element.start - blanks].removesuffix("\n").removesuffix("\r")
        if len(line) < element.start - blanks:
            span = (len(line), element.end)
        tail = node.tail
        parent, previous = node.getparent(), node.getprevious()
        parent.remove(node)
        if previous is not None:
            previous.tail = (previous.tail or "") + (tail or "")
    return markup.text, edit, span, root


@pytest.mark.parametrize("codec", ENCODINGS)
@given(edited())
def test_one_edit_changes_its_element_and_no_other_byte(codec, case):
    text, edit, (start, end), expected = case
    text = text.replace("utf-8", codec.removesuffix("-sig"), 1)
    shift = len(codec.removesuffix("-sig")) - len("utf-8")
    before, after = text[: start + shift], text[end + shift :]
    data = encoded(text, codec)
    result = apply(data, [edit])
    tail = after.encode("utf-16")[2:] if codec == "utf-16" else encoded(after, codec.removesuffix("-sig"))
    assert result.startswith(encoded(before, codec))
    assert result.endswith(tail)
    assert len(result) >= len(encoded(before, codec)) + len(tail)
    if codec in ("utf-8", "utf-8-sig", "utf-16"):
        assert trimmed(xml.parse(result).getroot()) == trimmed(expected)
    else:
        xml.parse(result)


@given(edited())
def test_texts_and_attributes_are_what_lxml_reads(case):
    text, edit, _, _ = case
    root = xml.parse(apply(text.encode(), [edit])).getroot()
    if isinstance(edit, SetText | SetAttribute):
        (node,) = root.xpath(edit.xpath, namespaces={**einvoice.NAMESPACES})
        assert (node.text or "") == edit.text if isinstance(edit, SetText) else node.get(edit.name) == edit.value


@pytest.mark.slow
@given(documents(), st.data())
def test_edits_of_several_elements_do_not_move_each_other(markup, data):
    root = xml.parse(markup.text.encode()).getroot()
    nodes = list(root.iter())
    chosen = data.draw(st.lists(st.sampled_from(numbers(markup, leaves=True) or [0]), unique=True))
    chosen = [n for n in chosen if not markup.elements[n].children]
    edits = []
    for number in chosen:
        edits += [
            SetText(location.xpath(nodes[number]), f"n{number}"),
            SetAttribute(location.xpath(nodes[number]), "id", "<"),
        ]
        nodes[number].text = f"n{number}"
        nodes[number].set("id", "<")
    edits = data.draw(st.permutations(edits))
    result = apply(markup.text.encode(), edits)
    assert trimmed(xml.parse(result).getroot()) == trimmed(root)
    position, kept = 0, []
    for number in sorted(chosen):
        kept.append(markup.text[position : markup.elements[number].start])
        position = markup.elements[number].end
    kept.append(markup.text[position:])
    assert re.fullmatch(".*?".join(map(re.escape, kept)), result.decode(), re.DOTALL)


UBL = """\
<?xml version="1.0" encoding="UTF-8"?>
<!-- export 4711 -->
<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"
    xmlns:a="urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2"
    xmlns:b="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2">
  <b:ID>1</b:ID>
  <b:IssueDate>2026-01-01</b:IssueDate> <!-- today -->
  <b:Note>Gr&#252;&#xDF;e <![CDATA[<&>]]></b:Note>
  <a:AccountingSupplierParty/>
  <a:TaxTotal>
    <b:TaxAmount currencyID='EUR'>19.00</b:TaxAmount>
    <a:TaxSubtotal>
      <b:TaxableAmount currencyID='EUR'>100.00</b:TaxableAmount>
    </a:TaxSubtotal>
  </a:TaxTotal>
</Invoice>
"""


def lines_of(text, edits):
    """Return the lines that edits add to and remove from a document."""
    lines = list(difflib.ndiff(text.splitlines(), apply(text.encode(), edits).decode().splitlines()))
    return [line[2:] for line in lines if line[0] == "+"], [line[2:] for line in lines if line[0] == "-"]


def test_insertion_has_the_prefixes_and_the_indentation_of_its_neighbours():
    path = ("cac:TaxTotal", "cac:TaxSubtotal", "cac:TaxCategory", "cac:TaxScheme", "cbc:ID")
    added, removed = lines_of(UBL, [Insert("/ubl:Invoice", path, "VAT", {"schemeID": "x"})])
    assert removed == []
    assert added == [
        "      <a:TaxCategory>",
        "        <a:TaxScheme>",
        '          <b:ID schemeID="x">VAT</b:ID>',
        "        </a:TaxScheme>",
        "      </a:TaxCategory>",
    ]


@pytest.mark.parametrize("position", range(5))
def test_insertion_stands_where_the_schema_requires_it(position, sample):
    """Take an element out of a valid invoice; inserting it again gives the same document."""
    path = (
        ("cbc:DueDate",), ("cbc:InvoiceTypeCode",), ("cac:PaymentMeans", "cbc:PaymentMeansCode"),
        ("cac:AccountingCustomerParty", "cac:Party", "cac:PartyLegalEntity", "cbc:RegistrationName"),
        ("cac:LegalMonetaryTotal", "cbc:LineExtensionAmount"),
    )[position]  # fmt: skip
    original = einvoice.write(einvoice.read(sample("ubl-invoice.xml")))
    root = xml.parse(original).getroot()
    (node,) = root.xpath("/ubl:Invoice/" + "/".join(path), namespaces=einvoice.NAMESPACES)
    without = apply(original, [Remove(location.xpath(node))])
    assert without != original
    again = apply(without, [Insert("/ubl:Invoice", path, node.text, dict(node.attrib))])
    assert again == original


def test_several_insertions_share_their_missing_parent():
    step = "cac:TaxSubtotal[2]"
    added, removed = lines_of(UBL, [
        Insert("/ubl:Invoice/cac:TaxTotal", (step, "cbc:TaxAmount"), "7.00", {"currencyID": "EUR"}),
        Insert("/ubl:Invoice/cac:TaxTotal", (step, "cbc:TaxableAmount"), "100.50", {"currencyID": "EUR"}),
        Insert("/ubl:Invoice", ("cbc:DueDate",), "2026-02-01"),
    ])  # fmt: skip
    assert removed == []
    assert added == [
        "  <b:DueDate>2026-02-01</b:DueDate>",
        "    <a:TaxSubtotal>",
        '      <b:TaxableAmount currencyID="EUR">100.50</b:TaxableAmount>',
        '      <b:TaxAmount currencyID="EUR">7.00</b:TaxAmount>',
        "    </a:TaxSubtotal>",
    ]


@pytest.mark.parametrize(
    ("parent", "after"),
    [
        ("<a:Party/>", "<a:Party>{}</a:Party>"),
        ("<a:Party ></a:Party>", "<a:Party >{}</a:Party>"),
        ("\n <a:Party />\n", "\n <a:Party>\n  {}\n </a:Party>\n"),
        ("\r\n\t<a:Party></a:Party>\r\n", "\r\n\t<a:Party>\r\n\t\t{}\r\n\t</a:Party>\r\n"),
        ("\n <a:Party>\n </a:Party>\n", "\n <a:Party>\n  {}\n </a:Party>\n"),
        ("<a:Party><b:WebsiteURI/></a:Party>", "<a:Party><b:WebsiteURI/>{}</a:Party>"),
    ],
)  # fmt: skip
def test_insertion_into_an_element_without_later_children(parent, after):
    indentation = parent[: parent.index("<")]
    text = UBL[: UBL.index("  <b:ID>")].rstrip() + f"{indentation}<b:ID>1</b:ID><a:AccountingSupplierParty>{parent}"
    text += "</a:AccountingSupplierParty></Invoice>"
    xpath = "/ubl:Invoice/cac:AccountingSupplierParty/cac:Party"
    result = apply(text.encode(), [Insert(xpath, ("cbc:EndpointID",), "4", {"schemeID": "EM"})]).decode()
    assert after.format('<b:EndpointID schemeID="EM">4</b:EndpointID>') in result


def test_missing_namespaces_are_declared_where_they_are_needed():
    text = '<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2" xmlns:cbc="urn:other"/>'
    result = apply(text.encode(), [Insert("/ubl:Invoice", ("cac:Party", "cbc:EndpointID"), "4")])
    (node,) = xml.parse(result).getroot().xpath("/ubl:Invoice/cac:Party/cbc:EndpointID", namespaces=einvoice.NAMESPACES)
    assert node.text == "4"
    assert result.startswith(text.removesuffix("/>").encode())


def test_comments_in_a_text_remain():
    added, removed = lines_of(
        UBL.replace("Gr&#252;", "<!-- a --> Gr&#252;<?b?>"), [SetText("/ubl:Invoice/cbc:Note", "x > y")]
    )
    assert removed == ["  <b:Note><!-- a --> Gr&#252;<?b?>&#xDF;e <![CDATA[<&>]]></b:Note>"]
    assert added == ["  <b:Note><!-- a -->x &gt; y<?b?></b:Note>"]


def test_a_text_that_is_set_already_stays_as_it_is():
    assert apply(UBL.encode(), [SetText("/ubl:Invoice/cbc:Note", "Grüße <&>")]) == UBL.encode()
    amount = "/ubl:Invoice/cac:TaxTotal/cbc:TaxAmount"
    assert apply(UBL.encode(), [SetAttribute(amount, "currencyID", "EUR")]) == UBL.encode()
    assert apply(UBL.encode(), []) == UBL.encode()


@pytest.mark.parametrize("codec", ["iso-8859-15", "windows-1252", "iso-8859-1", "us-ascii"])
def test_characters_outside_the_encoding_become_references(codec):
    data = UBL.replace("UTF-8", codec).encode(codec)
    result = apply(
        data, [SetText("/ubl:Invoice/cbc:ID", "ü€🧾"), SetAttribute("/ubl:Invoice/cbc:ID", "schemeID", "🧾")]
    )
    assert b"&#129534;" in result
    assert (b"&#8364;" in result) == (codec in ("iso-8859-1", "us-ascii"))
    node = xml.parse(result).getroot()[0]
    assert (node.text, node.get("schemeID")) == ("ü€🧾", "🧾")


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ([SetText("/ubl:Invoice/cbc:ID", "2"), SetText("/ubl:Invoice/cbc:ID", "3")], "contradict"),
        ([SetText("/ubl:Invoice/cbc:ID", "2"), Remove("/ubl:Invoice/cbc:ID")], "contradict"),
        ([Remove("/ubl:Invoice/cac:TaxTotal"), Remove("/ubl:Invoice/cac:TaxTotal/cac:TaxSubtotal")], "contradict"),
        ([Remove("/ubl:Invoice/cac:TaxTotal"),
          Insert("/ubl:Invoice/cac:TaxTotal", ("cac:TaxSubtotal[2]",))], "contradict"),
        ([SetText("/ubl:Invoice/cac:AccountingSupplierParty", "x"),
          Insert("/ubl:Invoice/cac:AccountingSupplierParty", ("cac:Party",))], "child elements"),
        ([SetText("/ubl:Invoice/cac:TaxTotal", "x")], "child elements"),
        ([SetText("/ubl:Invoice/cbc:Missing", "x")], "exactly one"),
        ([SetText("//cbc:*", "x")], "exactly one"),
        ([SetText("count(/*)", "x")], "exactly one"),
        ([SetText("/ubl:Invoice/cbc:ID/text()", "x")], "exactly one"),
        ([SetText("/ubl:Invoice[", "x")], "invalid XPath"),
        ([SetText("/ubl:Invoice/cbc:ID", "x\0")], "U\\+0000"),
        ([SetAttribute("/ubl:Invoice/cbc:ID", "a b", "x")], "not a name"),
        ([RemoveAttribute("/ubl:Invoice/cbc:ID", "schemeID")], "no attribute"),
        ([Remove("/ubl:Invoice")], "root"),
        ([Insert("/ubl:Invoice", ("cbc:ID",), "2")], "exists"),
        ([Insert("/ubl:Invoice", ("cbc:DueDate",), "2"), Insert("/ubl:Invoice", ("cbc:DueDate",), "3")], "exists"),
        ([Insert("/ubl:Invoice", ("cbc:Note[3]",), "x")], "only 1"),
        ([Insert("/ubl:Invoice", ("DueDate",), "x")], "not the name"),
        ([Insert("/ubl:Invoice", ("no:DueDate",), "x")], "not the name"),
        ([Insert("/ubl:Invoice", ())], "needs the name"),
    ],
)  # fmt: skip
def test_edits_that_do_not_fit_are_rejected(edits, message):
    with pytest.raises(EditError, match=message):
        apply(UBL.encode(), edits)


def test_equal_edits_count_once():
    edit = Insert("/ubl:Invoice", ("cbc:DueDate",), "2026-02-01")
    assert apply(UBL.encode(), [edit, edit]) == apply(UBL.encode(), [edit])


def test_xpaths_refer_to_the_original_document():
    edits = [Insert("/ubl:Invoice", ("cbc:Note[2]",), "x"), SetText("/ubl:Invoice/cbc:Note", "y"), Remove("/*/*[1]")]
    added, removed = lines_of(UBL, edits)
    assert added == ["  <b:Note>y</b:Note>", "  <b:Note>x</b:Note>"]
    assert removed == ["  <b:ID>1</b:ID>", "  <b:Note>Gr&#252;&#xDF;e <![CDATA[<&>]]></b:Note>"]


def test_entities_are_rejected():
    with pytest.raises(errors.DoctypeForbidden):
        apply(b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", [SetText("/a", "x")])
