"""Hypothesis strategies for complete drafts, which XRechnung accepts."""

from __future__ import annotations

import base64
import datetime
import functools
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from einvoice.draft import read
from einvoice.draft.fields.base import terms_of
from einvoice.draft.fields.totals import Totals
from tests.helpers.strategies import texts

Draft = dict[str, Any]

#: The ways an invoice is taxed: categories with their rates, and why no tax is due where that has to be said.
TAXED = {
    "mixed": (("S", "19"), ("S", "7.00"), ("S", "5.5"), ("Z", "0"), ("E", "0")),
    "reverse charge": (("AE", "0"),),
    "within the EU": (("K", "0"), ("S", "19")),
    "export": (("G", "0.00"),),
    "islands": (("L", "7"), ("M", "4")),
    "no VAT": (("O", None),),
}
REASONS = {"E": "VATEX-EU-132", "AE": "VATEX-EU-AE", "K": "VATEX-EU-IC", "G": "VATEX-EU-G", "O": "VATEX-EU-O"}
IBANS = ("DE02120300000000202051", "DE75512108001245126199", "FR1420041010050500013M02606", "NL91ABNA0417164300")
FILES = (("application/pdf", "pdf"), ("image/png", "png"), ("image/jpeg", "jpg"), ("text/csv", "csv"))


@functools.cache
def words() -> SearchStrategy[str]:
    """Texts that people write, awkward ones among them; no number sign, which means something to UBL."""
    return texts(min_size=1, max_size=20).map(lambda text: text.replace("#", "").strip()).filter(bool)


@functools.cache
def names() -> SearchStrategy[str]:
    return st.sampled_from(("Müller & Söhne GmbH", "Amt <für> Beispiele", "Ωmega A/S", "Łódź sp. z o.o.")) | words()


@functools.cache
def numbers(least: int, most: int, places: int = 2) -> SearchStrategy[str]:
    """Decimal text between two whole numbers."""
    steps = st.integers(least * 10**places, most * 10**places)
    return st.builds(lambda n, shift: f"{Decimal(n).scaleb(-shift):f}", steps, st.just(places))


def given_or_not(**fields: SearchStrategy[Any]) -> SearchStrategy[Draft]:
    return st.fixed_dictionaries({}, optional=fields)


@functools.cache
def identifiers(scheme: str = "0088") -> SearchStrategy[Draft]:
    return st.fixed_dictionaries({"id": words()}, optional={"scheme": st.just(scheme)})


@functools.cache
def addresses(*, city: bool = True) -> SearchStrategy[Draft]:
    needed = {"country_code": st.sampled_from(("DE", "FR", "AT"))}
    if city:
        needed |= {"city": words(), "postal_code": st.sampled_from(("10115", "01067", "F-75001"))}
    optional = dict.fromkeys(("street", "additional_street", "address_line_3", "region"), words())
    return st.fixed_dictionaries(needed, optional=optional)


