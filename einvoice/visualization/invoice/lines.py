"""The lines of the invoice as a table; below each item what else is said of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from einvoice.model.lines import Line
from einvoice.model.money import AllowanceCharge
from einvoice.visualization.invoice.sheet import Sheet
from einvoice.visualization.markup import EMPTY, Markup, join, tag

#: The columns, by the term that names them, and how wide they are.
_COLUMNS: Final = (
    ("BT-126", 6, ""),
    ("BT-153", 44, ""),
    ("BT-129", 13, "n"),
    ("BT-146", 14, "n"),
    ("BT-151", 8, "n"),
    ("BT-131", 15, "n"),
)
_DEEPEST: Final = 6


def invoice_lines(sheet: Sheet) -> Markup:
    """The table of lines; '' where the invoice has none."""
    rows = [_line(sheet, line, depth) for line, depth in _ordered(sheet.invoice.lines)]
    if not rows:
        return EMPTY
    widths = tag("colgroup", *(Markup(f'<col style="width:{width}%">') for _, width, _ in _COLUMNS))
    heads = [cell("th", _title(sheet, number), class_, scope="col") for number, _, class_ in _COLUMNS]
    return tag("table", widths, tag("thead", tag("tr", *heads)), tag("tbody", *rows), class_="lines")


def _title(sheet: Sheet, number: str) -> str:
    money = number in ("BT-146", "BT-131") and sheet.currency
    return f"{sheet.word(number)} {sheet.currency}" if money else sheet.word(number)


def cell(name: str, content: str, class_: str, **attributes: str) -> Markup:
    """A cell of a table, with the class of its column if that has one."""
    return tag(name, content, class_=class_, **attributes) if class_ else tag(name, content, **attributes)


def _ordered(lines: Sequence[Line]) -> Iterator[tuple[Line, int]]:
    """The lines with how deep they stand: UBL nests them, CII names the line above."""
    above = {line.identifier.text: line.parent_line.text for line in lines if line.parent_line}
    stack: list[tuple[Line, int]] = [(line, _depth(line, above)) for line in reversed(lines)]
    while stack:
        line, depth = stack.pop()
        yield line, depth
        stack.extend((below, depth + 1) for below in reversed(line.lines))


def _depth(line: Line, above: dict[Any, Any]) -> int:
    depth, name = 0, line.identifier.text
    while name in above and depth < _DEEPEST:  # a line may be named as its own parent
        depth, name = depth + 1, above[name]
    return depth


def _line(sheet: Sheet, line: Line, depth: int) -> Markup:
    sheet.seen(line.parent_line, line.item.name)
    vat = [_vat(sheet, tax) for tax in line.taxes]
    cells = (
        tag("td", sheet.text(line.identifier)),
        tag("td", tag("strong", sheet.text(line.item.name)), *_details(sheet, line)),
        tag("td", sheet.text(line.quantity), class_="n"),
        tag("td", _price(sheet, line), class_="n"),
        tag("td", join(*vat), class_="n"),
        tag("td", sheet.text(line.net_amount), class_="n"),
    )
    return tag("tr", *cells, class_=f"below below{min(depth, _DEEPEST)}") if depth else tag("tr", *cells)


def _vat(sheet: Sheet, tax: Any) -> Markup:
    """Rate and category of a tax; what the category's letter means stands in the VAT breakdown."""
    if tax.is_vat:
        sheet.seen(tax.scheme)
    said = " ".join(filter(None, (sheet.text(tax.rate), sheet.text(tax.category))))
    return join(said.replace(" ", "\u00a0"))


def _price(sheet: Sheet, line: Line) -> str:
    price = sheet.text(line.price.net)
    base = line.price.base_quantity
    if price and base and base.number == 1 and (base.unit or line.quantity.unit) == line.quantity.unit:
        sheet.seen(base)  # a price for one is what everybody takes it for
        return price
    return " / ".join(filter(None, (price, sheet.text(base))))


def _details(sheet: Sheet, line: Line) -> Iterator[Markup]:
    """What stands below the name of the item."""
    if described := sheet.text(line.item.description):
        yield tag("p", described, class_="text")
    pieces = [f"{key}: {text}" if key else text for key, text in _pieces(sheet, line)]
    if pieces:
        yield tag("p", "\u00a0· ".join(pieces), class_="small")
    for note in line.notes:
        if said := sheet.note(None, note):
            yield said
    for extra in line.allowances_and_charges:
        yield tag("p", allowance_or_charge(sheet, extra), class_="small")


def _pieces(sheet: Sheet, line: Line) -> Iterator[tuple[str, str]]:
    item = line.item
    if item:
        yield from sheet.rows(item, "seller_identifier", "buyer_identifier", "standard_identifier")
        for classification in item.classifications:
            yield from sheet.rows(classification, "identifier")
        yield from sheet.coded(item, "origin_country", "countries")
        for it in item.properties:
            name, value = sheet.text(it.name), sheet.text(it.value)
            if name or value:
                yield (name, value)
    for period in line.periods:
        yield from sheet.row("BT-134", sheet.span(period.start, period.end))
    yield from sheet.rows(line, "order_line", "accounting_reference")
    for document in line.documents:
        sheet.seen(document.type_code)
        yield from sheet.row("BT-128", sheet.text(document.identifier), sheet.text(document.reference_type))
    yield from _prices(sheet, line)


def _prices(sheet: Sheet, line: Line) -> Iterator[tuple[str, str]]:
    """The price before the discount, and the discount."""
    gross = line.gross_price
    if gross:
        yield from sheet.rows(gross, "amount")
        if gross.base_quantity and gross.base_quantity == line.price.base_quantity:
            sheet.seen(gross.base_quantity)
        yield from sheet.row("BT-149", sheet.text(gross.base_quantity))
    for discount in (*line.price.allowances, *gross.allowances):
        sheet.seen(discount.indicator)
        yield from sheet.row("BT-148", sheet.text(discount.base_amount))
        yield from sheet.row("BT-147", sheet.text(discount.amount))


def allowance_or_charge(sheet: Sheet, extra: AllowanceCharge) -> str:
    """What is taken off or added, in a sentence: "Nachlass 10 % auf 100,00: −10,00 – Treuerabatt"."""
    sheet.seen(extra.indicator)
    kind = sheet.word("charge" if extra.is_charge else "allowance")
    of = sheet.text(extra.base_amount)
    parts = [kind, sheet.text(extra.percentage), f"{sheet.word('of')} {of}" if of else ""]
    why = reasons(sheet, extra)
    amount = signed(sheet, extra)
    return " ".join(filter(None, parts)) + (f": {amount}" if amount else "") + (f" – {why}" if why else "")


def signed(sheet: Sheet, extra: AllowanceCharge) -> str:
    """The amount as it counts: an allowance with a minus."""
    text = sheet.text(extra.amount)
    return text if extra.is_charge or not text else less(text)


def less(text: str) -> str:
    """An amount that is taken off, as text with the other sign."""
    return text.removeprefix("−") if text.startswith("−") else f"−{text}"


def reasons(sheet: Sheet, extra: AllowanceCharge) -> str:
    """Why something is taken off or added: the text, and the code in words."""
    codes = "charge_reasons" if extra.is_charge else "allowance_reasons"
    text, meant = sheet.text(extra.reason), sheet.text(extra.reason_code, codes)
    return meant if text and meant.startswith(f"{text} (") else ", ".join(filter(None, (text, meant)))
