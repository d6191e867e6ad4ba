"""The table of invoice lines, with further details of each line below its item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, Final

from einvoice.model.lines import Line
from einvoice.model.money import AllowanceCharge
from einvoice.visualization.invoice.context import PageContext, distinct
from einvoice.visualization.invoice.further_content import leaf_label, leaf_text, leaves, local_name, name_of
from einvoice.visualization.invoice.tables import Column, table
from einvoice.visualization.labels import meaning
from einvoice.visualization.markup import EMPTY, Markup, solid, tag

#: The columns: business term of the heading, and whether they hold numbers.
_COLUMNS: Final = (
    ("BT-126", True),
    ("BT-153", False),
    ("BT-129", True),
    ("BT-146", True),
    ("BT-151", True),
    ("BT-131", True),
)
_AMOUNTS: Final = ("BT-146", "BT-131")
_MAX_DEPTH: Final = 6
_MAX_IDENTIFIER: Final = 14
"""Length (characters) up to which a line identifier widens its column; a longer one breaks."""
#: Element of a part of a bundle (BG-X-1), and its elements that need no label.
_BUNDLE: Final = "IncludedReferencedProduct"
_ITEM_SELLER: Final = "ItemSellerTradeParty"
_BUNDLE_NAMES: Final = ("Name", "UnitQuantity")


def invoice_lines(context: PageContext) -> Markup:
    """Return the table of lines; '' if the invoice has none."""
    rows: list[Markup] = []
    texts: list[list[str]] = []
    for line, depth, parent in _ordered(context.invoice.lines):
        cells = _cells(context, line)
        item = _item(context, line, parent)
        texts.append([cells[0][:_MAX_IDENTIFIER], max(item, key=len), *cells[1:]])
        rows.append(_row(line, depth, item, cells))
    if not rows:
        return EMPTY
    columns = [Column(_title(context, number), is_number) for number, is_number in _COLUMNS]
    return table(columns, rows, texts, "lines")


def _title(context: PageContext, number: str) -> str:
    return amount_heading(context, number) if number in _AMOUNTS else context.label(number)


def amount_heading(context: PageContext, key: str) -> str:
    """Return the heading of a column of amounts, with the currency of the invoice."""
    return "\u00a0".join(filter(None, (context.label(key), context.currency)))


def _ordered(lines: Sequence[Line]) -> Iterator[tuple[Line, int, Line | None]]:
    """Yield the lines with their depth and the line around them: UBL nests lines, CII refers to the parent line."""
    parents = {line.identifier.text: line.parent_line.text for line in lines if line.parent_line}
    stack: list[tuple[Line, int, Line | None]] = [(line, _depth(line, parents), None) for line in reversed(lines)]
    while stack:
        line, depth, parent = stack.pop()
        yield line, depth, parent
        stack.extend((subline, depth + 1, line) for subline in reversed(line.lines))


def _depth(line: Line, parents: dict[Any, Any]) -> int:
    depth, name = 0, line.identifier.text
    while name in parents and depth < _MAX_DEPTH:  # a line may refer to itself
        depth, name = depth + 1, parents[name]
    return depth


def _cells(context: PageContext, line: Line) -> list[str]:
    """Return the texts of the columns without the item."""
    return [
        context.text(line.identifier),
        context.text(line.quantity),
        _price(context, line),
        "; ".join(filter(None, (vat_text(context, tax) for tax in line.taxes))),
        context.text(line.net_amount),
    ]


def _item(context: PageContext, line: Line, parent: Line | None) -> list[str]:
    """Return the name of the item and the details below it."""
    return [context.text(line.item.name), *_details(context, line, parent)]


def _row(line: Line, depth: int, item: Sequence[str], cells: Sequence[str]) -> Markup:
    identifier, *numbers = cells
    name, *details = item
    text = tag("td", tag("p", name, class_="item"), *details) if details else tag("td", name, class_="item")
    row = (tag("td", identifier), text, *(tag("td", it, class_="n") for it in numbers))
    classes = f"below below{min(depth, _MAX_DEPTH)}" if depth else ""
    if not _is_counted(line):
        classes = f"{classes} uncounted".strip()
    return tag("tr", *row, class_=classes) if classes else tag("tr", *row)


def _is_counted(line: Line) -> bool:
    """Whether a line is part of the sum of lines: Factur-X EXTENDED has groups and lines for information (BT-X-8)."""
    return line.status_reason.text not in ("GROUP", "INFORMATION")


def vat_text(context: PageContext, tax: Any) -> str:
    """Return the rate of a tax, and what its category means unless it is the standard rate."""
    if tax.is_vat:
        context.mark_shown(tax.scheme)
    rate, code = context.text(tax.rate), context.text(tax.category)
    short = "" if code == "S" and rate else meaning("vat_short", code, context.lang) or code
    other = "" if tax.is_vat else context.text(tax.scheme)
    return " ".join(filter(None, (rate, short.replace(" ", "\u00a0"), other)))


def _price(context: PageContext, line: Line) -> str:
    return _per(context, line, context.text(line.price.net), line.price.base_quantity)


def _per(context: PageContext, line: Line, price: str, base: Any) -> str:
    """Return a price with its base quantity (BT-149), such as "1,95 / 100 l"; one unit is the default."""
    unit = line.quantity.unit or ""
    if price and base and base.number == 1 and (base.unit or unit) == unit:
        context.mark_shown(base)
        return price
    return " /\u00a0".join(filter(None, (price, context.quantity(base, unit))))


def _details(context: PageContext, line: Line, parent: Line | None) -> Iterator[Markup]:
    """Yield the details below the name of the item."""
    for remark in _status(context, line, parent):
        yield tag("p", remark, class_="status")
    if description := context.text(line.item.description):
        yield tag("p", description, class_="text")
    attributes = [context.named(key, text) if key else text for key, text in _attributes(context, line)]
    if attributes:
        yield tag("p", solid("\u00a0· ".join(attributes)), class_="small")
    for label, text in _seller(context, line):
        yield tag("p", context.named(label, text), class_="small")
    for bundled in context.further.of(line.item, _BUNDLE):
        yield tag("p", _bundle(context, bundled), class_="small")
    for note in line.notes:
        if block := context.note(None, note):
            yield block
    for extra in line.allowances_and_charges:
        yield tag("p", allowance_or_charge(context, extra), class_="small")


def _status(context: PageContext, line: Line, parent: Line | None) -> Iterator[str]:
    """Yield what a line means that is not an item of the invoice: a group, an information, or part of another line."""
    status = context.text(line.status_reason, "line_statuses")
    if status and line.status_reason.text != "DETAIL":  # a detail is an item of the invoice
        yield status
    if line.parent_line:
        yield context.label("sub_line").format(line=context.text(line.parent_line))
    elif parent is not None:
        key = "contained" if _is_sum_of_lines(parent) else "sub_line"
        yield context.label(key).format(line=parent.identifier.text or "")


def _is_sum_of_lines(line: Line) -> bool:
    amounts = [it.net_amount.number for it in line.lines]
    numbers = [it for it in amounts if isinstance(it, Decimal)]
    return len(numbers) == len(amounts) and sum(numbers, Decimal(0)) == line.net_amount.number


def _bundle(context: PageContext, element: Any) -> str:
    """Describe a part of a bundle (BG-X-1): the texts of its element."""
    context.further.mark_shown(element)
    names, others = [], []
    for leaf in leaves(element):
        text = leaf_text(leaf, context.lang, context.currency)
        below = leaf._replace(path=leaf.path[1:] or leaf.path)
        if local_name(leaf.element) in _BUNDLE_NAMES and len(leaf.path) == 2:
            names.append(text)
        else:
            others.append(context.named(leaf_label(below, context.lang), text))
    return context.named(context.label("contains"), "\u00a0· ".join((*reversed(names), *others)))


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
    yield from _order(context, line)
    yield from context.rows(line, "order_line", "accounting_reference")
    for document in line.documents:
        context.mark_shown(document.type_code)
        yield from context.row("BT-128", ", ".join(context.reference(document)))
    yield from _prices(context, line)


def _seller(context: PageContext, line: Line) -> Iterator[tuple[str, str]]:
    """Yield the seller of a line, which an invoice of several sellers states (Factur-X EXTENDED)."""
    for element in (it for group in (line, line.item) if group for it in context.further.of(group, _ITEM_SELLER)):
        context.further.mark_shown(element)
        texts = (leaf_text(it, context.lang, context.currency) for it in leaves(element))
        yield name_of(element, context.lang), "\u00a0· ".join(texts)


def _order(context: PageContext, line: Line) -> Iterator[tuple[str, str]]:
    """Yield the order of a line, which Factur-X EXTENDED states (BT-X-21)."""
    for element in context.further.of(line, "IssuerAssignedID"):
        if local_name(element.getparent()) == "BuyerOrderReferencedDocument":
            context.further.mark_shown(element)
            yield from context.row("BT-13", (element.text or "").strip())


def _prices(context: PageContext, line: Line) -> Iterator[tuple[str, str]]:
    """Yield the list price and the discounts or surcharges on it, each with its reason."""
    gross = line.gross_price
    base = gross.base_quantity or line.price.base_quantity
    if price := context.text(gross.amount, currency=True):
        yield context.label("BT-148"), _per(context, line, price, base)
    for discount in (*line.price.allowances, *gross.allowances):
        context.mark_shown(discount.indicator)
        if of := context.text(discount.base_amount, currency=True):
            # In UBL the base is the list price, in CII that of a percentage.
            yield context.label("base" if gross else "BT-148"), _per(context, line, of, base)
        if amount := context.text(discount.amount, currency=True):
            amount = _per(context, line, amount, base)
        reason = ", ".join(filter(None, (context.text(discount.percentage), reasons(context, discount))))
        text = f"{amount} ({reason})" if amount and reason else amount or reason
        yield from context.row("price_charge" if discount.is_charge else "BT-147", text)


def allowance_or_charge(context: PageContext, extra: AllowanceCharge) -> str:
    """Describe an allowance or charge in one line: "Nachlass (Treuerabatt), 10 % auf 100,00 EUR: −10,00 EUR"."""
    context.mark_shown(extra.indicator)
    kind = context.label("charge" if extra.is_charge else "allowance")
    base = context.text(extra.base_amount, currency=True)
    share = " ".join(filter(None, (context.text(extra.percentage), f"{context.label('of')} {base}" if base else "")))
    reason = reasons(context, extra)
    amount = signed_amount(context, extra, currency=True)
    name = f"{kind} ({reason})" if reason else kind
    return ", ".join(filter(None, (name, share))) + (context.named("", amount) if amount else "")


def signed_amount(context: PageContext, extra: AllowanceCharge, *, currency: bool = False) -> str:
    """Return the amount with its sign: negative for an allowance."""
    text = context.text(extra.amount, currency=currency)
    return text if extra.is_charge or not text else negated(text)


def negated(text: str) -> str:
    """Return the text of an amount with the opposite sign; zero has none.

    >>> negated("5,00"), negated("−5,00"), negated("0,00")
    ('−5,00', '5,00', '0,00')
    """
    if not any(it in "123456789" for it in text):
        return text
    return text.removeprefix("−") if text.startswith("−") else f"−{text}"


def reasons(context: PageContext, extra: AllowanceCharge) -> str:
    """Return the reason for an allowance or charge: its text, and the name of its code unless it is the same."""
    codes = "charge_reasons" if extra.is_charge else "allowance_reasons"
    text, code = context.text(extra.reason), (extra.reason_code.text or "").strip()
    if text and code and meaning(codes, code, context.lang) is None:
        return text  # the code, which has no name, is among the remaining terms
    return distinct(text, context.text(extra.reason_code, codes))