@st.composite
def complete_drafts(draw: DrawFn) -> Draft:
    """Drafts with any of the fields there are."""
    way = draw(st.sampled_from(sorted(TAXED)))
    issued = draw(st.dates(datetime.date(2024, 1, 1), datetime.date(2027, 12, 31)))
    begin = issued - datetime.timedelta(days=draw(st.integers(30, 60)))
    period = {"start": begin.isoformat(), "end": issued.isoformat()}
    draft: Draft = {
        "invoice_number": draw(words()),
        "issue_date": issued.isoformat(),
        "format": "UBL",
        "buyer_reference": draw(words()),
        "seller": draw(_sellers(way)),
        "buyer": draw(_buyers(way)),
        "payment": draw(_payments()),
        "lines": [draw(_lines(way, period)) for _ in range(draw(st.integers(1, 3)))],
        "service_date": issued.isoformat(),
        "due_date": (issued + datetime.timedelta(days=14)).isoformat(),
    }
    draft |= draw(_headers(issued, period))
    draft |= draw(_extras(way))
    draft |= draw(_parties(way))
    if way == "within the EU":
        draft.setdefault("delivery", {}).setdefault("country_code", "FR")
        draft["delivery"] |= {"city": "Paris", "postal_code": "75001"}
    taxed = {(it["tax_category"], it.get("tax_rate")) for key in ("lines", "allowances", "charges")
             for it in draft.get(key, ())}  # fmt: skip
    exempt = sorted((category, rate or "0") for category, rate in taxed if category in REASONS)
    if exempt:
        draft["vat_breakdown"] = [
            {"tax_category": category, **({} if category == "O" else {"tax_rate": rate})}
            | draw(st.sampled_from(({"exemption_reason_code": REASONS[category]}, {"exemption_reason": "Befreit"})))
            for category, rate in exempt
        ]
    for number, line in enumerate(draft["lines"]):
        if draw(st.booleans()):
            line["line_id"] = f"P-{number}"
    draft |= draw(_money(draft))
    return draw(st.sampled_from((draft, _with_sums(draft))))


def _with_sums(draft: Draft) -> Draft:
    """The same draft with the sums that it comes to."""
    known = read(draft)
    sums = known.calculated
    lines = [{**line, "net_amount": f"{it.net:f}"} for line, it in zip(draft["lines"], known.lines, strict=True)]
    amounts = {name: sums.amount(terms_of(Totals, name)[0]) for name in Totals.model_fields}
    given = {name: f"{amount:f}" for name, amount in amounts.items() if amount is not None}
    breakdown = [
        {
            "tax_category": part.category,
            **({} if part.rate is None else {"tax_rate": f"{part.rate:f}"}),
            "taxable_amount": f"{part.taxable:f}",
            "tax_amount": f"{part.tax:f}",
            **{
                name: text
                for name in ("exemption_reason", "exemption_reason_code")
                if part.given and (text := getattr(part.given, name))
            },
        }
        for part in sums.vat
    ]
    return {**draft, "lines": lines, "totals": given, "vat_breakdown": breakdown}


@st.composite
def _sellers(draw: DrawFn, way: str) -> Draft:
    seller = draw(
        st.fixed_dictionaries(
            {
                "name": names(),
                "electronic_address": st.just({"id": "rechnung@handwerk.example", "scheme": "EM"}),
                "contact": st.fixed_dictionaries(
                    {"name": words(), "telephone": st.just("+49 30 123456"), "email": st.just("a@handwerk.example")}
                ),
                "identifiers": st.lists(identifiers(), min_size=1, max_size=2),
            },
            optional={
                "trading_name": words(),
                "legal_registration": identifiers("0002"),
                "legal_information": words(),
            },
        )
    )
    vat = way != "no VAT"
    tax = draw(st.sampled_from(
        ({"tax_id": "DE123456789"}, {"tax_id": "DE123456789", "tax_number": "29/123"}, {"vat_id": "ATU12345678"},
         {"tax_id": "29/123/4567", "vat_id": "DE123456789"}) if vat else ({}, {"tax_number": "29/123"})
    ))  # fmt: skip
    return seller | tax | draw(addresses())


@st.composite
def _buyers(draw: DrawFn, way: str) -> Draft:
    buyer = draw(
        st.fixed_dictionaries(
            {"name": names(), "electronic_address": st.just({"id": "04011000-12345-34", "scheme": "0204"})},
            optional={
                "trading_name": words(),
                "identifier": identifiers(),
                "legal_registration": identifiers("0002"),
                "contact": given_or_not(name=words(), telephone=words(), email=st.just("b@amt.example")),
            },
        )
    )
    if way in ("reverse charge", "within the EU") or (way != "no VAT" and draw(st.booleans())):
        buyer["vat_id"] = "FR12345678901"
    return buyer | draw(addresses())


