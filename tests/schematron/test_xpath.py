"""Expressions give what Saxon gives, for a document of our own; and what cannot be compiled is refused."""

import pytest
from lxml import etree
from saxonche import PySaxonProcessor

from einvoice.schematron.errors import LimitReached, NotCompilable, Stopped
from einvoice.schematron.tree import Document
from einvoice.schematron.values import items, text_of
from einvoice.schematron.xpath.compiled import as_boolean
from einvoice.schematron.xpath.compiler import Scope, compile_text
from einvoice.schematron.xpath.frame import Frame, Run
from tests.schematron.sheets import DOCUMENT

_PICTURES = ("#.00", "0.0#", "#", "00", "0.00", "#,##0.00", "0", "#,##0", "#,#", "#,##,##0.0", "0,000", "#.##")
_NUMBERS = (
    *("0.5", "0.125e0", "-2", "1234.5", "0.004", "-0.001", "1234.565", "1234.565e0", "999999.995", "123456789012"),
    *("12345678901234567890.125", "-1e20", "()", "//t:line[2]/t:price", "1 div 0e0", "-0e0", "0e0 div 0"),
)
EXPRESSIONS = [
    *("2 div 3", "-2 div 3.00", "0.0001 div 3", "1 div 2000000000000000000", "3 div -2000000000000000000"),
    *("1.50 div 0.25", "0.00 div 7", "1 div 7.000000000000000000001", "7 div -2", "avg((1, 2, 2))"),
    *("1 div 3000000", "1 div 3000000.0", "1 div 3000000000", "1 div 1099511627776", "1.1 div 3000"),
    "xs:untypedAtomic('-0') = 0",
    "xs:untypedAtomic('-0') = 0.0",
    "xs:untypedAtomic('-0') < 0",
    "xs:untypedAtomic('-0') < 0.0",
    "xs:untypedAtomic('-0') >= 0",
    "xs:untypedAtomic('-0') >= 0.0",
    "xs:untypedAtomic('-0.00') = 0",
    "xs:untypedAtomic('-0.00') = 0.0",
    "xs:untypedAtomic('-0.00') < 0",
    "xs:untypedAtomic('-0.00') < 0.0",
    "xs:untypedAtomic('-0.00') >= 0",
    "xs:untypedAtomic('-0.00') >= 0.0",
    "0 > xs:untypedAtomic('-.0')",
    "xs:untypedAtomic('-0.0') != 0",
    "xs:double('-0.0') = 0",
    *(
        f"xs:untypedAtomic('{value}') {sign} {other}"
        for value in ("NaN", "-0.00", "-0", "0", "7")
        for sign in ("=", "!=", "<", ">=", ">")
        for other in ("5", "0e0", "number('-0.0')", "number('x')")
    ),
    *("(1, 2, 3)[. > 1][2]", "for $i in (1, 2) return (4, 5, 6)[$i + 1]", "(4, 5)[xs:decimal('1.5')]", "(4, 5)[1 = 1]"),
    *("//t:line[t:sum][2]/@no", "//t:line[t:sum][t:count = 2]/@no", "//t:line[t:sum]/t:name", "count(//@no[. > 1])"),
    "for $i in ('2', '3') return //t:line[t:sum][@no = $i]/t:name",
    "some $i in ('3', '4') satisfies //t:count = $i",
    "some $i in tokenize('3 4', ' ') satisfies //t:count = $i",
    "some $i in //t:count satisfies $i = '4'",
    "//t:line/(if (t:sum) then @no else t:name)",
    "count(//t:line/t:sum/text()) = 2",
    "exists(//t:line[t:count = 3]/t:name[xs:decimal(../t:count) > 1])",
    "exists(//t:line[xs:decimal(t:price) > 1])",
    "not(//t:missing/t:name/@x)",
    *(f"format-number({value}, '{picture}')" for value in _NUMBERS for picture in _PICTURES),
    *(
        f"contains('{codes}', concat(' ', '{it}', ' '))"
        for codes in (" A  B C ", "A B")
        for it in ("A", "B", "", "B C")
    ),
    *(
        "//t:count = '3'",
        "//t:line[3]/t:count > 0",
        "string(//t:line[1]/t:sum) = '4.50'",
        "//t:line/local-name() = 'line'",
    ),
    *(
        "//t:line/normalize-space(t:name) = ('Ink', 'x')",
        "(//t:sum | //t:note | //t:count)[1]",
        "//t:line[*]/*[1]/name()",
    ),
    *("count(//t:line[t:count castable as xs:integer])", "//t:line[3]/t:price castable as xs:decimal"),
    *(
        "//t:none castable as xs:decimal?",
        "//t:price castable as xs:decimal",
        "7.50 div 1000",
        "-12 div 10.0",
        "3 div 1",
    ),
    *(
        "1.5 * 2",
        "1e0 + 0.5",
        "2 - 0.5e0",
        "0.1 + 2",
        "xs:decimal(//t:line[1]/t:sum) - 4.5",
        "sum(//t:sum/xs:decimal(.))",
    ),
    *(
        "substring('12345', 2, 9)",
        "substring(//t:line[1]/t:name, 1, 2)",
        "not(t:order/*/*/*)",
        "exists(//@no[. = '2'])",
    ),
    *("1 + 2 * 3", "7 idiv 2", "-7 mod 3", "7.5 mod 2", "1 div 3 < 0.34", "2 to 4", "-(3)", "1e2 + 1", "3 - -2"),
    *("'a' || 'b'", "concat('a', 1, true())", "substring('12345', 2, 3)", "substring('12345', 0, 3)", "'it''s'"),
    *("substring('12345', 1.5, 2.6)", "substring-before('a-b', '-')", "substring-after('a-b', '-')"),
    *("translate('abc', 'ab', 'x')", "normalize-space('  a  b ')", "upper-case('straße')", "string-length('äöü')"),
    *("tokenize('a,b,,c', ',')", "replace('2026-01', '(\\d+)-(\\d+)', '$2/$1')", "matches('AB12', '^[A-Z]{2}\\d+$')"),
    *("matches('x', '[a-z-[x]]')", "matches('ä', '^\\p{L}$')", "matches('a\nb', 'a.b')", "matches('a\nb', 'a.b', 's')"),
    *("matches('A', 'a', 'i')", "string-join(('a', 'b'), '-')", "string-to-codepoints('AZ')", "compare('a', 'b')"),
    *("round(2.5)", "round(-2.5)", "round(0.49999999999999994)", "round-half-to-even(2.345, 2)", "round(2.345, 2)"),
    *("round-half-to-even(2.5)", "floor(-1.5)", "ceiling(-1.5)", "abs(-3.20)", "sum((1, 2.5))", "avg((1, 2))"),
    *("max((1, 3, 2))", "min(('b', 'a'))", "number('x')", "number('1.50')", "xs:decimal('1.50')", "xs:integer(' 7 ')"),
    *(
        "xs:double('1e3')",
        "1000000.0 * 1.0e0",
        "0.0000001e0",
        "1.0e15",
        "xs:date('2026-02-28') lt xs:date('2026-03-01')",
    ),
    *(
        "'2026-02-30' castable as xs:date",
        "'1,5' castable as xs:decimal",
        "() castable as xs:integer?",
        "'5' cast as xs:int",
    ),
    *(
        "if (1 = 1) then 'a' else 'b'",
        "for $i in (1, 2), $j in (10, 20) return $i * $j",
        "some $i in (1, 2) satisfies $i = 2",
    ),
    *("every $i in (1, 2) satisfies $i > 1", "let $a := 3 return $a * $a", "(1, 2, 3)[. > 1]", "(1, 2, 3)[last()]"),
    *("(1, 2, 3) ! (. * 2)", "distinct-values((1, 1, 'a', 'a'))", "index-of((1, 2, 1), 1)", "reverse((1, 2))"),
    *(
        "subsequence((1, 2, 3), 2)",
        "exists(())",
        "empty(())",
        "count((1, 2))",
        "not(())",
        "boolean('x')",
        "(1, 2) = (2, 3)",
    ),
    *(
        "(1, 2) != (1, 2)",
        "'a' eq 'b'",
        "() eq 1",
        "count(//t:line)",
        "//t:line/@no",
        "//t:line[2]/t:name",
        "//t:name[1]",
    ),
    *(
        "(//t:name)[1]",
        "//t:line[t:price = 'x']/@no",
        "//t:line[position() = last()]/@no",
        "/t:order/@id",
        "//t:buyer/@code",
    ),
    *("//t:sum/../@no", "//t:price/ancestor::t:line/@no", "//t:total/preceding-sibling::t:line[1]/@no", "//*:total"),
    *("//t:total/following-sibling::*[1]", "//t:line/(t:name | t:price)", "//t:line/string(t:name)", "sum(//t:sum)"),
    *(
        "//t:line[not(t:sum)]/@no",
        "count(//t:note/text())",
        "string(//t:note)",
        "//t:count[. = 0]/../@no",
        "//t:sum = '4.5'",
    ),
    *(
        "//t:sum = 4.5",
        "//t:line[t:count > 1]/@no",
        "name(//t:buyer)",
        "local-name(/*)",
        "namespace-uri(/*)",
        "//text()[. = 'Pen']",
    ),
    *(
        "count(//@*)",
        "//t:line[@no = ('1', '3')]/t:name",
        "//t:line except //t:line[1]",
        "count(//t:line union /t:order)",
    ),
    *("//t:line[1] is //t:line[@no = '1']", "//t:line[1] << //t:line[2]", "//t:line[count(preceding::t:line) = 1]/@no"),
    *(
        "year-from-date(xs:date(//t:date))",
        "exactly-one(//t:total)",
        "count(//t:order/descendant-or-self::node()/t:name)",
    ),
    *(
        "//t:price[. castable as xs:decimal] ! xs:decimal(.)",
        "true() and (1 = 2 or 2 = 2)",
        "count(//t:line/t:name/..)",
    ),
    *(
        "//t:line[1]/following::t:name[1]",
        "count(//t:price/self::t:price)",
        "//t:line/t:price[../t:count = 2]",
        "'a' => upper-case()",
    ),
]
ERRORS = [
    *("xs:decimal('x')", "xs:date('2026-02-30')", "1 idiv 0", "//t:line eq 'x'", "substring(//t:name, 1)", "'a' + 1"),
    *(
        "boolean((1, 2))",
        "1 = 'a'",
        "//t:price = 1",
        "exactly-one(//t:line)",
        "matches('a', '[')",
        "xs:boolean('maybe')",
    ),
    *("format-number(1, '')", "format-number('1', '0')", "format-number(1, '0,.0')", "format-number(//t:price, '0')"),
    *("xs:decimal(//t:price)", "xs:decimal(//t:line[3]/t:price)", "normalize-space(//t:price)"),
    *("1 div 0", "sum(('a', 'b'))", "tokenize('a', '')[1] = 1", "xs:date('2026-01-01') = 5"),
]


