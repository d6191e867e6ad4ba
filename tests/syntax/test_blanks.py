"""White space between elements, which the tree of a validated document lacks."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import einvoice
from einvoice.syntax import xml
from tests.helpers.paths import SAMPLES

EXT = "urn:oasis:names:specification:ubl:schema:xsd:CommonExtensionComponents-2"
UBL = (SAMPLES / "ubl-invoice.xml").read_text(encoding="utf-8")

_MARKUP = ["<!-- -->", "<?p?>", "<![CDATA[ ]]>", "<![CDATA[x]]>", "<e/>", "<e> </e>", "<e>x</e>"]
_TEXTS = [" ", "\n  ", "\r\n", "\r", "&#32;", "&#13;", "&#xA0;", "x", " x"]
_CONTENTS = st.recursive(
    st.lists(st.sampled_from(_MARKUP + _TEXTS), max_size=5).map("".join),
    lambda inner: st.lists(st.one_of(inner, inner.map("<e>{}</e>".format)), max_size=3).map("".join),
    max_leaves=6,
)


def _text_nodes(element) -> list[str]:
    return [text or "" for text in (element.text, *(child.tail for child in element))]


@given(_CONTENTS)
@example("<e> \r\r\n </e>")
@example("<e>  <![CDATA[]]>x</e>")
@example("<e> <!-- -->x</e>")
@example("<e> \r x</e>")
def test_only_white_space_between_elements_is_left_out(content):
    data = f"<r>{content}</r>".encode()
    complete, without = (list(xml.parse(data, keep_blanks=keep).iter()) for keep in (True, False))
    assert [it.tag for it in without] == [it.tag for it in complete]
    for all_text, some_text in zip(map(_text_nodes, complete), map(_text_nodes, without), strict=True):
        if len(all_text) == 1:
            assert some_text == all_text
        else:
            assert all(some in (every, "") for some, every in zip(some_text, all_text, strict=True))
            assert "".join(some_text).split() == "".join(all_text).split()


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_indentation_is_left_out(line_end):
    data = UBL.replace("\n", line_end).encode()
    assert any(xml.parse(data).xpath("//text()[not(normalize-space())]"))
    assert not xml.parse(data, keep_blanks=False).xpath("//text()[not(normalize-space())]")


@pytest.mark.parametrize(
    "changes",
    [
        {"<cbc:ID>": "<cbc:ID> <cbc:ID/>"},
        {"</cbc:Name>": "\n<cbc:Name> </cbc:Name>\n</cbc:Name>"},
        {"<cbc:IssueDate>": "<cbc:IssueDate>\n<!-- -->"},
        {"<cbc:Percent>": "<cbc:Percent> <cbc:Percent/> "},
        {"<cbc:CustomizationID>": "<cbc:UBLVersionID>\n <x/>2.1</cbc:UBLVersionID><cbc:CustomizationID>"},
        {"<cac:TaxScheme>": "<cac:TaxScheme> x "},
    ],
)
def test_values_of_a_validated_document_keep_their_white_space(changes):
    text = UBL
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    document = text.encode()
    assert einvoice.validate(document).invoice == einvoice.read(document)


@pytest.mark.parametrize("around", ["{}", "<x:own>{}</x:own>"])
def test_an_element_in_a_value_violates_the_schema_also_in_an_extension(around):
    """Only so can the white space between elements be left out before the reader finds such an element."""
    party = "<cac:Party><cac:PartyName><cbc:Name> <x:own/> </cbc:Name></cac:PartyName></cac:Party>"
    content = f"<ext:ExtensionContent>{around.format(party)}</ext:ExtensionContent>"
    extensions = f"<ext:UBLExtensions><ext:UBLExtension>{content}</ext:UBLExtension></ext:UBLExtensions>"
    text = UBL.replace("<Invoice ", f'<Invoice xmlns:ext="{EXT}" xmlns:x="urn:own" ')
    document = text.replace("<cbc:CustomizationID>", f"{extensions}<cbc:CustomizationID>").encode()
    assert "SCHEMA-NO-CHILDREN" in {it.code for it in einvoice.validate(document).findings}
