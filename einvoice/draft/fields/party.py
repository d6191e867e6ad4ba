"""The parties of the draft: seller, buyer, payee, tax representative, and the delivery address."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from einvoice.codelists import codes
from einvoice.draft.fields.base import DraftModel, draft_field
from einvoice.draft.fields.identifier import SchemedIdentifier
from einvoice.draft.fields.types import Text, as_code, as_identifier, as_text
from einvoice.errors import DraftProblem
from einvoice.model import parties as model
from einvoice.model.values import Code, absent


class SellerContact(DraftModel):
    """The contact of the seller."""

    name: Text | None = draft_field("BT-41", example="Erika Beispiel")
    telephone: Text | None = draft_field("BT-42", example="+49 30 1234567")
    email: Text | None = draft_field("BT-43", example="rechnung@handwerk.example")

    def build(self) -> model.SellerContact:
        """Return the contact of the invoice."""
        return model.SellerContact(
            name=as_text(self.name), telephone=as_text(self.telephone), email=as_text(self.email)
        )


class BuyerContact(DraftModel):
    """The contact of the buyer."""

    name: Text | None = draft_field("BT-56", example="Max Muster")
    telephone: Text | None = draft_field("BT-57", example="+49 40 7654321")
    email: Text | None = draft_field("BT-58", example="einkauf@amt.example")

    def build(self) -> model.BuyerContact:
        """Return the contact of the invoice."""
        return model.BuyerContact(name=as_text(self.name), telephone=as_text(self.telephone), email=as_text(self.email))


class SellerIdentifier(SchemedIdentifier, term="BT-29", example="L-4711"):
    """An identifier of the seller."""


class BuyerIdentifier(SchemedIdentifier, term="BT-46", example="K-1234"):
    """An identifier of the buyer."""


class PayeeIdentifier(SchemedIdentifier, term="BT-60", example="Z-42"):
    """An identifier of the payee."""


class SellerRegistration(SchemedIdentifier, term="BT-30", example="HRB 12345", scheme="0060"):
    """The registration of the seller in an official register."""


class BuyerRegistration(SchemedIdentifier, term="BT-47", example="HRB 54321", scheme="0060"):
    """The registration of the buyer in an official register."""


class PayeeRegistration(SchemedIdentifier, term="BT-61", example="HRB 777", scheme="0060"):
    """The registration of the payee in an official register."""


class SellerElectronicAddress(
    SchemedIdentifier,
    term="BT-34",
    example="rechnung@handwerk.example",
    scheme="EM",
    hint="SellerElectronicAddress.scheme",
):
    """The electronic address of the seller."""


class BuyerElectronicAddress(
    SchemedIdentifier, term="BT-49", example="eingang@amt.example", scheme="EM", hint="BuyerElectronicAddress.scheme"
):
    """The electronic address of the buyer, to which the invoice is sent."""


class Seller(DraftModel):
    """The seller."""

    name: Text = draft_field("BT-27", example="Muster Handwerk GmbH", required=True)
    trading_name: Text | None = draft_field("BT-28", example="Handwerk am Kanal")
    street: Text | None = draft_field("BT-35", example="Werkstraße 1")
    additional_street: Text | None = draft_field("BT-36", example="Hof 2")
    address_line_3: Text | None = draft_field("BT-162", example="Aufgang B")
    postal_code: Text | None = draft_field("BT-38", example="10115")
    city: Text | None = draft_field("BT-37", example="Berlin")
    region: Text | None = draft_field("BT-39", hint="region", example="Berlin")
    country_code: Text = draft_field("BT-40", hint="country", example="DE", required=True)
    tax_id: Text | None = draft_field(
        "BT-31",
        "BT-32",
        title="Seller.tax_id",
        hint="Seller.tax_id",
        example="DE123456789",
    )
    vat_id: Text | None = draft_field("BT-31", hint="Seller.vat_id", example="DE123456789")
    tax_number: Text | None = draft_field("BT-32", hint="Seller.tax_number", example="29/123/45678")
    identifiers: list[SellerIdentifier] | None = draft_field("BT-29")
    legal_registration: SellerRegistration | None = draft_field("BT-30")
    legal_information: Text | None = draft_field("BT-33", example="Geschäftsführerin: Erika Beispiel")
    electronic_address: SellerElectronicAddress | None = draft_field("BT-34")
    contact: SellerContact | None = draft_field("BG-6")

    def problems(self) -> Iterator[DraftProblem]:
        """Yield an error if tax_id and vat_id or tax_number give the same number."""
        field = "vat_id" if _is_vat_identifier(self.tax_id) else "tax_number"
        if self.tax_id is not None and getattr(self, field) is not None:
            yield DraftProblem(f"/{field}", "tax_number_twice", {"field": field})

    def build(self, tax_scheme: str) -> model.Seller:
        """Return the seller of the invoice; `tax_scheme` is the scheme of the tax number."""
        vat_id = self.tax_id if _is_vat_identifier(self.tax_id) else self.vat_id
        tax_number = self.tax_number if _is_vat_identifier(self.tax_id) or self.tax_id is None else self.tax_id
        return model.Seller(
            name=as_text(self.name),
            trading_name=as_text(self.trading_name),
            identifiers=_identifiers(self.identifiers or ()),
            legal_identifier=_identifier(self.legal_registration),
            tax_registrations=[
                model.SellerTaxRegistration(identifier=as_identifier(number), scheme=Code(scheme))
                for number, scheme in ((vat_id, "VAT"), (tax_number, tax_scheme))
                if number is not None
            ],
            legal_information=as_text(self.legal_information),
            electronic_address=_identifier(self.electronic_address),
            address=_address(self, model.SellerAddress),
            contact=self.contact.build() if self.contact else absent,
        )


class Buyer(DraftModel):
    """The buyer."""

    name: Text = draft_field("BT-44", example="Amt für Beispiele", required=True)
    trading_name: Text | None = draft_field("BT-45", example="Beispielamt")
    street: Text | None = draft_field("BT-50", example="Am Markt 2")
    additional_street: Text | None = draft_field("BT-51", example="Rathaus")
    address_line_3: Text | None = draft_field("BT-163", example="Zimmer 12")
    postal_code: Text | None = draft_field("BT-53", example="20095")
    city: Text | None = draft_field("BT-52", example="Hamburg")
    region: Text | None = draft_field("BT-54", hint="region", example="Hamburg")
    country_code: Text = draft_field("BT-55", hint="country", example="DE", required=True)
    vat_id: Text | None = draft_field("BT-48", example="DE987654321")
    identifier: BuyerIdentifier | None = draft_field("BT-46")
    legal_registration: BuyerRegistration | None = draft_field("BT-47")
    electronic_address: BuyerElectronicAddress | None = draft_field("BT-49", hint="submission")
    contact: BuyerContact | None = draft_field("BG-9")

    def build(self) -> model.Buyer:
        """Return the buyer of the invoice."""
        registration = model.BuyerTaxRegistration(identifier=as_identifier(self.vat_id), scheme=Code("VAT"))
        return model.Buyer(
            name=as_text(self.name),
            trading_name=as_text(self.trading_name),
            identifiers=_identifiers([self.identifier]),
            legal_identifier=_identifier(self.legal_registration),
            tax_registrations=[registration] if self.vat_id is not None else [],
            electronic_address=_identifier(self.electronic_address),
            address=_address(self, model.BuyerAddress),
            contact=self.contact.build() if self.contact else absent,
        )


class PayeeParty(DraftModel):
    """The payee, if different from the seller."""

    name: Text | None = draft_field("BT-59", example="Factoring Bank AG")
    identifier: PayeeIdentifier | None = draft_field("BT-60")
    legal_registration: PayeeRegistration | None = draft_field("BT-61")

    def build(self) -> model.Payee:
        """Return the payee of the invoice."""
        return model.Payee(
            name=as_text(self.name),
            identifiers=_identifiers([self.identifier]),
            legal_identifier=_identifier(self.legal_registration),
        )


class TaxRepresentative(DraftModel):
    """The tax representative of the seller."""

    name: Text | None = draft_field("BT-62", example="Steuervertretung GmbH")
    vat_id: Text | None = draft_field("BT-63", example="DE192837463")
    street: Text | None = draft_field("BT-64", example="Steuerweg 3")
    additional_street: Text | None = draft_field("BT-65", example="2. Etage")
    address_line_3: Text | None = draft_field("BT-164", example="Tür 4")
    postal_code: Text | None = draft_field("BT-67", example="50667")
    city: Text | None = draft_field("BT-66", example="Köln")
    region: Text | None = draft_field("BT-68", hint="region", example="Nordrhein-Westfalen")
    country_code: Text | None = draft_field("BT-69", hint="country", example="DE")

    def build(self) -> model.TaxRepresentative:
        """Return the tax representative of the invoice."""
        registration = model.TaxRepresentativeTaxRegistration(identifier=as_identifier(self.vat_id), scheme=Code("VAT"))
        return model.TaxRepresentative(
            name=as_text(self.name),
            tax_registrations=[registration] if self.vat_id is not None else [],
            address=_address(self, model.TaxRepresentativeAddress),
        )


class LocationIdentifier(SchemedIdentifier, term="BT-71", example="4012345000009"):
    """The identifier of the delivery location."""


class Delivery(DraftModel):
    """The delivery location; the delivery date is `service_date`."""

    name: Text | None = draft_field("BT-70", example="Bauhof Süd")
    location: LocationIdentifier | None = draft_field("BT-71")
    street: Text | None = draft_field("BT-75", example="Lagerstraße 9")
    additional_street: Text | None = draft_field("BT-76", example="Tor 3")
    address_line_3: Text | None = draft_field("BT-165", example="Rampe 1")
    postal_code: Text | None = draft_field("BT-78", example="21107")
    city: Text | None = draft_field("BT-77", example="Hamburg")
    region: Text | None = draft_field("BT-79", hint="region", example="Hamburg")
    country_code: Text | None = draft_field("BT-80", hint="country", example="DE")

    def build(self) -> model.Delivery:
        """Return the delivery of the invoice, without its date."""
        return model.Delivery(
            party_name=as_text(self.name),
            location_identifier=_identifier(self.location),
            address=_address(self, model.DeliveryAddress),
        )


_ADDRESS: Final = {
    "line_1": "street",
    "line_2": "additional_street",
    "line_3": "address_line_3",
    "city": "city",
    "postal_code": "postal_code",
    "subdivision": "region",
}


def _address(party: Any, cls: type[model.Address]) -> Any:
    content = {name: as_text(getattr(party, field)) for name, field in _ADDRESS.items()}
    content["country_code"] = as_code(party.country_code)
    given = any(value is not absent for value in content.values())
    return cls(**content) if given else absent


def _identifier(given: SchemedIdentifier | None) -> Any:
    return absent if given is None else given.build()


def _identifiers(given: Sequence[SchemedIdentifier | None]) -> list[Any]:
    return [identifier.build() for identifier in given if identifier is not None]


_VAT_IDENTIFIER: Final = re.compile(r"([A-Z]{2})([0-9A-Z+*]{2,13})")


def _is_vat_identifier(number: str | None) -> bool:
    """Whether a number has the form of a VAT identifier: a country code, then mostly digits.

    The code of Greece is EL (Directive 2006/112/EC, article 215). Spaces, dots and hyphens are ignored.
    """
    match = _VAT_IDENTIFIER.fullmatch(re.sub(r"[\s.-]", "", number).upper()) if number else None
    return bool(match and match[1] in _countries() and 2 * sum(map(str.isdigit, match[2])) >= len(match[2]))


@functools.cache
def _countries() -> frozenset[str]:
    return codes("countries") | {"EL"}
