"""Rule language: types, terms and results of expressions, and loops."""

from __future__ import annotations

from decimal import Decimal, localcontext

import pytest

from einvoice.errors import RuleError
from einvoice.model.descendants import descendants_of
from einvoice.model.invoice import Invoice, Totals
from einvoice.model.lines import Document, Line, Period, Price
from einvoice.model.money import AllowanceCharge, AllowanceTax, LineAllowanceCharge, LineTax, PaymentMeans, VatBreakdown
from einvoice.model.parties import Seller
from einvoice.model.values import Amount, Binary, Code, Date, Percentage, Text, UnitPrice, absent
from einvoice.rulebook.functions import EXACT, GLOBALS
from einvoice.rulebook.language import Where, bind, check, loops
from einvoice.rulebook.language.python import Writer
from einvoice.rulebook.language.types import BOOLEAN, COUNT, DATE, DOUBLE, NUMBER, TEXT, Type
from tests.helpers.expressions import HERE, NAMES, written


def run(source, constants=None, **values):
    """Return the result of an expression for the values of its names."""
    names = {name: type_of(name, value) for name, value in values.items()}
    expression = check(source, names, HERE, constants=constants or {})
    source, writer = written(expression)
    code = compile(source, "rule", "eval")
    with localcontext(EXACT):
        return eval(code, {**GLOBALS, **writer.numbers, **bind(writer.lists, {}), **lookup(values), **values})


def lookup(values):
    return {"descendants": descendants_of(values["invoice"])} if "invoice" in values else {}


def type_of(name, value):
    if value is absent:
        return NAMES[name]
    return NUMBER if isinstance(value, Decimal) else Type(type(value))


def terms(source, **options):
    return set(check(source, NAMES, HERE, **options).terms)


def invoice(**content):
    return Invoice(**content)


# ------------------------------------------------------------------------------------------------ results


def test_types_of_results():
    types = {
        "totals.net": Type(Amount, terms=("BT-109",)),
        "totals.net - 1": NUMBER,
        "double(totals.net) * 2": DOUBLE,
        "count(invoice.lines) + 1": COUNT,
        "upper_case(seller.name)": TEXT,
        "period.start < period.end": BOOLEAN,
        "date(period.start)": DATE,
        "0.5": NUMBER,
    }
    for source, expected in types.items():
        assert check(source, NAMES, HERE).type == expected, source


def test_expression_lists_names_terms_constants_and_code_lists():
    expression = check("in_code_list(line.price.net.currency, 'currencies') and totals.net > 0.02", NAMES, HERE)
    assert expression.names == {"line", "totals"}
    assert expression.terms == {"BT-146", "BT-109"}
    _, writer = written(expression)
    assert writer.numbers == {"_0_02": Decimal("0.02")}
    assert writer.lists == {"_codes_currencies"}


def test_decimal_constants_are_exact():
    _, writer = written(check("totals.net == 0.10000000000000000000001", NAMES, HERE))
    (exact,) = writer.numbers.values()
    assert exact == Decimal("0.10000000000000000000001")


def test_calculation_is_exact():
    totals = Totals(net=Amount("12345678901234567890123456789.01"), gross=Amount("0.00000000000000000001"))
    assert run("totals.net + totals.gross", totals=totals) == Decimal(
        "12345678901234567890123456789.01000000000000000001"
    )


def test_long_numbers_are_supported():
    amounts = ["9" * 5000, "0." + "1" * 5000, "-" + "9" * 1200 + ".5", "1", "0"]
    sources = ["round2(totals.net * totals.gross / 7)", "round(totals.net) / totals.gross", "double(totals.net) * 2"]
    sources += [
        "within_exclusive(totals.net, totals.gross, 1)",
        "within(round2(totals.net), double(totals.gross), 0.02)",
    ]
    for source in sources:
        for net in amounts:
            for gross in amounts:
                totals = Totals(net=Amount(net), gross=Amount(gross))
                assert run(source, totals=totals) is not None, source


