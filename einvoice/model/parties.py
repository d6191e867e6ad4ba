"""Parties and delivery, with addresses, contacts and tax registrations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Final

from einvoice.model.group import Group, first, inside, numbered, split, term, terms, view
from einvoice.model.values import Code, Date, Identifier, Text, Value, absent, normalize_space


@numbered("", country_code="BT-40 BT-55 BT-69 BT-80")
class Address(Group):
    """A postal address; its business terms depend on the party."""

    line_1: Text = term()
    line_2: Text = term()
    line_3: Text = term()
    city: Text = term()
    postal_code: Text = term()
    subdivision: Text = term()
    country_code: Code = term()


class Country(Group):
    """A misplaced country, such as that of an agent or of a bank."""

    code: Code = term()


class Contact(Group):
    """A contact; `department` is an element of CII."""

    name: Text = term()
    department: Text = term()
    telephone: Text = term()
    email: Text = term()


@numbered("", identifier="BT-31 BT-48 BT-63")
class TaxRegistration(Group):
    """A tax registration number; `scheme` is the type of tax."""

    identifier: Identifier = term()
    scheme: Code = term()

    @property
    def is_vat(self) -> bool:
        """Whether the official rules of the syntax treat it as a VAT registration."""
        return self.scheme.text == "VAT" or any(further.text == "VAT" for further in self.scheme.more)


@numbered("BG-5", line_1="BT-35", line_2="BT-36", line_3="BT-162", city="BT-37", postal_code="BT-38",
          subdivision="BT-39", country_code="BT-40")  # fmt: skip
class SellerAddress(Address):
    """BG-5: the seller's postal address."""


@numbered("BG-8", line_1="BT-50", line_2="BT-51", line_3="BT-163", city="BT-52", postal_code="BT-53",
          subdivision="BT-54", country_code="BT-55")  # fmt: skip
class BuyerAddress(Address):
    """BG-8: the buyer's postal address."""


@numbered("BG-12", line_1="BT-64", line_2="BT-65", line_3="BT-164", city="BT-66", postal_code="BT-67",
          subdivision="BT-68", country_code="BT-69")  # fmt: skip
class TaxRepresentativeAddress(Address):
    """BG-12: the postal address of the seller's tax representative."""


@numbered("BG-15", line_1="BT-75", line_2="BT-76", line_3="BT-165", city="BT-77", postal_code="BT-78",
          subdivision="BT-79", country_code="BT-80")  # fmt: skip
class DeliveryAddress(Address):
    """BG-15: the deliver-to address."""


@numbered("BG-6", name="BT-41", department="BT-41", telephone="BT-42", email="BT-43")
class SellerContact(Contact):
    """BG-6: the seller contact."""


@numbered("BG-9", name="BT-56", department="BT-56", telephone="BT-57", email="BT-58")
class BuyerContact(Contact):
    """BG-9: the buyer contact."""


@numbered("BG-4", identifier="BT-31 BT-32")
class SellerTaxRegistration(TaxRegistration):
    """BT-31 (VAT identifier) or BT-32 (tax registration identifier) of the seller."""


@numbered("BG-7", identifier="BT-48")
class BuyerTaxRegistration(TaxRegistration):
    """BT-48 of the buyer."""


@numbered("BG-11", identifier="BT-63")
class TaxRepresentativeTaxRegistration(TaxRegistration):
    """BT-63 of the seller's tax representative."""


def _for_vat(registrations: Iterable[TaxRegistration]) -> Sequence[Identifier]:
    return [it.identifier for it in registrations if it.is_vat and it.identifier is not absent]


def _first_for_vat(registrations: Iterable[TaxRegistration]) -> Identifier:
    result: Identifier = absent
    for registration in registrations:
        if result is absent and registration.is_vat:
            result = registration.identifier
    return result


def country_of(parties: Iterable[Any], country: str) -> str:
    """Return the country whose Peppol rules apply: that of a VAT identifier, or else `country`, in upper case.

    The first party with a VAT identifier counts. Where a party has several, the official rules fail, and the result is
    the empty text. The tax scheme must be exactly `VAT`.
    """
    for party in parties:
        numbers = _exact_vat_numbers(party)
        if len(numbers) > 1:
            return ""
        if numbers and numbers[0]:
            return normalize_space(numbers[0][:2]).upper()
    return normalize_space(country).upper()


def _exact_vat_numbers(party: Any) -> list[str]:
    found = []
    for registration in [registration for it in (party, *party.more) for registration in it.tax_registrations]:
        scheme, identifier = registration.scheme, registration.identifier
        if scheme.raw == "VAT" or any(further.raw == "VAT" for further in scheme.more):
            found += [it.raw for it in (identifier, *identifier.more)] if identifier else [""]
    return found


