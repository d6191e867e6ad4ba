"""The optimizer: generated code gives the same results with and without it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given

from einvoice.model.invoice import Invoice
from einvoice.resources import shipped
from einvoice.rulebook.files.examples import examples_of
from einvoice.rulebook.program import build
from einvoice.rulebook.program.engine import rulebook
from einvoice.rulebook.program.fusion import fused
from einvoice.rulebook.program.optimize import optimize
from einvoice.rulebook.program.program import Layer, Program
from einvoice.syntax.reader import read
from einvoice.syntax.xml import parse
from tests.cases import corpus
from tests.helpers.documents import document_of
from tests.helpers.rule_sets import newest_stack, shipped_rule_sets
from tests.helpers.sampling import sampled
from tests.helpers.strategies import invoices


@pytest.fixture(scope="module", params=["UBL", "CII"])
def syntax(request):
    return request.param


@pytest.fixture(scope="module")
def programs(syntax):
    """The current rules, compiled with and without the optimizer."""
    with pytest.MonkeyPatch.context() as patch:
        optimized = _program(syntax)
        patch.setattr(build, "optimize", ast.fix_missing_locations)
        patch.setattr(build, "compiled", build.compiled.__wrapped__)  # does not return the optimized functions
        return optimized, _program(syntax)


def _program(syntax: str) -> Program:
    rows, *compiled = build.build(shipped(), rulebook().digests, syntax, tuple(newest_stack()))
    return Program([Layer(*row) for row in rows], *compiled)


def reported(program: Program, invoice: Invoice) -> list[tuple[str, str, tuple[int, ...]]]:
    return [(it.rule.code, repr(it.contents), it.note_indices) for it in program.run(invoice)]


def examples(syntax: str, step: int) -> Iterator[Invoice]:
    for name, _ in newest_stack():
        for definition in shipped_rule_sets().definitions[name][::step]:
            for _, example in examples_of(definition, syntax):
                yield read(document_of(example, example.file, syntax))


@pytest.mark.slow
@sampled(3)
def test_examples_violate_the_same_rules(syntax, programs, step):
    optimized, plain = programs
    violations = 0
    for invoice in examples(syntax, step):
        expected = reported(plain, invoice)
        assert reported(optimized, invoice) == expected
        violations += len(expected)
    assert violations > 500 / step


@pytest.mark.slow
@pytest.mark.cases
@sampled(8)
def test_cases_violate_the_same_rules(syntax, programs, step):
    optimized, plain = programs
    for case, data in corpus.cases(*corpus.ALL, every=step):
        if case["syntax"] == syntax and case["xsd"]:
            invoice = read(parse(data).getroot())
            assert reported(optimized, invoice) == reported(plain, invoice), case["case"]


@pytest.mark.slow
@given(invoices())
def test_any_invoice_violates_the_same_rules(syntax, programs, invoice):
    optimized, plain = programs
    assert reported(optimized, invoice) == reported(plain, invoice)


def rewritten(source: str) -> str:
    return ast.unparse(optimize(ast.parse(source)))


def function(*lines: str) -> str:
    return "\n    ".join(("def _line(invoice, _report, descendants, with_vat):", *lines))


def test_a_term_is_tested_without_a_generator():
    occurrences = "() if line.price is absent else (line.price, *line.price.more)"
    code = rewritten(function(f"if not any(it.net.filled for it in ({occurrences})):", "    _report((0, (), ()))"))
    assert "line.price is not absent and (line.price.net.filled or" in code
    assert "not not line.price.more and any((it.net.filled for it in line.price.more))" in code


def test_a_list_is_tested_without_a_generator():
    code = rewritten(function("if not all(it.is_vat for it in line.taxes):", "    _report((0, (), ()))"))
    assert "not not line.taxes and (not line.taxes[0].is_vat or" in code
    assert "len(line.taxes) > 1 and any((not it.is_vat for it in line.taxes[1:]))" in code


@pytest.mark.parametrize("source", ["invoice.lines", "descendants('Line', ())", "line.allowances"])
def test_other_sources_keep_their_generator(source):
    """Sequences with many members, and those that are computed."""
    code = rewritten(function(f"if not any(it.net_amount is absent for it in {source}):", "    _report((0, (), ()))"))
    assert f"any((it.net_amount is absent for it in {source}))" in code


def test_a_sum_over_an_empty_list_needs_no_comprehension():
    code = rewritten(function("total = reduce(add, [it.amount for it in line.taxes] or (0,))"))
    assert code.endswith("(0,)) if line.taxes else 0")


TEXT_AE = "vat.category.text == 'AE' or (not not vat.category.more and any_equal(vat.category, 'AE'))"
CATEGORIES = "() if vat.category is absent else (vat.category, *vat.category.more)"


@pytest.mark.parametrize(
    ("test", "groups"),
    [
        (f"any(({TEXT_AE}) and vat.is_vat for vat in {{}})", "descendants('LineTax', ())"),
        (f"any({TEXT_AE} for vat in {{}})", "invoice.vat_breakdown"),
        (f"len([1 for vat in {{}} if {TEXT_AE}])", "descendants('LineTax', ())"),
        (f"len([1 for vat in {{}} for it in ({CATEGORIES}) if it.text == 'AE'])", "invoice.vat_breakdown"),
    ],
)
def test_groups_with_a_text_are_those_in_an_index(test, groups):
    code = rewritten(function(f"found = {test.format(groups)}"))
    assert f" = with_vat.by_text({groups}, 'category')" in code
    assert re.search(r"'AE' in (\w+) and any\(.* for vat in \1\['AE'\]|for vat in (\w+)\['AE'\] .* if 'AE' in \2", code)


@pytest.mark.parametrize(
    "test",
    [
        "any(vat.category.text != 'AE' for vat in descendants('LineTax', ()))",
        f"any({TEXT_AE} or vat.is_vat for vat in descendants('LineTax', ()))",
        f"any({TEXT_AE} for vat in invoice.allowances)",  # computed anew each time
        f"len([1 for vat in invoice.vat_breakdown for it in ({CATEGORIES}) if it.raw == 'AE'])",
    ],
)
def test_other_groups_are_all_tested(test):
    assert "by_text" not in rewritten(function(f"found = {test}"))


def test_an_index_is_looked_up_once():
    test = "any({} for vat in descendants('LineTax', ()))"
    lines = [f"found = {test.format(TEXT_AE)}", f"others = {test.format(TEXT_AE.replace('AE', 'Z'))}"]
    code = rewritten(function(*lines))
    assert code.count("with_vat.by_text(") == 1
    assert code.index("with_vat.by_text(") < code.index("found = 'AE' in _")


RULES = """
    for line in descendants('Line', ()):
        if line.is_sub_line: continue
        if not line.net_amount.filled:
            _report((0, (invoice, line), ()))
        if not {condition}:
            _report((1, (invoice, line, line.net_amount.raw), ()))