def test_comparisons_with_absent_values_are_false():
    totals = Totals()
    for operator in ("==", "!=", "<", "<=", ">", ">="):
        assert not run(f"totals.net {operator} 1", totals=totals)
        assert not run(f"totals.net {operator} totals.gross", totals=totals)
        assert not run(f"line.vat.category {operator} 'S'", line=Line())
        assert not run(f"period.start {operator} period.end", period=Period())
    assert run("totals.net + 1", totals=totals) is absent
    assert run("line.vat.category not in ('S', 'Z')", line=Line())
    assert not run("line.vat.category in ('S', 'Z')", line=Line())


def test_invalid_number_exists_but_is_absent_in_calculations():
    totals = Totals(net=Amount("ten"))
    assert run("exists(totals.net)", totals=totals)
    assert run("totals.net * 2", totals=totals) is absent


def test_texts_are_compared_without_normalization():
    tax = LineTax(category=Code(" S "))
    assert not run("line.vat.category == 'S'", line=Line(taxes=[tax]))
    tax.category.text = "S"
    assert run("line.vat.category == 'S'", line=Line(taxes=[tax]))
    assert run("raw(line.vat.category) == ' S '", line=Line(taxes=[tax]))


def test_dates_are_compared_across_formats():
    period = Period(start=Date("2026-02-01"), end=Date("20260131"))
    assert run("period.end < period.start", period=period)


def test_arithmetic_with_a_double_is_double_arithmetic():
    totals = Totals(net=Amount("0.1"), charges=Amount("0.2"), gross=Amount("0.3"))
    assert run("totals.net + totals.charges == totals.gross", totals=totals)
    assert not run("double(totals.net) + totals.charges == totals.gross", totals=totals)


def test_iteration_over_a_single_group_includes_further_occurrences():
    first, second = Price(net=UnitPrice("1")), Price(net=UnitPrice("2"))
    first.more = [second]
    assert run("count(line.price)", line=Line(price=first)) == 2
    assert run("sum(p.net for p in line.price)", line=Line(price=first)) == 3
    assert run("sum(p.net for p in line.price)", line=Line()) == 0


def test_iteration_over_the_first_of_several_values_includes_its_further_occurrences():
    value = UnitPrice("2")
    value.more = [UnitPrice("3")]
    prices = Price(), Price(net=value)
    prices[0].more = [prices[1]]
    assert run("first(p.net for p in line.price)", line=Line(price=prices[0])) is value
    assert run("count(first(p.net for p in line.price))", line=Line(price=prices[0])) == 2
    assert run("count(first(p.net for p in line.price))", line=Line()) == 0


def test_nested_generators():
    lines = [Line(periods=[Period(start=Date("2026-01-05"))]), Line(periods=[Period(start=Date("2026-01-09"))])]
    document = invoice(periods=[Period(start=Date("2026-01-06"))], lines=lines)
    source = "count(q for p in invoice.periods for line in invoice.lines for q in line.periods if q.start > p.start)"
    assert run(source, invoice=document) == 1


def test_descendants_include_misplaced_groups():
    misplaced = LineTax(category=Code("S"))
    document = invoice(lines=[Line(taxes=[LineTax(category=Code("Z"))], lines=[Line(taxes=[LineTax()])])])
    document.misplaced = {LineTax: [misplaced]}
    assert run("count(descendants(LineTax))", invoice=document) == 3
    assert run("any(tax.category == 'S' for tax in descendants(LineTax))", invoice=document)


def test_with_vat_selects_by_category_and_rate():
    def line(*taxes):
        return Line(taxes=[LineTax(category=Code(category), rate=Percentage(rate)) for category, rate in taxes])

    both, reduced, exempt = line(("S", "19"), ("E", "0")), line(("S", "7.00")), line(("E", "0"))
    document = invoice(lines=[both, reduced, exempt, Line(taxes=[LineTax()]), Line()])
    vat = VatBreakdown(category=Code("S"), rate=Percentage("7"))
    for source, expected in {
        "with_vat(invoice.lines, 'S')": [both, reduced],
        "with_vat(invoice.lines, 'S', 19)": [both],
        "with_vat(invoice.lines, 'S', 0)": [both],  # category and rate may be in different taxes
        "with_vat(invoice.lines, vat.category, vat.rate)": [reduced],
        "with_vat(descendants(Line), 'E')": [both, exempt],
        "with_vat(invoice.lines, 'Z')": [],
        "with_vat(invoice.allowances_and_charges, 'S')": [],
    }.items():
        assert list(run(source, invoice=document, vat=vat)) == expected, source
    assert list(run("with_vat(invoice.lines, 'S', vat.rate)", invoice=document, vat=VatBreakdown())) == []