@st.composite
def _payments(draw: DrawFn) -> Draft:
    kind = draw(st.sampled_from(("transfer", "accounts", "card", "debit", "other")))
    iban = st.sampled_from(IBANS)
    bank = {"account_name": words(), "bic": st.sampled_from(("BYLADEM1001", "COBADEFFXXX"))}
    if kind == "transfer":
        payment = draw(st.fixed_dictionaries({"payment_means_code": st.sampled_from(("30", "58")), "iban": iban},
                                             optional=bank))  # fmt: skip
    elif kind == "accounts":
        accounts = st.lists(st.fixed_dictionaries({"iban": iban}, optional=bank), min_size=1, max_size=3)
        payment = {"payment_means_code": "58", "accounts": draw(accounts)}
    elif kind == "card":
        card = st.fixed_dictionaries({"number": st.just("4242")}, optional={"holder": words()})
        payment = {"payment_means_code": "54", "card": draw(card)}
    elif kind == "debit":
        debit = {"mandate_reference": draw(words()), "creditor_id": "DE98ZZZ09999999999", "debited_iban": draw(iban)}
        payment = {"payment_means_code": "59", "direct_debit": debit}
    else:
        payment = {"payment_means_code": "10"}
    return payment | draw(given_or_not(payment_reference=words(), payment_means_text=words()))


def _periods(within: Draft) -> SearchStrategy[Draft]:
    return st.sampled_from((within, {"start": within["end"]}, {"end": within["end"]}))


@st.composite
def _lines(draw: DrawFn, way: str, period: Draft) -> Draft:
    category, rate = draw(st.sampled_from(TAXED[way]))
    line = draw(
        st.fixed_dictionaries(
            {
                "name": names(),
                "quantity": numbers(-50, 500, 3),
                "unit_price": numbers(0, 900, 4),
                "tax_category": st.just(category),
            },
            optional={
                "description": words(),
                "unit_code": st.sampled_from(("HUR", "C62", "KGM")),
                "note": words(),
                "object": identifiers("AVE"),
                "order_line_reference": words(),
                "buyer_accounting_reference": words(),
                "period": _periods(period),
                "allowances": st.lists(_extra("95"), max_size=2),
                "charges": st.lists(_extra("FC"), max_size=2),
                "price_base_quantity": st.sampled_from(("1", "12", "100.0", "7")),
                "seller_item_id": words(),
                "buyer_item_id": words(),
                "standard_item_id": st.fixed_dictionaries({"id": words(), "scheme": st.just("0160")}),
                "classifications": st.lists(_classes(), max_size=2),
                "origin_country": st.sampled_from(("DE", "CN")),
                "attributes": st.lists(st.fixed_dictionaries({"name": words(), "value": words()}), max_size=2),
            },
        )
    )
    if rate is not None:
        line["tax_rate"] = rate
    if "price_base_quantity" in line and draw(st.booleans()):
        line["price_base_unit_code"] = line.get("unit_code", "C62")
    if draw(st.booleans()):
        discount = Decimal(draw(numbers(0, 90)))
        line |= draw(st.sampled_from((
            {"price_discount": str(discount)}, {"gross_price": str(Decimal(line["unit_price"]) + discount)},
        )))  # fmt: skip
    return line


def _classes() -> SearchStrategy[Draft]:
    return st.fixed_dictionaries({"id": words(), "scheme": st.just("STI")}, optional={"version": words()})


@st.composite
def _extra(draw: DrawFn, code: str) -> Draft:
    amount = {"amount": draw(numbers(0, 50))}
    percent = {"percentage": draw(numbers(0, 30)), "base_amount": draw(numbers(0, 500))}
    why = {"reason": draw(words())}, {"reason_code": code}, {"reason": draw(words()), "reason_code": code}
    return draw(st.sampled_from((amount, percent))) | draw(st.sampled_from(why))


