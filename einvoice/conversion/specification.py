"""The specification that a converted invoice declares (BT-24)."""

from __future__ import annotations

from typing import Final

from einvoice.errors import UnknownSpecification
from einvoice.facturx.profile import BASIC_WL, EN16931, MINIMUM, Profile, declared_profile
from einvoice.model.invoice import Invoice
from einvoice.model.values import normalize_space
from einvoice.syntax.specifications import Specification, Syntax, declared_specification, identifier_of, specifications

#: Profiles of Factur-X that are no invoices: they lack the invoice lines, and terms that EN 16931 requires.
NO_INVOICES: Final = (MINIMUM, BASIC_WL)
_OF_FACTURX: Final = ("factur-x", "zugferd", "ferd")


def facturx_profile(invoice: Invoice) -> Profile | None:
    """Return the profile of Factur-X that a CII invoice declares, also in an older spelling; None if it declares none.

    EN 16931 itself, which is also a profile, and XRechnung are none here: they are the same in UBL.
    """
    declared = _identifier(invoice).lower()
    if invoice.syntax != "CII" or not any(name in declared for name in _OF_FACTURX):
        return None
    return declared_profile(declared)


def _identifier(invoice: Invoice) -> str:
    return normalize_space(invoice.specification.raw or "")


def target_specification(invoice: Invoice, target: Syntax, wanted: str | None) -> str | None:
    """Return the identifier that a converted invoice declares; None if it stays as it is.

    Args:
        invoice: the source.
        target: the syntax of the result.
        wanted: an identifier, or the name of a specification as in drafts, such as "XRECHNUNG"; None for the default.

    Raises:
        UnknownSpecification: `wanted` is no such name and no identifier, or is not defined for the syntax.
    """
    if wanted is None:
        return EN16931.specification if target == "UBL" and facturx_profile(invoice) else None
    return wanted if ":" in wanted and wanted.isprintable() else _named(wanted, target)


def _named(name: str, target: Syntax) -> str:
    usable = [it for it in specifications().values() if it.draft_profile and target in it.syntaxes]
    known = {it.draft_profile: identifier_of(it) for it in usable}
    if name.upper() not in known:
        raise UnknownSpecification(name, sorted(known))
    return known[name.upper()]


def specification_of(invoice: Invoice, target: Syntax, identifier: str | None) -> Specification:
    """Return the specification of a converted invoice; `identifier` is that of `target_specification`."""
    return declared_specification(target, identifier or _identifier(invoice) or None)