def test_with_vat_reads_the_terms_of_category_and_rate():
    assert terms("exists(with_vat(invoice.lines, 'S'))") == {"BT-151"}
    source = "sum(entry.net_amount for entry in with_vat(invoice.lines, vat.category, vat.rate))"
    assert terms(source) == {"BT-131", "BT-151", "BT-152", "BT-118", "BT-119"}
    allowances = "sum(entry.amount for entry in with_vat(invoice.allowances_and_charges, 'S'))"
    assert terms(allowances) == {"BT-92", "BT-99", "BT-95", "BT-102"}


def test_with_same_exemption_compares_reason_and_code_without_their_blanks():
    def tax(reason, code=""):
        return LineTax(exemption_reason=Text(reason), exemption_reason_code=Code(code))

    padded, other, coded = (Line(taxes=[it]) for it in (tax(" §  4 "), tax("§ 5"), tax("§ 4", "VATEX-EU-AE")))
    apart = Line(taxes=[LineTax(exemption_reason=Text("§ 4")), LineTax(exemption_reason_code=Code("VATEX-EU-AE"))])
    document = invoice(lines=[padded, other, coded, apart, Line(taxes=[LineTax()]), Line()])
    for vat, expected in (
        (VatBreakdown(exemption_reason=Text("§ 4")), [padded]),
        (VatBreakdown(exemption_reason=Text("§ 4"), exemption_reason_code=Code("VATEX-EU-AE ")), [coded, apart]),
        (VatBreakdown(exemption_reason=Text(" ")), document.lines[4:]),
        (VatBreakdown(), document.lines[4:]),
    ):
        assert list(run("with_same_exemption(invoice.lines, vat)", invoice=document, vat=vat)) == expected


def test_with_same_exemption_reads_the_exemption_reasons():
    source = "sum(entry.net_amount for entry in with_same_exemption(invoice.lines, vat))"
    assert terms(source) == {"BT-131", "BT-120", "BT-121"}


def test_constants_replace_names():
    constants = {"category": "AE", "minimum": Decimal("0.5"), "rates": ("AE", "E"), "maximum": 3}
    breakdown = VatBreakdown(category=Code("AE"), rate=Percentage("1"))
    assert run("vat.category == category and minimum < vat.rate < maximum", constants, vat=breakdown)
    assert run("vat.category in rates", constants, vat=breakdown)
    expression = check("vat.category == category", NAMES, HERE, constants=constants)
    assert expression.names == {"vat"}


def test_conditional_expression():
    source = "totals.paid if exists(totals.paid) else 0"
    assert run(source, totals=Totals(paid=Amount("5"))) == 5
    assert run(source, totals=Totals()) == 0


def test_code_lists_are_bound_by_syntax():
    expression = check("in_code_list(seller.address.country_code, 'countries')", NAMES, HERE)
    _, writer = written(expression)
    ubl, cii = (bind(writer.lists, {}, syntax=syntax)["_codes_countries"] for syntax in ("UBL", "CII"))
    assert ubl - cii == {"SS"}
    _, writer = written(check("contains(joined_codes('countries'), 'D')", NAMES, HERE))
    (codes,) = bind(writer.lists, {"en16931": "1.3.16"}, "UBL").values()
    assert codes.startswith(" 1A AD AE ")
    assert codes.endswith(" ZW ")


def test_simple_functions_are_inlined():
    for source in ("exists(totals.net)", "exists(invoice.lines)", "raw(seller.name)", "decimals(totals.net) > 2"):
        code, _ = written(check(source, NAMES, HERE))
        assert not any(f"{name}(" in code for name in ("exists", "raw", "decimals")), code


