"""Hypothesis strategy for XML written in every legal way, with the spans of its elements known from its making."""

from dataclasses import dataclass, field

from hypothesis import strategies as st

from einvoice.model.location import NAMESPACES

BLANKS = st.sampled_from(["", " ", "\n", "\n  ", "\r\n\t", "\r\n    ", "\n\n"])
COMMENTS = st.sampled_from(["<!-- <cbc:ID>1</cbc:ID> -->", "<?app \"x' > ?>", "<!---->", "<!--ü-->"])
TEXTS = st.text(st.sampled_from("abü€ 1.\n"), max_size=5)
RAW = st.one_of(TEXTS, st.sampled_from(["&amp;", "&#8364;", "&lt;b>", "<![CDATA[<a> & ]]>", "&#13;", "]]", "'\""]))
NAMES = st.sampled_from(["cbc:ID", "cbc:Note", "cac:Party", "ext:UBLExtension", "x:Own"])
VALUES = st.sampled_from(["EUR", "a>b", "&quot;", "&#10;ü", "  ", "it is", ""])


@dataclass
class Element:
    """An element: offsets of its start tag, its content, its end tag and its end in the text of the document."""

    start: int
    content: int = 0
    close: int = 0
    end: int = 0
    children: int = 0
    attributes: dict[str, str] = field(default_factory=dict)


@dataclass
class Markup:
    """A document as text, and its elements in document order."""

    text: str
    elements: list[Element]


class _Builder:
    def __init__(self, draw):
        self.draw = draw
        self.text = ""
        self.elements = []

    def blanks(self):
        self.text += self.draw(BLANKS)

    def misc(self):
        for _ in range(self.draw(st.integers(0, 2))):
            self.blanks()
            self.text += self.draw(st.one_of(st.just(""), COMMENTS))

    def attributes(self, element):
        for name in self.draw(st.lists(st.sampled_from(["currencyID", "schemeID", "x:own"]), unique=True, max_size=3)):
            mark = self.draw(st.sampled_from("\"'"))
            element.attributes[name] = self.draw(VALUES)
            self.text += self.draw(st.sampled_from([" ", "\n  ", "\t"])) + name
            self.text += self.draw(st.sampled_from(["=", " = "])) + mark + element.attributes[name] + mark

    def element(self, name, declared, depth):
        element = Element(len(self.text))
        self.elements.append(element)
        self.text += f"<{name}{declared}"
        self.attributes(element)
        self.text += self.draw(st.sampled_from(["", " ", "\n"]))
        kind = self.draw(st.sampled_from(["empty", "text", "children"] if depth else ["children"]))
        if kind == "empty":
            self.text += "/>"
            element.content = element.close = element.end = len(self.text)
            return
        self.text += ">"
        element.content = len(self.text)
        if kind == "text":
            for raw in self.draw(st.lists(st.one_of(RAW, COMMENTS), max_size=3)):
                self.text += raw.replace("]]", "]") if "CDATA" not in raw else raw
        else:
            element.children = self.draw(st.integers(0 if depth else 1, 3 if depth < 3 else 0))
            for _ in range(element.children):
                self.misc()
                self.element(self.draw(NAMES), "", depth + 1)
            self.misc()
        element.close = len(self.text)
        self.text += f"</{name}{self.draw(st.sampled_from(['', ' ']))}>"
        element.end = len(self.text)


@st.composite
def documents(draw, encoding="utf-8"):
    """Generate documents whose declaration names the encoding."""
    builder = _Builder(draw)
    quote = draw(st.sampled_from("\"'"))
    builder.text = f"<?xml version={quote}1.0{quote} encoding={quote}{encoding}{quote}?>"
    builder.misc()
    declared = "".join(f' xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items())
    builder.element("ubl:Invoice", f'{declared} xmlns:x="urn:own"', 0)
    builder.misc()
    return Markup(builder.text, builder.elements)
