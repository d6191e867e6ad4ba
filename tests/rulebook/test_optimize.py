"""The optimizer: generated code gives the same results with and without it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given

from einvoice.model.invoice import Invoice
from einvoice.model.lines import Line
from einvoice.resources import shipped
from einvoice.rulebook.files.contexts import Scope
from einvoice.rulebook.files.examples import examples_of
from einvoice.rulebook.language import Where, check, loops
from einvoice.rulebook.language.python import Writer
from einvoice.rulebook.language.types import NUMBER, Type
from einvoice.rulebook.program import build, generate
from einvoice.rulebook.program.engine import rulebook
from einvoice.rulebook.program.optimize import QuickWriter
from einvoice.rulebook.program.program import Layer, Program
from einvoice.rulebook.program.typecheck import CheckedRule
from einvoice.rulebook.rule import Rule
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


class PlainWriter(Writer):
    """Writes the rules of a context without local variables, as it writes any expression."""

    def __init__(self, variables: Collection[str] = (), shared: Mapping[Any, str] | None = None) -> None:
        super().__init__()

    def rarely(self) -> AbstractContextManager[None]:
        return self.perhaps()

    def shared(self) -> dict[Any, str]:
        return {}


@pytest.fixture(scope="module")
def programs(syntax):
    """The current rules, compiled with and without the optimizer."""
    optimized = _program(syntax)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(generate, "QuickWriter", PlainWriter)
        patch.setattr(generate, "_conditions", lambda _: {})
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


PLACE = Where("en16931/BR-0.toml", "assert")
NAMES = {"invoice": Type(Invoice), "line": Type(Line), "total": NUMBER}


def written(source: str, writer: Writer | None = None) -> str:
    return (writer or QuickWriter()).write(check(source, NAMES, PLACE).node)


def test_a_term_is_tested_without_a_generator():
    code = written("any(non_blank(it.net) for it in line.price)")
    assert code.startswith("(line.price is not absent and ((line.price.net is not absent and (line.price.net.filled or")
    assert "not not line.price.more and any((it.net is not absent" in code
    assert code.endswith("for it in line.price.more)))")


def test_a_list_is_tested_without_a_generator():
    code = written("all(it.is_vat for it in line.taxes)")
    assert code.startswith("(not (not not line.taxes and ((not line.taxes[0].is_vat) or")
    assert code.endswith("len(line.taxes) > 1 and any((not it.is_vat) for it in line.taxes[1:]))))")


@pytest.mark.parametrize("source", ["invoice.lines", "descendants(Line)", "line.allowances"])
def test_other_sources_keep_their_generator(source):
    """Sequences with many members, and those that are computed."""
    test = "any(not exists(it.note) for it in {})".replace("note", "amount" if "allow" in source else "net_amount")
    assert written(test.format(source)) == written(test.format(source), Writer())


def test_a_sum_over_an_empty_list_needs_no_comprehension():
    addends = "sum(it.amount for it in line.allowances_and_charges)"
    assert written(addends).endswith("or (0,)) if line.allowances_and_charges else 0)")
    assert re.fullmatch(r"\(round2\(reduce\(.*\)\) if line.* else 0\)", written(f"round2({addends})"))


TEXT_AE = "any_equal(vat.category, 'AE')"


@pytest.mark.parametrize(
    ("test", "groups"),
    [
        (f"any({TEXT_AE} and vat.is_vat for vat in {{}})", "descendants(LineTax)"),
        (f"any({TEXT_AE} for vat in {{}})", "invoice.vat_breakdown"),
        (f"count(vat for vat in {{}} if {TEXT_AE})", "descendants(LineTax)"),
        ("count(vat for vat in {} for it in vat.category if it == 'AE')", "invoice.vat_breakdown"),
    ],
)
def test_groups_with_a_text_are_those_in_an_index(test, groups):
    code = written(test.format(groups))
    index = f"with_vat.by_text({written(groups)}, 'category')"
    assert f"for vat in {index}['AE']" in code
    assert f"'AE' in {index} and any(" in code or code.endswith(f" if 'AE' in {index} else 0)")


@pytest.mark.parametrize(
    "test",
    [
        "any(any_unequal(vat.category, 'AE') for vat in descendants(LineTax))",
        f"any({TEXT_AE} or vat.is_vat for vat in descendants(LineTax))",
        "any(any_equal(it.reason_code, 'AE') for it in invoice.allowances)",  # computed anew each time
        "count(vat for vat in invoice.vat_breakdown for it in vat.category if raw(it) == 'AE')",
    ],
)
def test_other_groups_are_all_tested(test):
    assert "by_text" not in written(test)


def test_an_index_is_looked_up_once():
    test = "any(any_equal(vat.category, {!r}) for vat in descendants(LineTax))"
    first = QuickWriter()
    for text in ("AE", "Z"):
        written(test.format(text), first)
    ((index, name),) = first.shared().items()
    assert index == "with_vat.by_text(descendants('LineTax', ()), 'category')"
    code = written(test.format("AE"), QuickWriter(shared=first.shared()))
    assert code == written(test.format("AE")).replace(index, name)


def shared(*sources: str) -> dict[Any, str]:
    """Return the local variables that rules with these assertions share."""
    writer = QuickWriter(("invoice", "line"))
    for source in sources:
        written(source, writer)
    return writer.shared()


def test_a_shared_field_is_read_once():
    found = shared("non_blank(line.identifier)", "raw(line.identifier) == raw(invoice.currency)")
    assert found == {("line", ".identifier"): "_line_identifier"}
    assert QuickWriter().reading(("line", ".identifier")) == "line.identifier"
    assert written("raw(line.identifier) == ''", QuickWriter(shared=found)) == "((_line_identifier.raw or '') == '')"


def test_the_first_member_of_a_shared_list_is_read_once():
    found = shared("any(it.is_vat and exists(it.rate) for it in line.taxes)")
    first = ("line", ".taxes", "[0]")
    assert found[first] == "_line_taxes_first"
    assert QuickWriter(shared=found).reading(first) == "_line_taxes[0] if _line_taxes else absent"


@pytest.mark.parametrize(
    "condition",
    [
        "raw(line.identifier) == '' and raw(line.quantity) == '' and raw(line.quantity.unit) == ''",
        "line.quantity > 1 if non_blank(line.identifier) else line.quantity > 2",
        "any(raw(line.quantity) == raw(it.identifier) or line.quantity > 1 for it in descendants(Line))",
    ],
)
def test_a_field_that_may_not_be_needed_is_not_shared(condition):
    assert ("line", ".quantity") not in shared(condition)


def functions(*rules: tuple[str, str, str]) -> dict[str, str]:
    """Return the functions of rules: context, its definition, assertion."""
    checked = []
    for name, context, assertion in rules:
        loops_, _, where = context.partition(" where ")
        loops_ = loops(loops_, {"invoice": Type(Invoice)}, PLACE)
        names = {"invoice": Type(Invoice), **{it.name: it.type for it in loops_}}
        condition = check(where, names, PLACE) if where else None
        scope = Scope(name, loops_, condition, None, None, names)
        rule = Rule(name, "fatal", "en16931", "", (), "", tuple(names), len(names) - 1, "", ())
        checked.append(CheckedRule(rule, scope, (), None, check(assertion, names, PLACE)))
    return dict(generate.generate(checked).functions)


LINES = "line in descendants(Line)"
CURRENCY = "raw(invoice.currency) == raw(line.net_amount) or raw(invoice.currency) == ''"


def test_fields_of_the_invoice_are_read_before_the_loop():
    (code,) = functions(("lines", f"{LINES} where line.is_sub_line", CURRENCY)).values()
    assert code.index("_invoice_currency = invoice.currency") < code.index("for line in")


def test_functions_with_the_same_loop_become_one():
    first = ("first", f"{LINES} where line.is_sub_line", CURRENCY)
    second = ("second", f"{LINES}; vat in line.taxes", "vat.is_vat and raw(vat.rate) == raw(invoice.currency)")
    (code,) = functions(first, second).values()
    assert code.count("for line in") == code.count("_currency = invoice.currency") == 1
    namespace: dict[str, Any] = {"_RULE_first": 0, "_RULE_second": 1}
    exec(code, namespace)
    vat = SimpleNamespace(is_vat=True, rate=SimpleNamespace(raw="EUR"))
    other = SimpleNamespace(is_vat=False, rate=vat.rate)
    amount = SimpleNamespace(raw="USD")
    lines = [SimpleNamespace(is_sub_line=it, net_amount=amount, taxes=[other, vat]) for it in (True, False)]
    invoice = SimpleNamespace(currency=SimpleNamespace(raw="EUR"))
    reported: list[Any] = []
    namespace["_first"](invoice, reported.append, lambda *_: lines, None)
    assert [it[:2] for it in reported] == [
        (0, (invoice, lines[0])),
        (1, (invoice, lines[0], other)),
        (1, (invoice, lines[1], other)),
    ]


def test_a_condition_of_several_contexts_is_read_once():
    contexts = [
        (name, f"{LINES} where line.is_sub_line", f"non_blank(line.{name})") for name in ("identifier", "quantity")
    ]
    (code,) = functions(*contexts).values()
    assert code.count("line.is_sub_line") == code.count("_line_is_sub_line = line.is_sub_line") == 1
    assert code.count("_line_is_sub_line") == 3