"""


def test_a_shared_field_is_read_once():
    code = rewritten(function(RULES.format(condition="line.net_amount.raw == invoice.currency.text").lstrip()))
    assert code.count("line.net_amount") == code.count("_line_net_amount = line.net_amount") == 1
    assert code.index("continue") < code.index("_line_net_amount = ") < code.index("if not _line_net_amount.filled")
    assert "invoice.currency.text" in code  # read once anyway


@pytest.mark.parametrize(
    "condition",
    [
        "(line.identifier.filled and line.quantity.raw and line.quantity.unit)",
        "(line.quantity.raw if line.identifier.filled else line.quantity.unit)",
        "any(line.quantity.raw == it.text == line.quantity.text for it in line.notes_)",
    ],
)
def test_a_field_that_may_not_be_needed_is_not_shared(condition):
    code = rewritten(function(RULES.format(condition=condition).lstrip()))
    assert "_line_quantity" not in code


def test_fields_of_the_invoice_are_read_before_the_loop():
    code = rewritten(function(RULES.format(condition="invoice.currency.text != invoice.currency.raw").lstrip()))
    assert code.index("_invoice_currency = invoice.currency") < code.index("for line in")


FIRST = """
def _first(invoice, _report, descendants, with_vat):
    _currency = invoice.currency
    for line in descendants('Line', ()):
        if not line.quantity: continue
        if line.is_sub_line: continue
        if _currency.text != line.net_amount.currency:
            _report((0, (invoice, line), ()))
"""

SECOND = """
def _second(invoice, _report, descendants, with_vat):
    _currency = invoice.currency
    for line in descendants('Line', ()):
        for vat in line.taxes:
            if not vat.is_vat: continue
            _report((1, (invoice, line, vat, _currency), ()))
"""


def test_functions_with_the_same_loop_become_one():
    code = ast.unparse(fused([ast.parse(it).body[0] for it in (FIRST, SECOND)]))
    assert code.count("for line in") == code.count("_currency = invoice.currency") == 1
    namespace: dict[str, Any] = {}
    exec(code, namespace)
    vat, other = SimpleNamespace(is_vat=True), SimpleNamespace(is_vat=False)
    amount = SimpleNamespace(currency="USD")
    lines = [
        SimpleNamespace(quantity=quantity, is_sub_line=is_sub_line, net_amount=amount, taxes=[other, vat])
        for quantity, is_sub_line in ((1, False), (None, False), (1, True))
    ]
    currency = SimpleNamespace(text="EUR")
    reported: list[Any] = []
    invoice = SimpleNamespace(currency=currency)
    namespace["_first"](invoice, reported.append, lambda *_: lines, None)
    first, *others = lines
    expected = [(0, (invoice, first), ()), *((1, (invoice, line, vat, currency), ()) for line in (first, *others))]
    assert reported == expected


def test_a_condition_of_several_contexts_is_read_once():
    second = SECOND.replace("if not vat.is_vat: continue", "if line.is_sub_line: continue")
    first = FIRST.replace("        if not line.quantity: continue\n", "")
    code = ast.unparse(fused([ast.parse(it).body[0] for it in (first, second)]))
    assert code.count("line.is_sub_line") == code.count("_line_is_sub_line = line.is_sub_line") == 1
    assert code.count("_line_is_sub_line") == 3


def test_a_function_with_a_loop_of_its_own_stays_as_it_is():
    function = ast.parse(FIRST).body[0]
    before = ast.unparse(function)
    assert ast.unparse(fused([function])) == before