def _only_country(party: Any) -> str:
    address = party.address
    code = address.country_code
    if not (party.more or address.more or code.more):  # as almost always
        return code.raw or ""
    addresses = (address for it in (party, *party.more) if it.address for address in (it.address, *it.address.more))
    codes = [code for it in addresses if it.country_code for code in (it.country_code, *it.country_code.more)]
    return codes[0].raw if len(codes) == 1 else ""


#: The fields of parties and tax registrations that hold numbers.
_NUMBERS: Final = ("electronic_address", "identifiers", "legal_identifier", "identifier")


def numbers_of(parties: Iterable[Any]) -> list[Identifier]:
    """Return the electronic addresses, identifiers and registration numbers of parties and tax registrations."""
    found: list[Any] = []
    for party in parties:
        for content in (getattr(party, field, ()) for field in _NUMBERS):
            if content:
                found += (content, *content.more) if isinstance(content, Value) else content
        found += numbers_of(getattr(party, "tax_registrations", ()))
        found += numbers_of(party.more)
    return found


class Identified(Group):
    """A group with identifiers that CII writes as `ram:ID`; `plain` names their fields."""

    plain: ClassVar[tuple[str, ...]] = ()

    @view("BT-29", "BT-46", "BT-60", "BT-30", "BT-47", "BT-61", "BT-71")
    def plain_identifiers(self) -> Sequence[Identifier]:
        """The identifiers in `ram:ID`. All of their terms may have a scheme, unlike an invoice number."""
        found = [getattr(self, name) for name in self.plain]
        single = [(it, *it.more) for it in found if isinstance(it, Value)]
        return [it for several in (*single, *(it for it in found if isinstance(it, list))) for it in several]


class Party(Identified):
    """A party with identifiers; also the class of misplaced parties, such as an agent or a carrier."""

    plain = ("identifiers", "legal_identifier")
    identifiers: Sequence[Identifier] = terms("BT-29", "BT-46", "BT-60")
    global_identifiers: Sequence[Identifier] = terms("BT-29", "BT-46", "BT-60")
    legal_identifier: Identifier = term("BT-30", "BT-47", "BT-61")

    @view("BT-29", "BT-46", "BT-60")
    def all_identifiers(self) -> Sequence[Identifier]:
        """The identifiers with and without a scheme, which CII has in separate elements."""
        return [*self.identifiers, *self.global_identifiers]

    @property
    def is_creditor(self) -> bool:
        """Whether it is the seller or the payee, or inside one of them."""
        group: Group | None = self
        while group is not None and not isinstance(group, Seller | Payee):
            group = group.parent
        return group is not None

    @property
    def is_of_goods(self) -> bool:
        """Whether CII has it inside the item or the ship-to party."""
        above = () if self.node is None else self.node.iterancestors()
        return any(element.tag.endswith(("}SpecifiedTradeProduct", "}ShipToTradeParty")) for element in above)


class Addressee(Party):
    """A party with an electronic address; also the class of misplaced ones."""

    electronic_address: Identifier = term("BT-34", "BT-49")


class TradeParty(Addressee):
    """The seller or the buyer."""

    identifiers: Sequence[Identifier] = terms("BT-29", "BT-46")
    tax_registrations: Sequence[TaxRegistration] = terms("BT-31", "BT-48")
    address: Address = term("BG-5", "BG-8")

    @property
    def has_electronic_address(self) -> bool:
        """Whether the document has an element for the electronic address; in CII it may be empty."""
        return "electronic address" in self.tracked or self.electronic_address is not absent

    @property
    def has_legal_entity(self) -> bool:
        """Whether the document has the element PartyLegalEntity or SpecifiedLegalOrganization, which may be empty."""
        return self.legal_entities > 0

    @property
    def legal_entities(self) -> int:
        """Number of elements PartyLegalEntity or SpecifiedLegalOrganization in the document, which may be empty."""
        return len(self.tracked.get("legal entity", ())) or int(self.legal_identifier is not absent)

    @view()
    def first_electronic_address(self) -> Identifier:
        """The electronic address; in CII, that of the first such element."""
        elements = self.tracked.get("electronic address")
        return inside(elements[0], self.electronic_address) if elements else self.electronic_address

    @view()
    def country(self) -> str:
        """The country code of the address, as in the document; empty if there is none, or several."""
        return _only_country(self)

    @property
    def vat_country(self) -> str:
        """The country in which the Greek rules of Peppol assume the party: that of its VAT identifier or address."""
        return country_of([self], self.country)

    @view()
    def vat_identifiers(self) -> Sequence[Identifier]:
        """All VAT identifiers."""
        return _for_vat(self.tax_registrations)

    @view()
    def vat_identifier(self) -> Identifier:
        """The first VAT registration."""
        return _first_for_vat(self.tax_registrations)


