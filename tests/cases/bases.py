"""The valid documents that the generated cases edit, made by the generators of the tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from hypothesis import HealthCheck, Phase, given, seed, settings
from lxml import etree

from einvoice.model.values import Binary, Code, Identifier, absent
from einvoice.syntax.writer import write
from tests.helpers.full import XRECHNUNG, full_invoice
from tests.helpers.profile_documents import PROFILES, profile_document
from tests.helpers.strategies import plausible_invoices

from .edits import PARSER, serialize

_SEED: Final = 19
_PLAUSIBLE: Final = 2
_EN_16931: Final = PROFILES["en16931"]


class Base(NamedTuple):
    """A valid document.

    Attributes:
        name: of its file.
        folder: of its cases.
        kind: root element or Factur-X profile, which determines schema and stylesheet.
    """

    name: str
    folder: str
    kind: str
    document: bytes

    @property
    def is_full(self) -> bool:
        """Whether the document has most elements of its kind."""
        return "-plausible-" not in self.name


def bases() -> Iterator[Base]:
    """Yield all documents."""
    for number, invoice in enumerate((full_invoice(4), *_plausible()), 1):
        name = "full" if number == 1 else f"plausible-{number - 1}"
        yield _base(f"ubl-invoice-{name}", "ubl-invoice", "Invoice", _written(invoice, "Invoice", XRECHNUNG))
        credit_note = _written(invoice, "CreditNote", XRECHNUNG)
        yield _base(f"ubl-credit-note-{name}", "ubl-credit-note", "CreditNote", credit_note)
        cii = _written(invoice, "CrossIndustryInvoice", _EN_16931)
        yield _base(f"factur-x-en16931-{name}", "factur-x-en16931", "en16931", cii)
    for profile in PROFILES:
        yield _base(f"factur-x-{profile}-profile", f"factur-x-{profile}", profile, profile_document(profile))


def _base(name: str, folder: str, kind: str, document: bytes) -> Base:
    return Base(name, folder, kind, serialize(etree.fromstring(document, PARSER)))


def _written(invoice: Any, root: str, specification: str) -> bytes:
    invoice.specification = Identifier(specification)
    invoice.type_code = Code("381" if root == "CreditNote" else "380")
    if root == "CrossIndustryInvoice" and invoice.buyer.contact:
        invoice.buyer.contact.department = absent  # CII-SR-466 forbids it beside the name of the contact
    for document in invoice.documents:
        if document.attachment:
            document.attachment = Binary("YWJj", document.attachment.attributes)
    return write(invoice, root)


def _plausible() -> list[Any]:
    """Return drawn invoices; another version of Hypothesis may draw others."""
    drawn: list[Any] = []

    @seed(_SEED)
    @settings(
        max_examples=10 * _PLAUSIBLE, database=None, phases=[Phase.generate], deadline=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(plausible_invoices())
    def collect(invoice: Any) -> None:
        drawn.append(invoice)

    collect()
    return drawn[-_PLAUSIBLE:]
