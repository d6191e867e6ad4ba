"""Findings about content that occurs more often than the standard or the official Schematron expects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from einvoice.model.location import line, name
from einvoice.model.terms import term
from einvoice.model.values import normalize_space
from einvoice.quotation import quote
from einvoice.rulebook.syntax_rules.stops import CODE, NUMERIC

if TYPE_CHECKING:
    from collections.abc import Sequence

    from einvoice.model.invoice import Invoice
    from einvoice.model.values import Identifier
    from einvoice.result import Finding
    from einvoice.rulebook.syntax_rules.collector import SyntaxViolation
    from einvoice.validation.findings import FindingBuilder

STOPPED: Final = CODE
_MAX_LENGTH: Final = 80
"""Maximum number of characters of a quoted value: titles quote two."""
REPEATED: Final = "TERM-REPEATED"
_TEXT: Final = "Text"
"""Datatype of terms of which several can be combined into one."""


def stopped(build: FindingBuilder, violation: SyntaxViolation, layer: str) -> Finding:
    """Return the error about content at which the official Schematron stops, at the second occurrence."""
    first, element = violation.found[0], violation.element
    terms = build.terms_at(element) or build.terms_at(first)
    values = _values(build, first, element) | {"rule": violation.rule.argument}
    if violation.rule.check == NUMERIC:
        values |= {"number": True}
    elif first is element:
        values |= {"divided": True}
    elif terms and term(terms[0]).cardinality.endswith("n"):
        values |= {"allowed": True}
    else:
        is_text = bool(terms) and term(terms[0]).datatype == _TEXT
        values |= {"term": terms[0], **({} if is_text else {"single": True})} if terms else {"second": values["second"]}
    return build.of_entry(STOPPED, layer, element, values, terms)


def surplus(invoice: Invoice) -> list[tuple[Identifier, Identifier]]:
    """Return the first and each further identifier of a party for a term that the standard allows once.

    The model has the tax registrations and identifiers of a party in lists, since rules read all of them, so that
    `invoice.repeated` lacks them. A payee may also have the creditor identifier (BT-90), with the scheme `SEPA`.
    """
    seller, buyer, payee, representative = invoice.seller, invoice.buyer, invoice.payee, invoice.tax_representative
    of_terms: list[Sequence[Identifier]] = []
    if len(seller.tax_registrations) > 1:
        of_terms.append(seller.vat_identifiers)  # BT-31
        of_terms.append([it.identifier for it in seller.tax_registrations if not it.is_vat])  # BT-32
    if len(buyer.tax_registrations) > 1:
        of_terms.append(buyer.vat_identifiers)  # BT-48
    if buyer.identifiers or buyer.global_identifiers:
        of_terms.append(buyer.all_identifiers)  # BT-46
    if payee:
        of_terms.append([it for it in payee.all_identifiers if str(it.scheme or "").upper() != "SEPA"])  # BT-60
    if representative:
        of_terms.append(representative.vat_identifiers)  # BT-63
    given = [[it for it in identifiers if it] for identifiers in of_terms]
    return [(identifiers[0], further) for identifiers in given for further in identifiers[1:]]


def repeated(build: FindingBuilder, first: Any, further: Any) -> Finding:
    """Return the information about a further occurrence of a term or group that the standard allows once."""
    values, terms = _values(build, first.node, further.node), build.terms_at(further.node)
    return build.of_entry(REPEATED, "file", further.node, {**values, **({"term": terms[0]} if terms else {})}, terms)


def _values(build: FindingBuilder, first: Any, second: Any) -> dict[str, object]:
    return {
        "element": name(second.tag),
        "parent": name(second.getparent().tag),
        "first": _content(build, first),
        "first_line": line(first),
        "second": _content(build, second),
        "second_line": line(second),
    }


def _content(build: FindingBuilder, element: Any) -> str:
    """Return the text of an element, or of all elements in a group.

    Of a group that stands for a term, only the elements of that term count: payment terms (BT-20) in CII also have
    the due date (BT-9).
    """
    number = build.terms_at(element)[:1] if len(element) else ()
    own = [it for it in element.iterdescendants() if not len(it) and build.terms_at(it)[:1] == number] if number else []
    texts = (text for it in own or [element] for text in it.itertext())
    return quote(normalize_space((" " if len(element) else "").join(texts)), limit=_MAX_LENGTH)
