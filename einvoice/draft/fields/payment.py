"""How the money is to be paid: to which account, by which card, or by direct debit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from einvoice.draft.fields.part import Part, term
from einvoice.draft.fields.types import Text, as_code, as_identifier, as_text
from einvoice.errors import DraftProblem
from einvoice.model import money as model
from einvoice.model.values import absent

_IBAN_ABOUT = (
    "An IBAN; or the number of an account that has none.",
    "Eine IBAN; oder die Nummer eines Kontos, das keine hat.",
)
_BIC_ABOUT = ("The bank's BIC.", "")


class Account(Part):
    """An account that can be paid to."""

    german = "Ein Konto, auf das gezahlt werden kann."
    iban: Text = term("BT-84", about=_IBAN_ABOUT, example="DE02120300000000202051", required=True)
    account_name: Text | None = term("BT-85", example="Muster Handwerk GmbH")
    bic: Text | None = term("BT-86", about=_BIC_ABOUT, example="BYLADEM1001")


class Card(Part):
    """The card that was used to pay."""

    german = "Die Karte, mit der gezahlt wurde."
    number: Text = term(
        "BT-87", about=("Only its last digits.", "Nur die letzten Ziffern."), example="4242", required=True
    )
    holder: Text | None = term("BT-88", example="Max Muster")


class DirectDebit(Part):
    """What the seller needs to collect the money."""

    german = "Was der Verkäufer braucht, um das Geld einzuziehen."
    mandate_reference: Text | None = term("BT-89", example="M-2026-17")
    creditor_id: Text | None = term("BT-90", example="DE98ZZZ09999999999")
    debited_iban: Text | None = term("BT-91", example="DE75512108001245126199")


class Payment(Part):
    """How the money is to be paid."""

    german = "Wie gezahlt werden soll."
    payment_means_code: Text | None = term(
        "BT-81",
        about=(
            "From UNTDID 4461; 58 is a SEPA transfer, 59 a SEPA direct debit.",
            "Aus UNTDID 4461; 58 ist eine SEPA-Überweisung, 59 eine SEPA-Lastschrift.",
        ),
        example="58",
    )
    payment_means_text: Text | None = term("BT-82", example="SEPA-Überweisung")
    payment_reference: Text | None = term("BT-83", example="R-2026-0001")
    iban: Text | None = term("BT-84", "BG-17", about=_IBAN_ABOUT, example="DE02120300000000202051")
    account_name: Text | None = term("BT-85", example="Muster Handwerk GmbH")
    bic: Text | None = term("BT-86", about=_BIC_ABOUT, example="BYLADEM1001")
    accounts: list[Account] | None = term(
        "BG-17",
        about=(
            "Where there are several; then none beside them in iban.",
            "Wenn es mehrere gibt; daneben steht dann keines in iban.",
        ),
    )
    card: Card | None = term("BG-18")
    direct_debit: DirectDebit | None = term("BG-19")

    def problems(self) -> Iterator[DraftProblem]:
        """Accounts at two places; a mandate without what CII and UBL hang it on is for the rules to tell."""
        for field in ("iban", "account_name", "bic"):
            if self.accounts and getattr(self, field) is not None:
                yield DraftProblem(
                    f"/{field}",
                    en="With accounts, all accounts belong there; leave this field out.",
                    de="Neben accounts entfällt dieses Feld; alle Konten gehören dorthin.",
                )

    def build(self) -> list[model.PaymentMeans]:
        """The payment means of the invoice: one for each account; what there is once stands in the first."""
        transfers = [_transfer(it) for it in self.accounts or (self,)]
        means = [
            model.PaymentMeans(
                code=as_code(self.payment_means_code),
                credit_transfer=transfer,
                service_provider=provider,
            )
            for transfer, provider in transfers
        ]
        means[0].description = as_text(self.payment_means_text)
        if self.card:
            means[0].card = model.PaymentCard(number=as_text(self.card.number), holder=as_text(self.card.holder))
        debit = self.direct_debit
        if debit and (debit.mandate_reference or debit.debited_iban):
            means[0].direct_debit = model.DirectDebit(
                mandate_reference=as_identifier(debit.mandate_reference),
                debited_account=as_identifier(debit.debited_iban),
            )
        return means


def _transfer(given: Account | Payment) -> tuple[Any, Any]:
    """The account, and its bank."""
    identifier, name = as_identifier(given.iban), as_text(given.account_name)
    there = identifier is not absent or name is not absent
    transfer = model.CreditTransfer(identifier=identifier, name=name) if there else absent
    return transfer, as_identifier(given.bic)
