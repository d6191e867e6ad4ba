"""The names that a condition needs: without one of them it is what is said, in a document of our own."""

import sys

import pytest
from lxml import etree

from einvoice.schematron.errors import Stopped
from einvoice.schematron.tree import Document
from einvoice.schematron.xpath.compiled import as_boolean
from einvoice.schematron.xpath.compiler import Scope, compile_text
from einvoice.schematron.xpath.frame import Frame, Run
from einvoice.schematron.xpath.needs import needed, needed_by_pattern
from einvoice.schematron.xpath.parser import parse
from tests.schematron.sheets import DOCUMENT, codes, program
from tests.schematron.test_program import pattern, schema

SCOPE = Scope({"t": "urn:test", "xs": "http://www.w3.org/2001/XMLSchema"})


def names(expression: str, wanted: bool) -> set[str]:
    return {it.replace("{urn:test}", "") for it in needed(parse(expression), wanted, SCOPE)}


def without(name: str) -> Document:
    """Return the document with other names for all elements or attributes of a name."""
    root = etree.fromstring(DOCUMENT.encode())
    for element in root.iter("{urn:test}" + name):
        element.tag = "gone"
    for element in root.iter("*"):
        element.attrib.pop(name.removeprefix("@"), None)
    return Document(root)


CASES = [
    ("not(t:order/t:line/t:name)", False, {"order", "line", "name"}),
    ("not(//t:line[t:sum and t:price]/@no)", False, {"line", "sum", "price", "@no"}),
    ("exists(//t:line[t:sum = ('4.50', '1')]) and //t:note", True, {"line", "sum", "note"}),
    ("//t:sum or //t:note[. = 'onetwo']", True, set()),
    ("not(//t:line/t:sum) or not(//t:line/t:note)", False, {"line", "sum", "note"}),
    ("not(//t:line/t:sum) and not(//t:line/t:price)", False, {"line"}),
    ("count(//t:sum) > 1", True, {"sum"}),
    ("1 < count(//t:sum)", True, {"sum"}),
    ("count(//t:sum) <= 1", False, {"sum"}),
    ("count(//t:sum) <= 1", True, set()),
    ("empty(//t:line/(t:sum | t:price))", False, {"line"}),
    ("//(t:total | t:sum)/t:name", True, set()),
    ("normalize-space(t:order/t:total) = '8.51'", True, {"order", "total"}),
    ("normalize-space(t:order/t:none) != ''", True, set()),
    ("every $a in //t:line satisfies $a/t:none", False, {"line"}),
    ("some $a in //t:line satisfies $a/t:name", True, {"line"}),
    ("//t:line[xs:decimal(t:price) > 1]/t:none", True, {"line"}),
    ("//t:line[t:count = 3]/t:name[t:none]", True, {"line", "count"}),
    ("//t:sum = //t:total/xs:decimal(.)", True, set()),
    ("document('codes.xml')/t:sum", True, set()),
]


@pytest.mark.parametrize(("expression", "wanted", "expected"), CASES)
def test_names_that_a_condition_needs(expression, wanted, expected):
    assert names(expression, wanted) == expected


@pytest.mark.parametrize(("expression", "wanted", "expected"), [it for it in CASES if it[2]])
def test_without_a_name_the_condition_is_decided(expression, wanted, expected):
    holds = as_boolean(compile_text(expression, SCOPE))
    for name in expected:
        run = Run(without(name), {})
        assert holds(Frame(run, run.document.node, {})) is not wanted, name


def test_an_error_before_a_missing_element_stops_the_sheet():
    sheet = program(schema(pattern('/t:order"><assert id="A" test="not(t:line[xs:decimal(t:price) > 1]/t:none)"/>')))
    with pytest.raises(Stopped, match="FORG0001"):
        codes(sheet)
    assert codes(sheet, DOCUMENT.replace(">x<", ">1<")) == []


def test_names_that_a_context_needs():
    context = "t:order[xs:decimal(t:total) > 1]//t:line[@no]/t:name"
    found = needed_by_pattern(parse(context), SCOPE)
    assert {it.replace("{urn:test}", "") for it in found} == {"order", "line", "@no", "name"}


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ("*[t:sum]", 2),
        ("*[t:sum][t:none]", 0),
        ("*[ends-with(name(), 'te') and not(t:none)]", 2),
        ("@*[name() = 'no']", 3),
        ("/*[t:total]", 1),
        ("*[xs:decimal(name()) > 1]", 0),
        ("*[local-name() = 'line'][t:count = '0']", 1),
    ],
)
def test_contexts_of_any_name(context, expected):
    assert len(codes(program(schema(pattern(f'{context}"><assert id="A" test="false()"/>'))))) == expected


def test_the_prefix_of_the_document_decides_what_name_is():
    sheet = program(schema(pattern('*[name() = \'u:line\']"><assert id="A" test="false()"/>')))
    prefixed = DOCUMENT.replace('xmlns="', 'xmlns:u="urn:test" xmlns="').replace('<line no="2">', '<u:line no="2">')
    second = prefixed.index("</line>", prefixed.index("<u:line"))
    assert codes(sheet) == []
    assert codes(sheet, f"{prefixed[:second]}</u:line>{prefixed[second + 7 :]}") == ["A"]
    assert codes(sheet) == []


def test_what_ancestors_decide_is_calculated_once():
    def steps(lines: int) -> int:
        root = etree.fromstring(f"<lines>{'<line><id>1</id></line>' * lines}</lines>")
        run = Run(Document(root), {})
        before, found = run.steps, compile_text("count(ancestor::lines/line[id = '1'])", Scope({})).evaluate
        assert {found(Frame(run, it, {})) for it in run.document.named["id"]} == {lines}
        return before - run.steps

    assert steps(400) < 3 * steps(200)


def test_what_ancestors_decide_differs_between_them():
    root = etree.fromstring("<a><b><c/><c/></b><b><c/><c/><c/></b></a>")
    run, found = Run(Document(root), {}), compile_text("count(ancestor::b/c)", Scope({})).evaluate
    assert [found(Frame(run, it, {})) for it in run.document.named["c"]] == [2, 2, 3, 3, 3]


def test_a_context_nested_too_deeply_is_refused():
    steps = sys.getrecursionlimit()  # other tests' libraries raise it
    refused = program(schema(pattern(f'{"/".join(["t:a"] * steps)}"><assert id="A" test="true()"/>'))).refused
    assert [it.reason for it in refused] == ["context: an expression is nested too deeply"]
