"""Labels of the invoice page, and names of codes.

The message files have short labels in the table `invoice`, by business term or by a key of this program; the label of
any other term is its name in EN 16931. Each code list is a table with the codes that are used in practice; the names of
invoice types, which rules use too, are in the message files of the model. `code_text` puts a code into words.
"""

from __future__ import annotations

import functools
from typing import Final

from einvoice import codelists
from einvoice.localization import Language, Messages
from einvoice.model import terms

_PACKAGE: Final = "einvoice.visualization"
_MODEL: Final = "einvoice.model"
_LABELS: Final = Messages(_PACKAGE, "invoice")
_FIELDS: Final = Messages(_PACKAGE, "fields")
#: Code lists whose codes are shown with their names: readers look them up, or cite them.
_WITH_CODE: Final = (
    "business_processes",
    "delivery_terms",
    "document_types",
    "exemption_reasons",
    "line_actions",
    "party_roles",
    "reference_types",
    "text_blocks",
    "transport_modes",
)
#: The lists that tables have only the common codes of, and the code list with all of them, if there is one. A code
#: without a name is shown with the name of its list.
_LISTS: Final = {
    "charge_reasons": ("UNTDID 7161", "charge_reasons"),
    "document_types": ("UNTDID 1001", ""),
    "languages": ("ISO 639", "languages"),
    "line_actions": ("UNTDID 1229", "line_statuses"),
    "note_subjects": ("UNTDID 4451", "note_subjects"),
    "party_roles": ("UNTDID 3035", ""),
    "payment_means": ("UNTDID 4461", "payment_means"),
    "reference_types": ("UNTDID 1153", "reference_types"),
}
#: A table whose names complete another one.
_FURTHER: Final = {"document_types": "invoice_types"}
_OF_KINDS: Final = {kind: Messages(_PACKAGE, kind) for kind in ("credit_note", "negative", "self_billed")}


def label(key: str, lang: Language, kind: str = "") -> str:
    """Return the label of a business term, or of a key such as `payment`.

    Args:
        key: business term, or key of the message files.
        lang: language.
        kind: "credit_note", "self_billed", or "negative" (amount due below 0) for a document with labels of its own.

    Raises:
        LookupError: there is neither a label nor a term.

    >>> label("BT-84", "de"), label("BT-97", "en")
    ('IBAN / Konto', 'Document level allowance reason')
    >>> label("BT-1", "de"), label("BT-1", "de", "credit_note")
    ('Rechnungsnummer', 'Gutschriftsnummer')
    """
    own = _OF_KINDS[kind][lang].get(key) if kind else None
    return own or _LABELS[lang].get(key) or terms.name(key, lang)


def field_label(name: str, lang: Language) -> str:
    """Return the label of a field of the model that has no business term.

    Raises:
        LookupError: the message files have no label for it.

    >>> field_label("status_reason", "de")
    'Art der Position'
    """
    return _FIELDS[lang][name]


def meaning(codes: str, code: str, lang: Language) -> str | None:
    """Return the name of a code in a code list; None if the table does not contain it.

    >>> meaning("units", "C62", "de"), meaning("payment_means", "58", "en"), meaning("units", "?", "de")
    ('Stück', 'SEPA credit transfer', None)
    """
    further = _FURTHER.get(codes)
    return _names(codes)[lang].get(code) or (meaning(further, code, lang) if further else None)


def code_text(codes: str, code: str, lang: Language) -> str:
    """Return the name of a code, with the code if readers need it; a code without a name, with that of its list.

    A code that is in no list remains as it is.

    >>> code_text("countries", "DE", "en"), code_text("reference_types", "ABZ", "en")
    ('Germany', 'Vehicle licence number (ABZ)')
    >>> code_text("reference_types", "AQA", "de"), code_text("reference_types", "??", "de")
    ('Code AQA nach UNTDID 1153', '??')
    """
    if name := meaning(codes, code, lang):
        return f"{name} ({code})" if codes in _WITH_CODE else name
    title, complete = _LISTS.get(codes, ("", ""))
    if not title or (complete and code not in codelists.codes(complete)):
        return code
    return label("code_of_list", lang).format(code=code, list=title)


@functools.cache
def _names(codes: str) -> Messages:
    return Messages(_MODEL if codes == "invoice_types" else _PACKAGE, codes)
