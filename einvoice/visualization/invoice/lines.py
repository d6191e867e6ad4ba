"""The table of invoice lines, with further details of each line below its item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from einvoice.model.lines import Line
from einvoice.model.money import AllowanceCharge
from einvoice.visualization.invoice.context import PageContext
from einvoice.visualization.markup import EMPTY, Markup, join, tag

#: The columns: business term of the heading, width in percent, CSS class.
_COLUMNS: Final = (
    ("BT-126", 6, ""),
    ("BT-153", 44, ""),
    ("BT-129", 13, "n"),
    ("BT-146", 14, "n"),
    ("BT-151", 8, "n"),
    ("BT-131", 15, "n"),
)
_MAX_DEPTH: Final = 6


def invoice_lines(context: PageContext) -> Markup:
    """Return the table of lines; '' if the invoice has none."""
    rows = [_line(context, line, depth) for line, depth in _ordered(context.invoice.lines)]
    if not rows:
        return EMPTY
    widths = tag("colgroup", *(Markup(f'<col style="width:{width}%">') for _, width, _ in _COLUMNS))
    heads = [cell("th", _title(context, number), class_, scope="col") for number, _, class_ in _COLUMNS]
    return tag("table", widths, tag("thead", tag("tr", *heads)), tag("tbody", *rows), class_="lines")


def _title(context: PageContext, number: str) -> str:
    is_amount = number in ("BT-146", "BT-131") and context.currency
    return f"{context.label(number)} {context.currency}" if is_amount else context.label(number)


def cell(name: str, content: str, class_: str, **attributes: str) -> Markup:
    """Return a table cell, with the class of its column if it has one."""
    return tag(name, content, class_=class_, **attributes) if class_ else tag(name, content, **attributes)


def _ordered(lines: Sequence[Line]) -> Iterator[tuple[Line, int]]:
    """Yield the lines with their depth: UBL nests lines, CII refers to the parent line."""
    parents = {line.identifier.text: line.parent_line.text for line in lines if line.parent_line}
    stack: list[tuple[Line, int]] = [(line, _depth(line, parents)) for line in reversed(lines)]
    while stack:
        line, depth = stack.pop()
        yield line, depth
        stack.extend((subline, depth + 1) for subline in reversed(line.lines))


def _depth(line: Line, parents: dict[Any, Any]) -> int:
    depth, name = 0, line.identifier.text
    while name in parents and depth < _MAX_DEPTH:  # a line may refer to itself
        depth, name = depth + 1, parents[name]
    return depth


def _line(context: PageContext, line: Line, depth: int) -> Markup:
    context.mark_shown(line.parent_line, line.item.name)
    vat = [_vat(context, tax) for tax in line.taxes]
    cells = (
        tag("td", context.text(line.identifier)),
        tag("td", tag("strong", context.text(line.item.name)), *_details(context, line)),
        tag("td", context.text(line.quantity), class_="n"),
        tag("td", _price(context, line), class_="n"),
        tag("td", join(*vat), class_="n"),
        tag("td", context.text(line.net_amount), class_="n"),
    )
    return tag("tr", *cells, class_=f"below below{min(depth, _MAX_DEPTH)}") if depth else tag("tr", *cells)


def _vat(context: PageContext, tax: Any) -> Markup:
    """Return the rate and category code of a tax; the VAT breakdown shows the name of the category."""
    if tax.is_vat:
        context.mark_shown(tax.scheme)
    text = " ".join(filter(None, (context.text(tax.rate), context.text(tax.category))))
    return join(text.replace(" ", "\u00a0"))


def _price(context: PageContext, line: Line) -> str:
    price = context.text(line.price.net)
    base = line.price.base_quantity
    if price and base and base.number == 1 and (base.unit or line.quantity.unit) == line.quantity.unit:
        context.mark_shown(base)  # one unit is the default
        return price
    return " / ".join(filter(None, (price, context.text(base))))


def _details(context: PageContext, line: Line) -> Iterator[Markup]:
    """Yield the details below the name of the item."""
    if description := context.text(line.item.description):
        yield tag("p", description, class_="text")
    attributes = [f"{key}: {text}" if key else text for key, text in _attributes(context, line)]
    if attributes:
        yield tag("p", "\u00a0· ".join(attributes), class_="small")
    for note in line.notes:
        if block := context.note(None, note):
            yield block
    for extra in line.allowances_and_charges:
        yield tag("p", allowance_or_charge(context, extra), class_="small")


def _attributes(context: PageContext, line: Line) -> Iterator[tuple[str, str]]:
    item = line.item
    if item:
        yield from context.rows(item, "seller_identifier", "buyer_identifier", "standard_identifier")
        for classification in item.classifications:
            yield from context.rows(classification, "identifier")
        yield from context.coded(item, "origin_country", "countries")
        for it in item.properties:
            name, value = context.text(it.name), context.text(it.value)
            if name or value:
                yield (name, value)
    for period in line.periods:
        yield from context.row("BT-134", context.period(period.start, period.end))
    yield from context.rows(line, "order_line", "accounting_reference")
    for document in line.documents:
        context.mark_shown(document.type_code)
        yield from context.row("BT-128", context.text(document.identifier), context.text(document.reference_type))
    yield from _prices(context, line)


def _prices(context: PageContext, line: Line) -> Iterator[tuple[str, str]]:
    """Yield the gross price and the price discount."""
    gross = line.gross_price
    if gross:
        yield from context.rows(gross, "amount")
        if gross.base_quantity and gross.base_quantity == line.price.base_quantity:
            context.mark_shown(gross.base_quantity)
        yield from context.row("BT-149", context.text(gross.base_quantity))
    for discount in (*line.price.allowances, *gross.allowances):
        context.mark_shown(discount.indicator)
        yield from context.row("BT-148", context.text(discount.base_amount))
        yield from context.row("BT-147", context.text(discount.amount))


def allowance_or_charge(context: PageContext, extra: AllowanceCharge) -> str:
    """Describe an allowance or charge in one line: "Nachlass 10 % auf 100,00: −10,00 – Treuerabatt"."""
    context.mark_shown(extra.indicator)
    kind = context.label("charge" if extra.is_charge else "allowance")
    base = context.text(extra.base_amount)
    parts = [kind, context.text(extra.percentage), f"{context.label('of')} {base}" if base else ""]
    reason = reasons(context, extra)
    amount = signed_amount(context, extra)
    return " ".join(filter(None, parts)) + (f": {amount}" if amount else "") + (f" – {reason}" if reason else "")


def signed_amount(context: PageContext, extra: AllowanceCharge) -> str:
    """Return the amount with its sign: negative for an allowance."""
    text = context.text(extra.amount)
    return text if extra.is_charge or not text else negated(text)


def negated(text: str) -> str:
    """Return the text of an amount with the opposite sign."""
    return text.removeprefix("−") if text.startswith("−") else f"−{text}"


def reasons(context: PageContext, extra: AllowanceCharge) -> str:
    """Return the reason for an allowance or charge: its text, and the name of its code."""
    codes = "charge_reasons" if extra.is_charge else "allowance_reasons"
    text, name = context.text(extra.reason), context.text(extra.reason_code, codes)
    return name if text and name.startswith(f"{text} (") else ", ".join(filter(None, (text, name)))
