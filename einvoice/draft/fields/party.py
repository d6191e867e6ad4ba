"""Who takes part: seller, buyer, payee, tax representative, and where the goods go."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from einvoice.codelists import codes
from einvoice.draft.fields.part import Part, term
from einvoice.draft.fields.types import Text, as_code, as_identifier, as_text
from einvoice.errors import DraftProblem
from einvoice.model import parties as model
from einvoice.model.values import Code, absent

_SCHEME_ABOUT: Final = (
    "Code of the scheme that the identifier comes from (ISO 6523), such as 0088 for GLN.",
    "Code des Schemas, aus dem die Kennung stammt (ISO 6523), etwa 0088 für GLN.",
)
_REGION_ABOUT: Final = ("State, province or region.", "Bundesland, Provinz oder Region.")
_COUNTRY_ABOUT: Final = ("Two letters, ISO 3166-1.", "Zwei Buchstaben, ISO 3166-1.")
_SUBMISSION_ABOUT: Final = (
    "Where the recipient takes invoices in: an e-mail address (scheme EM), a Peppol identifier or a Leitweg-ID (0204).",
    "Wo der Empfänger Rechnungen annimmt: E-Mail-Adresse (Schema EM), Peppol-Kennung oder Leitweg-ID (0204).",
)


class SellerContact(Part):
    """Whom to ask at the seller."""

    german = "Wer beim Verkäufer Fragen beantwortet."
    name: Text | None = term("BT-41", example="Erika Beispiel")
    telephone: Text | None = term("BT-42", example="+49 30 1234567")
    email: Text | None = term("BT-43", example="rechnung@handwerk.example")

    def build(self) -> model.SellerContact:
        """The contact of the invoice."""
        return model.SellerContact(
            name=as_text(self.name), telephone=as_text(self.telephone), email=as_text(self.email)
        )


class BuyerContact(Part):
    """Whom to ask at the buyer."""

    german = "Wer beim Käufer Fragen beantwortet."
    name: Text | None = term("BT-56", example="Max Muster")
    telephone: Text | None = term("BT-57", example="+49 40 7654321")
    email: Text | None = term("BT-58", example="einkauf@amt.example")

    def build(self) -> model.BuyerContact:
        """The contact of the invoice."""
        return model.BuyerContact(name=as_text(self.name), telephone=as_text(self.telephone), email=as_text(self.email))


class SellerIdentifier(Part):
    """An identifier of the seller."""

    german = "Eine Kennung des Verkäufers."
    id: Text = term("BT-29", example="L-4711", required=True)
    scheme: Text | None = term("BT-29-1", about=_SCHEME_ABOUT, example="0088")


class BuyerIdentifier(Part):
    """An identifier of the buyer."""

    german = "Eine Kennung des Käufers."
    id: Text = term("BT-46", example="K-1234", required=True)
    scheme: Text | None = term("BT-46-1", about=_SCHEME_ABOUT, example="0088")


class PayeeIdentifier(Part):
    """An identifier of the payee."""

    german = "Eine Kennung des Zahlungsempfängers."
    id: Text = term("BT-60", example="Z-42", required=True)
    scheme: Text | None = term("BT-60-1", about=_SCHEME_ABOUT, example="0088")


class SellerRegistration(Part):
    """The number of the seller in an official register."""

    german = "Die Nummer des Verkäufers in einem amtlichen Register."
    id: Text = term("BT-30", example="HRB 12345", required=True)
    scheme: Text | None = term("BT-30-1", about=_SCHEME_ABOUT, example="0060")


class BuyerRegistration(Part):
    """The number of the buyer in an official register."""

    german = "Die Nummer des Käufers in einem amtlichen Register."
    id: Text = term("BT-47", example="HRB 54321", required=True)
    scheme: Text | None = term("BT-47-1", about=_SCHEME_ABOUT, example="0060")


class PayeeRegistration(Part):
    """The number of the payee in an official register."""

    german = "Die Nummer des Zahlungsempfängers in einem amtlichen Register."
    id: Text = term("BT-61", example="HRB 777", required=True)
    scheme: Text | None = term("BT-61-1", about=_SCHEME_ABOUT, example="0060")


class SellerElectronicAddress(Part):
    """Where the seller can be reached electronically."""

    german = "Wo der Verkäufer elektronisch zu erreichen ist."
    id: Text = term("BT-34", example="rechnung@handwerk.example", required=True)
    scheme: Text | None = term("BT-34-1", about=("From the list EAS.", "Aus der Liste EAS."), example="EM")


class BuyerElectronicAddress(Part):
    """Where the buyer takes invoices in."""

    german = "Wo der Käufer Rechnungen annimmt."
    id: Text = term("BT-49", example="eingang@amt.example", required=True)
    scheme: Text | None = term("BT-49-1", about=("From the list EAS.", "Aus der Liste EAS."), example="EM")


class Seller(Part):
    """Who sells and asks for the money."""

    german = "Wer verkauft und die Rechnung stellt."
    name: Text = term("BT-27", example="Muster Handwerk GmbH", required=True)
    trading_name: Text | None = term("BT-28", example="Handwerk am Kanal")
    street: Text | None = term("BT-35", example="Werkstraße 1")
    additional_street: Text | None = term("BT-36", example="Hof 2")
    address_line_3: Text | None = term("BT-162", example="Aufgang B")
    postal_code: Text | None = term("BT-38", example="10115")
    city: Text | None = term("BT-37", example="Berlin")
    region: Text | None = term("BT-39", about=_REGION_ABOUT, example="Berlin")
    country_code: Text = term("BT-40", about=_COUNTRY_ABOUT, example="DE", required=True)
    tax_id: Text | None = term(
        "BT-31",
        "BT-32",
        title=("Seller VAT identifier or tax number", "Umsatzsteuer-ID oder Steuernummer des Verkäufers"),
        about=(
            "With a country prefix it is the VAT identifier (BT-31), else the tax number (BT-32).",
            "Mit Länderkürzel ist es die Umsatzsteuer-ID (BT-31), sonst die Steuernummer (BT-32).",
        ),
        example="DE123456789",
    )
    vat_id: Text | None = term(
        "BT-31", about=("Where tax_id is not used for it.", "Wenn nicht tax_id dafür dient."), example="DE123456789"
    )
    tax_number: Text | None = term(
        "BT-32", about=("Where tax_id is not used for it.", "Wenn nicht tax_id dafür dient."), example="29/123/45678"
    )
    identifiers: list[SellerIdentifier] | None = term("BT-29")
    legal_registration: SellerRegistration | None = term("BT-30")
    legal_information: Text | None = term("BT-33", example="Geschäftsführerin: Erika Beispiel")
    electronic_address: SellerElectronicAddress | None = term("BT-34")
    contact: SellerContact | None = term("BG-6")

    def problems(self) -> Iterator[DraftProblem]:
        """The same kind of number twice."""
        own = "vat_id" if _is_vat_identifier(self.tax_id) else "tax_number"
        if self.tax_id is not None and getattr(self, own) is not None:
            yield DraftProblem(
                f"/{own}",
                en=f"tax_id already is this number; give it once, in tax_id or in {own}.",
                de=f"tax_id ist schon diese Nummer; sie nur einmal angeben, in tax_id oder in {own}.",
            )

    def build(self) -> model.Seller:
        """The seller of the invoice."""
        vat_id = self.tax_id if _is_vat_identifier(self.tax_id) else self.vat_id
        tax_number = self.tax_number if _is_vat_identifier(self.tax_id) or self.tax_id is None else self.tax_id
        return model.Seller(
            name=as_text(self.name),
            trading_name=as_text(self.trading_name),
            identifiers=_identifiers(self.identifiers or ()),
            legal_identifier=_identifier(self.legal_registration),
            tax_registrations=[
                model.SellerTaxRegistration(identifier=as_identifier(number), scheme=Code(scheme))
                for number, scheme in ((vat_id, "VAT"), (tax_number, "FC"))
                if number is not None
            ],
            legal_information=as_text(self.legal_information),
            electronic_address=_identifier(self.electronic_address),
            address=_address(self, model.SellerAddress),
            contact=self.contact.build() if self.contact else absent,
        )


class Buyer(Part):
    """Who buys."""

    german = "Wer kauft."
    name: Text = term("BT-44", example="Amt für Beispiele", required=True)
    trading_name: Text | None = term("BT-45", example="Beispielamt")
    street: Text | None = term("BT-50", example="Am Markt 2")
    additional_street: Text | None = term("BT-51", example="Rathaus")
    address_line_3: Text | None = term("BT-163", example="Zimmer 12")
    postal_code: Text | None = term("BT-53", example="20095")
    city: Text | None = term("BT-52", example="Hamburg")
    region: Text | None = term("BT-54", about=_REGION_ABOUT, example="Hamburg")
    country_code: Text = term("BT-55", about=_COUNTRY_ABOUT, example="DE", required=True)
    vat_id: Text | None = term("BT-48", example="DE987654321")
    identifier: BuyerIdentifier | None = term("BT-46")
    legal_registration: BuyerRegistration | None = term("BT-47")
    electronic_address: BuyerElectronicAddress | None = term("BT-49", about=_SUBMISSION_ABOUT)
    contact: BuyerContact | None = term("BG-9")

    def build(self) -> model.Buyer:
        """The buyer of the invoice."""
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


class PayeeParty(Part):
    """Who gets the money, where it is not the seller."""

    german = "Wer das Geld bekommt, wenn nicht der Verkäufer."
    name: Text | None = term("BT-59", example="Factoring Bank AG")
    identifier: PayeeIdentifier | None = term("BT-60")
    legal_registration: PayeeRegistration | None = term("BT-61")

    def build(self) -> model.Payee:
        """The payee of the invoice."""
        return model.Payee(
            name=as_text(self.name),
            identifiers=_identifiers([self.identifier]),
            legal_identifier=_identifier(self.legal_registration),
        )


class TaxRepresentative(Part):
    """Who answers to the tax office for the seller."""

    german = "Wer den Verkäufer gegenüber dem Finanzamt vertritt."
    name: Text | None = term("BT-62", example="Steuervertretung GmbH")
    vat_id: Text | None = term("BT-63", example="DE192837465")
    street: Text | None = term("BT-64", example="Steuerweg 3")
    additional_street: Text | None = term("BT-65", example="2. Etage")
    address_line_3: Text | None = term("BT-164", example="Tür 4")
    postal_code: Text | None = term("BT-67", example="50667")
    city: Text | None = term("BT-66", example="Köln")
    region: Text | None = term("BT-68", about=_REGION_ABOUT, example="Nordrhein-Westfalen")
    country_code: Text | None = term("BT-69", about=_COUNTRY_ABOUT, example="DE")

    def build(self) -> model.TaxRepresentative:
        """The tax representative of the invoice."""
        registration = model.TaxRepresentativeTaxRegistration(identifier=as_identifier(self.vat_id), scheme=Code("VAT"))
        return model.TaxRepresentative(
            name=as_text(self.name),
            tax_registrations=[registration] if self.vat_id is not None else [],
            address=_address(self, model.TaxRepresentativeAddress),
        )


class LocationIdentifier(Part):
    """The identifier of a place that goods are delivered to."""

    german = "Die Kennung eines Ortes, an den geliefert wird."
    id: Text = term("BT-71", example="4012345000009", required=True)
    scheme: Text | None = term("BT-71-1", about=_SCHEME_ABOUT, example="0088")


class Delivery(Part):
    """Where the goods or services go; the day is `service_date`."""

    german = "Wohin geliefert wird; der Tag steht in service_date."
    name: Text | None = term("BT-70", example="Bauhof Süd")
    location: LocationIdentifier | None = term("BT-71")
    street: Text | None = term("BT-75", example="Lagerstraße 9")
    additional_street: Text | None = term("BT-76", example="Tor 3")
    address_line_3: Text | None = term("BT-165", example="Rampe 1")
    postal_code: Text | None = term("BT-78", example="21107")
    city: Text | None = term("BT-77", example="Hamburg")
    region: Text | None = term("BT-79", about=_REGION_ABOUT, example="Hamburg")
    country_code: Text | None = term("BT-80", about=_COUNTRY_ABOUT, example="DE")

    def build(self) -> model.Delivery:
        """The delivery of the invoice, without its day."""
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


def _identifier(given: Any) -> Any:
    return absent if given is None else as_identifier(given.id, schemeID=given.scheme)


def _identifiers(given: Sequence[Any]) -> list[Any]:
    return [_identifier(identifier) for identifier in given if identifier is not None]


_PREFIXED: Final = re.compile(r"([A-Z]{2})([0-9A-Z+*]{2,13})")


def _is_vat_identifier(number: str | None) -> bool:
    """Whether a number is made as VAT identifiers are: a country, then mostly digits.

    Greece is EL (Directive 2006/112/EC, 215). Blanks, points and hyphens do not matter.
    """
    found = _PREFIXED.fullmatch(re.sub(r"[\s.-]", "", number).upper()) if number else None
    return bool(found and found[1] in _countries() and 2 * sum(map(str.isdigit, found[2])) >= len(found[2]))


@functools.cache
def _countries() -> frozenset[str]:
    return codes("countries") | {"EL"}