def test_expression_may_span_several_lines():
    assert run("totals.net\n  == 1\n  or totals.net == 2", totals=Totals(net=Amount("2")))


# ------------------------------------------------------------------------------------------------ terms


def test_terms_of_values_and_groups():
    assert terms("exists(line.price)") == {"BG-29"}
    assert terms("exists(line.price.net)") == {"BT-146"}
    assert terms("count(invoice.lines) > 0") == {"BG-25"}
    assert terms("sum(entry.net_amount for entry in invoice.lines)") == {"BT-131"}
    assert terms("count(v for v in invoice.vat_breakdown if v.category == 'S')") == {"BG-23", "BT-118"}
    assert terms("exists(line)") == {"BG-25"}
    assert terms("exists(seller.electronic_address.scheme)") == {"BT-34"}
    assert terms("any(i.scheme == '0088' for i in seller.identifiers)") == {"BT-29"}
    assert terms("non_blank(identifier)") == {"BT-29"}
    assert terms("expected == 1") == set()


def test_terms_of_a_class_shared_by_several_groups():
    assert terms("sum(a.amount for a in invoice.allowances)") == {"BT-92"}
    assert terms("sum(a.amount for a in invoice.charges)") == {"BT-99"}
    assert terms("sum(a.amount for a in invoice.allowances_and_charges)") == {"BT-92", "BT-99"}
    assert terms("sum(a.vat.rate for a in invoice.charges)") == {"BT-103"}
    assert terms("sum(a.amount for a in line.allowances)") == {"BT-136"}
    assert terms("count(line.periods) == 0") == {"BG-26"}
    assert terms("any(p.start < p.end for p in line.periods)") == {"BT-134", "BT-135"}
    assert terms("period.start < period.end") == {"BT-73", "BT-74"}


def test_group_of_the_context_selects_the_terms():
    names = {"it": Type(AllowanceCharge)}
    assert check("exists(it.amount)", names, HERE).terms == {"BT-92", "BT-99"}
    assert check("exists(it.amount)", names, HERE, group="BG-21").terms == {"BT-99"}
    assert check("exists(it.vat.category)", names, HERE, group="BG-21").terms == {"BT-102"}
    assert check("exists(it.amount)", {"it": Type(AllowanceCharge, group="BG-20")}, HERE).terms == {"BT-92"}


# ------------------------------------------------------------------------------------------------ loops


def test_loop_has_name_type_and_source():
    (loop,) = loops("line in invoice.lines", {"invoice": Type(Invoice)}, HERE)
    assert loop.name == "line"
    assert loop.type == Type(Line, group="BG-25", terms=("BG-25",))
    assert Writer().source(loop.source.node) == "invoice.lines"
    assert loop.source.terms == frozenset()


def test_inner_loop_uses_the_outer_name_and_takes_the_group():
    source = "line in invoice.lines; it in line.allowances_and_charges"
    outer, inner = loops(source, {"invoice": Type(Invoice)}, HERE, group="BG-28")
    assert outer.type.group == "BG-25"
    assert (inner.type.cls, inner.type.group) == (LineAllowanceCharge, "BG-28")
    assert check("exists(it.amount)", {"it": inner.type}, HERE).terms == {"BT-141"}


def test_group_of_the_context_sets_the_terms_of_its_name():
    (loop,) = loops("line in descendants(Line)", {"invoice": Type(Invoice)}, HERE, group="BG-25")
    assert check("exists(line)", {"line": loop.type}, HERE).terms == {"BG-25"}
    assert check("exists(line.taxes)", {"line": loop.type}, HERE).terms == {"BG-30"}
    (ungrouped,) = loops("line in descendants(Line)", {"invoice": Type(Invoice)}, HERE)
    assert check("exists(line.taxes)", {"line": ungrouped.type}, HERE).terms == {"BG-30", "BG-DEX-06"}