@st.composite
def _extras(draw: DrawFn, way: str) -> Draft:
    """Allowances and charges on the invoice; at most one each, and taxed as something on a line is."""
    result: Draft = {}
    for name, code in (("allowances", "95"), ("charges", "FC")):
        for _ in range(draw(st.integers(0, 2))):
            category, rate = draw(st.sampled_from(TAXED[way]))
            tax = {"tax_category": category} | ({} if rate is None else {"tax_rate": rate})
            result.setdefault(name, []).append(draw(_extra(code)) | tax)
    return result


def _headers(issued: datetime.date, period: Draft) -> SearchStrategy[Draft]:
    point = ({}, {"tax_point_date": issued.isoformat()}, {"tax_point_code": "35"})
    reference = words()
    fields = given_or_not(
        profile=st.sampled_from(("XRECHNUNG", "EN16931")),
        business_process=st.just("urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"),
        type_code=st.sampled_from(("380", "389", "381")),
        currency=st.sampled_from(("EUR", "SEK")),
        project_reference=reference,
        contract_reference=reference,
        purchase_order_reference=reference,
        sales_order_reference=reference,
        receiving_advice_reference=reference,
        despatch_advice_reference=reference,
        tender_reference=reference,
        invoiced_object=identifiers("AVE"),
        buyer_accounting_reference=reference,
        payment_terms=words(),
        notes=st.lists(st.fixed_dictionaries({"text": words()}, optional={"subject_code": st.just("AAI")}), max_size=2),
        preceding_invoices=st.lists(
            st.fixed_dictionaries({"number": words()}, optional={"issue_date": st.just("2023-05-06")}), max_size=1
        ),
        invoicing_period=st.just(period),
        attachments=st.builds(lambda own, linked: own + linked, st.lists(_attachments(), max_size=1), _linked()),
    )
    return st.builds(lambda fields, point: fields | point, fields, st.sampled_from(point))


def _linked() -> SearchStrategy[list[Draft]]:
    """Documents elsewhere: of files and descriptions more than one is a warning of the official rules for CII."""
    return st.lists(st.fixed_dictionaries({"id": words(), "url": st.just("https://a.example/2")}), max_size=2)


@st.composite
def _attachments(draw: DrawFn) -> Draft:
    attachment = {"id": draw(words())} | draw(given_or_not(description=words(), url=st.just("https://a.example/1")))
    if draw(st.booleans()):
        mime, end = draw(st.sampled_from(FILES))
        content = base64.b64encode(draw(st.binary(min_size=1, max_size=30))).decode()
        attachment |= {"content": content, "mime_type": mime, "filename": f"anlage-{draw(st.integers(1, 99))}.{end}"}
    return attachment


@st.composite
def _parties(draw: DrawFn, way: str) -> Draft:
    own = st.sampled_from(
        ({"id": "Z-1"}, {"id": "Z-1", "scheme": "0002"})
    )  # not the seller's, or the payee were the seller
    registered = {"identifier": own, "legal_registration": own}
    parties = {
        "payee": st.fixed_dictionaries({"name": st.just("Factoring Bank AG")}, optional=registered),
        "delivery": st.builds(
            lambda where, more: where | more, addresses(), given_or_not(name=words(), location=identifiers())
        ),
    }
    if way != "no VAT":
        parties["tax_representative"] = st.builds(
            lambda where, more: where | more,
            addresses(),
            st.fixed_dictionaries({"name": words(), "vat_id": st.just("DE192837463")}),
        )
    return draw(given_or_not(**parties))


@st.composite
def _money(draw: DrawFn, draft: Draft) -> Draft:
    """What only the seller knows of the sums. The VAT in another currency has the sign of the VAT, which we ask."""
    totals = draw(given_or_not(paid_amount=numbers(0, 100), rounding_amount=st.sampled_from(("0.01", "-0.02"))))
    result: Draft = {}
    if draw(st.booleans()):
        vat = read(draft).calculated.amount("BT-110")
        result["tax_currency"] = "NOK"
        totals["vat_amount_in_tax_currency"] = f"{vat * 10:.2f}"
    return result | ({"totals": totals} if totals else {})
