"""The payment instructions of the draft: accounts, card, direct debit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from einvoice.draft.fields.base import DraftModel, draft_field
from einvoice.draft.fields.types import Money, Text, as_amount, as_code, as_identifier, as_text
from einvoice.errors import DraftProblem
from einvoice.model import money as model
from einvoice.model.values import absent


class Account(DraftModel):
    """A bank account for payments."""

    iban: Text = draft_field("BT-84", hint="iban", example="DE02120300000000202051", required=True)
    account_name: Text | None = draft_field("BT-85", example="Muster Handwerk GmbH")
    bic: Text | None = draft_field("BT-86", hint="bic", example="BYLADEM1001")


class Card(DraftModel):
    """The card used for payment."""

    number: Text = draft_field("BT-87", hint="Card.number", example="4242", required=True)
    holder: Text | None = draft_field("BT-88", example="Max Muster")


class DirectDebit(DraftModel):
    """Direct debit: mandate, creditor and debited account."""

    mandate_reference: Text | None = draft_field("BT-89", example="M-2026-17")
    creditor_id: Text | None = draft_field("BT-90", example="DE98ZZZ09999999999")
    debited_iban: Text | None = draft_field("BT-91", example="DE75512108001245126199")


class ThirdPartyPayment(DraftModel):
    """An amount collected for a third party, such as a toll (XRechnung Extension); it is part of the amount due."""

    type: Text = draft_field("BT-DEX-001", example="Maut", required=True)
    amount: Money = draft_field("BT-DEX-002", example="12.50", required=True)
    description: Text = draft_field("BT-DEX-003", example="Maut vom 18. November", required=True)

    def build(self, currency: str) -> model.ThirdPartyPayment:
        """Return the payment of the invoice."""
        return model.ThirdPartyPayment(
            type=as_text(self.type), amount=as_amount(self.amount, currency), description=as_text(self.description)
        )


class Payment(DraftModel):
    """The payment instructions."""

    payment_means_code: Text | None = draft_field(
        "BT-81",
        hint="Payment.payment_means_code",
        example="58",
    )
    payment_means_text: Text | None = draft_field("BT-82", example="SEPA-Überweisung")
    payment_reference: Text | None = draft_field("BT-83", example="R-2026-0001")
    iban: Text | None = draft_field("BT-84", "BG-17", hint="iban", example="DE02120300000000202051")
    account_name: Text | None = draft_field("BT-85", example="Muster Handwerk GmbH")
    bic: Text | None = draft_field("BT-86", hint="bic", example="BYLADEM1001")
    accounts: list[Account] | None = draft_field(
        "BG-17",
        hint="Payment.accounts",
    )
    card: Card | None = draft_field("BG-18")
    direct_debit: DirectDebit | None = draft_field("BG-19")

    def problems(self) -> Iterator[DraftProblem]:
        """Yield an error for each account field used together with accounts."""
        for field in ("iban", "account_name", "bic"):
            if self.accounts and getattr(self, field) is not None:
                yield DraftProblem(f"/{field}", "beside_accounts")

    def build(self) -> list[model.PaymentMeans]:
        """Return one payment means per account; the first one also has the data that occurs only once."""
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
    """Return the account and its bank."""
    identifier, name = as_identifier(given.iban), as_text(given.account_name)
    has_account = identifier is not absent or name is not absent
    transfer = model.CreditTransfer(identifier=identifier, name=name) if has_account else absent
    return transfer, as_identifier(given.bic)