def test_loop_over_a_single_group_includes_further_occurrences():
    (loop,) = loops("totals in invoice.totals", {"invoice": Type(Invoice)}, HERE)
    first, second = Totals(), Totals()
    first.more = [second]
    code = Writer().source(loop.source.node)
    assert list(eval(code, {**GLOBALS, "invoice": invoice(totals=first)})) == [first, second]
    assert list(eval(code, {**GLOBALS, "invoice": invoice()})) == []


def test_loop_over_values_counts_terms_when_read():
    (loop,) = loops("i in seller.identifiers", {"seller": Type(Seller)}, HERE)
    assert check("non_blank(i)", {"i": loop.type}, HERE).terms == {"BT-29"}


@pytest.mark.parametrize(
    ("source", "column", "message"),
    [
        ("invoice.lines", 1, "is not a loop"),
        ("line in invoice.lins", 9, "Invoice has no field 'lins'"),
        ("line in invoice.lines; it in line.price.nett", 30, "Price has no field 'nett'"),
        ("invoice in invoice.lines", 12, "'invoice' is already in use"),
        ("count in invoice.lines", 10, "'count' is already in use"),
        ("line in invoice.lines;", 23, "is not a loop"),
        ("x in (line for line in invoice.lines)", 7, "not a generator expression"),
        ("x in invoice.currency.text", 6, "Code has no field 'text'"),
    ],
)
def test_invalid_loops(source, column, message):
    with pytest.raises(RuleError, match=message) as caught:
        loops(source, {"invoice": Type(Invoice)}, Where("contexts.toml", "x.for"))
    assert (caught.value.file, caught.value.key, caught.value.column) == ("contexts.toml", "x.for", column)


# ------------------------------------------------------------------------------------------------ expressions of rules


def test_distinct_file_names():
    source = "all_distinct(d.attachment.filename for d in invoice.documents)"

    def documents(*names):
        return [Document(attachment=Binary("", {} if name is None else {"filename": name})) for name in names]

    assert run(source, invoice=invoice(documents=documents("a.pdf", "b.pdf", None, None)))
    assert not run(source, invoice=invoice(documents=documents("a.pdf", "b.pdf", "a.pdf")))


def test_taxable_amount_is_compared_as_double():
    """UBL BR-S-08 subtracts 1 from a double: a difference of exactly 1 is accepted for 100.10, but not for 48.07."""
    source = "number(double(vat.taxable_amount) - 1) < expected < number(double(vat.taxable_amount) + 1)"

    def is_within(taxable, expected):
        return run(source, vat=VatBreakdown(taxable_amount=Amount(taxable)), expected=Decimal(expected))

    for amount in ("100.10", "48.07", "1000.01", "2345.67"):
        below, above = Decimal(float(amount) - 1), Decimal(float(amount) + 1)
        one_less, one_more = Decimal(amount) - 1, Decimal(amount) + 1
        assert is_within(amount, str(one_less)) is (below < one_less)
        assert is_within(amount, str(one_more)) is (one_more < above)


def test_payment_by_transfer():
    source = "means.code in ('30', '58') and not exists(means.credit_transfer)"
    assert run(source, means=PaymentMeans(code=Code("58")))
    assert not run(source, means=PaymentMeans(code=Code("59")))


def test_invalid_indicators_are_neither_true_nor_false():
    source = "count(a for a in invoice.allowances_and_charges if boolean(a.indicator) == False)"
    entries = [AllowanceCharge(indicator=Code(text)) for text in ("false", "0", " false ", "true", "no", "")]
    assert run(source, invoice=invoice(allowances_and_charges=[*entries, AllowanceCharge()])) == 3


def test_paths_through_missing_groups():
    assert not run("non_blank(invoice.seller.contact.name)", invoice=invoice())
    assert run("non_blank(seller.name)", seller=Seller(name=Text(" x ")))
    assert run("exists(a.vat.rate for a in invoice.charges)", invoice=invoice()) is False
    charge = AllowanceCharge(indicator=Code("true"), taxes=[AllowanceTax(rate=Percentage("0"))])
    assert run("exists(a.vat.rate for a in invoice.charges)", invoice=invoice(allowances_and_charges=[charge]))
