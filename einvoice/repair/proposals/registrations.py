"""Corrects the type of tax of a registration number: the code of VAT, which each syntax writes in its own way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from einvoice import codelists
from einvoice.causes.applicability import QUESTION, SAFE
from einvoice.editing.edits import SetAttribute
from einvoice.model.group import terms_of
from einvoice.model.parties import SellerTaxRegistration, TaxRegistration
from einvoice.model.values import absent
from einvoice.repair.case import Case
from einvoice.repair.proposal import Proposal

_VAT: Final[Mapping[str, str]] = {"UBL": "VAT", "CII": "VA"}
"""The code of VAT by syntax: TaxScheme/ID in UBL (UNCL5153), schemeID in CII (UNTDID 1153)."""
_TAX_NUMBER: Final[Mapping[str, str]] = {"CII": "FC"}
"""The only code of another number; UBL has none, there every other code than VAT says that it is BT-32."""
_SELLER_NUMBER: Final = "BT-32"
_VAT_NUMBER: Final = re.compile(r"(?P<country>[A-Z]{2})(?=[A-Z0-9]*[0-9])[A-Z0-9+*]{2,13}", re.ASCII)
"""Form of a VAT identifier: ISO 3166-1 alpha-2, then at most 13 characters; Greece has the prefix EL."""
_GREECE: Final = "EL"


def proposals(case: Case) -> Iterator[Proposal]:
    """Yield a proposal for each VAT identifier whose type is not the code of VAT in the syntax.

    The number must have the form of a VAT identifier: a tax number may be meant otherwise.
    """
    for group in case.groups.values():
        if not isinstance(group, TaxRegistration) or not _is_vat_number(case, group) or group.is_vat:
            continue
        given = group.scheme.raw.strip() if group.scheme is not absent else ""
        is_spelled = given.upper() in _VAT.values()
        is_unknown = case.syntax in _TAX_NUMBER and given != _TAX_NUMBER[case.syntax]
        if not is_spelled and not is_unknown:
            continue
        code = _VAT[case.syntax]
        edit = case.give(group, "scheme", code)
        if edit is not None:
            # In UBL, the type is an element of its own, and no term.
            terms = terms_of(type(group), "identifier")[:1] if isinstance(edit, SetAttribute) else ()
            turned = (_SELLER_NUMBER,) if isinstance(group, SellerTaxRegistration) else ()
            yield Proposal((edit,), SAFE if is_spelled else QUESTION, terms, turned=turned)


def _is_vat_number(case: Case, group: TaxRegistration) -> bool:
    if group.identifier is absent:
        return False
    found = _VAT_NUMBER.fullmatch(group.identifier.text.strip())
    countries = codelists.codes("countries", None, case.syntax, case.rules) if found else ()
    return found is not None and (found["country"] == _GREECE or found["country"] in countries)