def run_of(steps: int = 10**6) -> Run:
    return Run(Document(etree.fromstring(DOCUMENT.encode())), {}, steps)


def evaluate(expression: str, steps: int = 10**6):
    run = run_of(steps)
    compiled = compile_text(expression, Scope({"t": "urn:test", "xs": "http://www.w3.org/2001/XMLSchema"}))
    return compiled.evaluate(Frame(run, run.document.node, {}))


@pytest.fixture(scope="module")
def saxon():
    with PySaxonProcessor(license=False) as processor:
        xpath = processor.new_xpath_processor()
        xpath.declare_namespace("t", "urn:test")
        xpath.declare_namespace("xs", "http://www.w3.org/2001/XMLSchema")
        xpath.set_context(xdm_item=processor.parse_xml(xml_text=DOCUMENT))
        yield xpath


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_value_is_that_of_saxon(saxon, expression):
    value = saxon.evaluate(expression)
    expected = [] if value is None else [value.item_at(index).string_value for index in range(value.size)]
    assert [text_of(it) for it in items(evaluate(expression))] == expected


@pytest.mark.parametrize("expression", ERRORS)
def test_error_is_one_in_saxon_too(saxon, expression):
    with pytest.raises(Stopped):
        evaluate(expression)
    with pytest.raises(Exception, match=r"[A-Z]{4}\d{4}|."):
        assert saxon.evaluate(expression) is not None


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("1 +", "found ''"),
        ("$unknown", "unknown is not declared"),
        ("u:a", "prefix 'u' is not declared"),
        ("doc('file:///etc/passwd')", "only supported for a file that came with the sheet"),
        ("document('http://example.org')", "only supported for a file that came with the sheet"),
        ("unparsed-text('x')", "function unparsed-text is not supported"),
        ("substring()", "cannot have 0 arguments"),
        ("namespace::a", "axis 'namespace'"),
        ("a instance of element()", "instance"),
        ("(" * 500 + "1" + ")" * 500, "nested"),
        ("a # b", "unexpected character"),
        ("(: no end", "comment without an end"),
        ("1" * 300_000, "at most 200000"),
    ],
)
def test_what_cannot_be_compiled_is_refused(expression, reason):
    with pytest.raises(NotCompilable, match=reason.replace("$", r"\$")):
        evaluate(expression)