@numbered("BG-4", first_electronic_address="BT-34", vat_identifiers="BT-31", vat_identifier="BT-31", country="BT-40")
class Seller(TradeParty):
    """BG-4: the seller.

    `global_identifiers` are the identifiers with a scheme, which have a separate element in CII. UBL has one
    list, in which the scheme `SEPA` marks the creditor identifier (BT-90).
    """

    name: Text = term("BT-27")
    trading_name: Text = term("BT-28")
    identifiers: Sequence[Identifier] = terms("BT-29")
    global_identifiers: Sequence[Identifier] = terms("BT-29")
    legal_identifier: Identifier = term("BT-30")
    tax_registrations: Sequence[SellerTaxRegistration] = terms("BT-31", "BT-32")
    legal_information: Text = term("BT-33")
    electronic_address: Identifier = term("BT-34")
    address: SellerAddress = term("BG-5")
    contact: SellerContact = term("BG-6")

    @view()
    def parties(self) -> Sequence[Seller]:
        """The seller once for each UBL party element; the XML schema allows at most one."""
        return [self] if self.node is None else split(self, self.tracked.get("party", ()))

    @view("BT-32")
    def tax_number(self) -> Identifier:
        """BT-32: the first registration for a tax other than VAT."""
        return first(r.identifier for r in self.tax_registrations if not r.is_vat)


@numbered("BG-7", first_electronic_address="BT-49", vat_identifiers="BT-48", vat_identifier="BT-48", country="BT-55")
class Buyer(TradeParty):
    """BG-7: the buyer."""

    name: Text = term("BT-44")
    trading_name: Text = term("BT-45")
    identifiers: Sequence[Identifier] = terms("BT-46")
    global_identifiers: Sequence[Identifier] = terms("BT-46")
    legal_identifier: Identifier = term("BT-47")
    tax_registrations: Sequence[BuyerTaxRegistration] = terms("BT-48")
    electronic_address: Identifier = term("BT-49")
    address: BuyerAddress = term("BG-8")
    contact: BuyerContact = term("BG-9")

    @view()
    def parties(self) -> Sequence[Buyer]:
        """The buyer once for each UBL party element; the XML schema allows at most one."""
        return [self] if self.node is None else split(self, self.tracked.get("party", ()))


class Payee(Party):
    """BG-10: the payee, if it is not the seller."""

    groups = ("BG-10",)
    name: Text = term("BT-59")
    identifiers: Sequence[Identifier] = terms("BT-60")
    global_identifiers: Sequence[Identifier] = terms("BT-60")
    legal_identifier: Identifier = term("BT-61")


class TaxRepresentative(Group):
    """BG-11: the seller's tax representative."""

    groups = ("BG-11",)
    name: Text = term("BT-62")
    tax_registrations: Sequence[TaxRepresentativeTaxRegistration] = terms("BT-63")
    address: TaxRepresentativeAddress = term("BG-12")

    @property
    def country(self) -> str:
        """The country code of the address, as in the document; empty if there is none, or several."""
        return _only_country(self)

    @view("BT-63")
    def vat_identifiers(self) -> Sequence[Identifier]:
        """BT-63: all VAT identifiers."""
        return _for_vat(self.tax_registrations)

    @view("BT-63")
    def vat_identifier(self) -> Identifier:
        """BT-63: the first VAT registration."""
        return _first_for_vat(self.tax_registrations)


class Location(Identified):
    """A delivery location; also the class of misplaced ones."""

    plain = ("location_identifier",)
    location_identifier: Identifier = term("BT-71")
    global_location_identifier: Identifier = term("BT-71")

    @view("BT-71")
    def all_identifiers(self) -> Sequence[Identifier]:
        """The identifier of the location, which CII has in one of two elements, with or without a scheme."""
        found: list[Any] = []
        for identifier in (self.location_identifier, self.global_location_identifier):
            if identifier is not absent:
                found += (identifier, *identifier.more)
        return found


class Delivery(Location):
    """BG-13: delivery information."""

    groups = ("BG-13",)
    party_name: Text = term("BT-70")
    location_identifier: Identifier = term("BT-71")
    global_location_identifier: Identifier = term("BT-71")
    date: Date = term("BT-72")
    address: DeliveryAddress = term("BG-15")

    @property
    def is_dated(self) -> bool:
        """Whether the document has an element for the date; in CII it may be empty."""
        return "date" in self.tracked or self.date is not absent

    @property
    def has_text(self) -> bool:
        """Whether the element in the document contains any text, also text without a business term."""
        return self.node is not None and normalize_space("".join(self.node.itertext())) != ""