_LONG = "string-join(for $i in 1 to 2000 return 'xxxxxxxxxx', '')"


@pytest.mark.parametrize(
    "expression",
    [
        "count(for $a in 1 to 900, $b in 1 to 900, $c in 1 to 900 return 1)",
        "count(1 to 999999999999)",
        f"let $t := {_LONG} return count(for $a in 1 to 5000 return concat($t, 'x'))",
    ],
)
def test_work_is_bounded(expression):
    with pytest.raises(LimitReached):
        evaluate(expression)


def test_errors_of_logic_count_only_if_nothing_else_decides():
    assert evaluate("xs:decimal('x') = 1 or 1 = 1") is True
    assert evaluate("xs:decimal('x') = 1 and 1 = 2") is False
    for other in ("1 = 2", "xs:date('y') = 1", "1 = 2 or xs:date('y') = 1"):
        with pytest.raises(Stopped, match="'x' is no decimal number"):
            evaluate(f"xs:decimal('x') = 1 or {other}")


def _steps(expression: str, lines: int) -> tuple[int, int]:
    """Return the steps of an expression that is evaluated for each line of a document, and how often it is true."""
    items = "".join(f"<line><id>{number}</id><parent>{number // 2}</parent></line>" for number in range(lines))
    run = Run(Document(etree.fromstring(f"<lines>{items}</lines>")), {})
    before, holds = run.steps, as_boolean(compile_text(expression, Scope({})))
    found = sum(holds(Frame(run, line, {})) for line in run.document.named["line"])
    return before - run.steps, found


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("//line[id = current()/parent]/parent = '1'", 2 * 2),
        ("//line[normalize-space(id) = current()/parent and parent != '7']", 1000 - 4),
        ("count(//line[id = current()/parent][position() = 1]) = 1", 1000),
        ("every $a in //line satisfies count(//line[parent = $a/id]) < 3", 1000),
        ("count(//line[id = (current()/parent, current()/id)]) = 2", 999),
        ("exists(//line[number(id) = number(current()/parent)])", 1000),
    ],
)
def test_lookups_of_a_key_find_what_a_search_finds(expression, expected) -> None:
    steps, found = _steps(expression, 1000)
    assert found == expected
    if "number(" not in expression and "position()" not in expression:  # no index of numbers, or of each parent
        assert steps < 100 * 1000


def test_a_key_that_fails_does_not_decide() -> None:
    """Only the nodes before the first match count for an existence, and the other operands of `and` may decide."""
    items = "".join(f"<line><id>{number}</id></line>" for number in range(20))
    items += "<line><id>x</id><id>y</id></line>"
    run = Run(Document(etree.fromstring(f"<lines>{items}</lines>")), {})
    for expression in ("exists(//line[normalize-space(id) = '3'])", "//line[normalize-space(id) = '3' and id != 'x']"):
        holds = as_boolean(compile_text(expression, Scope({})))
        frames = [Frame(run, run.document.node, {}) for _ in range(3)]
        assert [holds(it) for it in frames] == [True] * 3


def test_a_larger_document_may_take_more_steps() -> None:
    def allowed(elements: int) -> int:
        return Run(Document(etree.fromstring(f"<a>{'<b/>' * elements}</a>")), {}).steps

    assert allowed(2000) - allowed(1000) == 1000 * (allowed(1) - allowed(0)) > 0
