"""Replaces a code that its code list lacks: a name of a code, or a misspelt code."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from lxml import etree

from einvoice import codelists
from einvoice.causes.applicability import QUESTION, SAFE, Applicability
from einvoice.editing.edits import Edit, SetAttribute, SetText
from einvoice.model.lines import Line
from einvoice.model.values import absent
from einvoice.reconciliation.slips import is_slip
from einvoice.repair.case import Case
from einvoice.repair.proposal import Proposal
from einvoice.syntax.paths import term_of_attribute

_CHECK: Final = "in_code_list"
_CURRENCIES: Final = ("in_currency", "in_currency_exactly")
_CURRENCY: Final = "currencyID"
_UNIT: Final = "unitCode"
_CURRENCY_LIST: Final = "currencies"
_EURO: Final = "EUR"
_REPLACED_BY_EURO: Final = "replaced_by_euro"
_COUNTRY_LIST: Final = "countries"
_COUNTRY: Final = "Country"
_POST_CODES: Final = ("PostcodeCode", "PostalZone")
_CITY: Final = "CityName"
_COUNTRIES: Final = {"EL": "GR", "XI": "GB"}
"""Countries whose VAT identifiers do not begin with their code: Greece, Northern Ireland."""
_METALS: Final = ("XAU", "XAG", "XPD", "XPT")
"""Currency codes of gold, silver, palladium and platinum, in which no invoice is issued."""
_CHOICE: Final = "one_of"
_SUBJECT: Final = "subject_in_code_list"
_NOTE: Final = re.compile(r"(?P<start>\s*)#(?P<code>[^#]*)#(?P<rest>.*)", re.DOTALL)
_TERM: Final = "BT-"
_SCHEME: Final = "scheme"
"""Start of the names of attributes with the scheme of an identifier."""
_MAX_NEAR: Final = 4
"""Maximum number of similar codes; of more, none is proposed."""
_MIN_LENGTH: Final = 2
"""Minimum length of a code that is compared with similar ones."""

Place = tuple[str, str, str]
"""Where codes of a list stand: tag of the parent, tag of the element, name of the attribute or ""."""


def proposals(case: Case) -> Iterator[Proposal]:
    """Yield a proposal for each code that a wrong one may mean; it replaces all occurrences of the wrong one.

    A country given by its name can also be that of a VAT identifier, or of another address with the same town.
    """
    places: dict[tuple[str, str], dict[Place, None]] = {}
    terms: dict[tuple[Any, str], tuple[str, ...]] = {}
    for finding in case.findings:
        check, node = case.check_of(finding), finding.location.node
        if node is None or not check.startswith((_CHECK, *_CURRENCIES, _CHOICE)):
            continue
        attribute = _CURRENCY if check in _CURRENCIES else finding.xpath.partition("/@")[2]
        given = _text(node, attribute)
        if given:
            places.setdefault((str(finding.values["argument"]), given), {})[_place(node, attribute)] = None
            # Several terms are those of all elements that the rule checks, such as the countries of all addresses.
            known = finding.terms if len(finding.terms) == 1 else ()
            terms.setdefault((node, attribute), tuple(it for it in known if it.startswith(_TERM)))
    for (argument, given), found in places.items():
        yield from _replacements(case, argument, given, list(found), terms)
    yield from _subjects(case)


def _subjects(case: Case) -> Iterator[Proposal]:
    """Yield a proposal for each misspelt subject code (BT-21), which UBL has at the beginning of the note: #AAI#."""
    for finding in case.findings:
        node = finding.location.node
        if node is None or not case.check_of(finding).startswith(_SUBJECT):
            continue
        found = _NOTE.fullmatch(node.text or "")
        meant, is_name = _meant(case, str(finding.values["argument"]), found["code"]) if found else ((), False)
        if found and is_name:
            text = f"{found['start']}#{meant[0]}#{found['rest']}"
            yield Proposal((SetText(case.xpath(node), text),), SAFE if len(meant) == 1 else QUESTION, finding.terms[:1])


def _replacements(
    case: Case, argument: str, given: str, places: Sequence[Place], known: Mapping[tuple[Any, str], tuple[str, ...]]
) -> Iterator[Proposal]:
    meant, is_name = _meant(case, argument, given)
    if not is_name and any(attribute.startswith(_SCHEME) for _, _, attribute in places):
        meant = [code for code in meant if not code.isdigit()]  # numbers of schemes resemble each other by chance
    if not is_name and all(attribute == _CURRENCY for _, _, attribute in places):
        meant = list(dict.fromkeys((*_currency_of_others(case, given, argument), *meant)))
    if all(not attribute for _, _, attribute in places) and _CURRENCY_LIST in _lists(case, argument):
        meant = list(dict.fromkeys((*_currency_of_amounts(case, given, argument), *meant)))
    if _CURRENCY_LIST in _lists(case, argument) and given in codelists.codes(_REPLACED_BY_EURO, data=case.rules):
        meant = [_EURO]  # a question, since the amounts may have to be converted
    by_town: dict[tuple[str, ...], list[tuple[Any, str]]] = {}
    for node, attribute in _elements(case, given, places):
        countries = _other_countries(case, argument, node) if is_name else ()
        others = tuple(it for it in countries if it not in meant)
        by_town.setdefault(others, []).append((node, attribute))
    for others, elements in by_town.items():
        codes = (*meant, *others)
        is_only = is_name and len(codes) == 1 and not any(_has_other_unit(case, codes[0], *it) for it in elements)
        yield from _proposals(case, elements, codes, known, SAFE if is_only else QUESTION)


def _proposals(
    case: Case,
    elements: Sequence[tuple[Any, str]],
    codes: Sequence[str],
    known: Mapping[tuple[Any, str], tuple[str, ...]],
    ceiling: Applicability,
) -> Iterator[Proposal]:
    """Yield a proposal for each code, which replaces the content of all elements."""
    repeated = tuple(_term(case, node, attribute, known) for node, attribute in elements)
    terms = tuple(dict.fromkeys(repeated))
    for code in codes:
        yield Proposal(
            tuple(_edit(case, node, attribute, code) for node, attribute in elements),
            ceiling,
            terms if len(terms) == 1 else repeated,
            alternative=len(codes) > 1,
        )


def _has_other_unit(case: Case, code: str, node: Any, attribute: str) -> bool:
    """Return whether quantity or price of the line have a unit that is neither the code nor the wrong one."""
    groups = [group for it in case.by_element.get(node, ()) for group in (it.group, it.group.parent)]
    lines = [it for it in groups if isinstance(it, Line)] if attribute == _UNIT else []
    values = [value for line in lines for value in (line.quantity, line.price.base_quantity) if value is not absent]
    return any(it.unit and it.unit not in (code, node.get(attribute)) for it in values)


def _other_countries(case: Case, argument: str, node: Any) -> tuple[str, ...]:
    """Return the countries that a wrong one can be, too.

    They are those of the VAT identifiers of its party, and of other addresses with its post code and city.
    """
    if _COUNTRY_LIST not in _lists(case, argument):
        return ()
    parties = [it.group.parent for it in case.by_element.get(node, ())]
    numbers = [it.identifier for party in parties for it in getattr(party, "tax_registrations", ()) if it.is_vat]
    prefixes = (it.text.strip()[:2] for it in numbers if it is not absent)
    town = _town(node)
    same = (it for it in case.root.iter(node.tag) if all(town) and _town(it) == town)
    found = (*(_COUNTRIES.get(it, it) for it in prefixes), *(_text(it, "").strip() for it in same))
    known = codelists.codes(_COUNTRY_LIST, None, case.syntax, case.rules)
    return tuple(dict.fromkeys(it for it in found if it in known))


def _town(country: Any) -> tuple[str, str]:
    """Return the post code and the city of the address with a country; "" for what is missing."""
    group = country.getparent()
    address = group.getparent() if etree.QName(group).localname == _COUNTRY else group
    texts = {etree.QName(it).localname: codelists.folded(it.text or "") for it in address.iterchildren(etree.Element)}
    return next((texts[it] for it in _POST_CODES if it in texts), ""), texts.get(_CITY, "")


def _currency_of_others(case: Case, given: str, argument: str) -> list[str]:
    """Return the currency of the invoice or, without one, the most frequent one of the other amounts, if it exists."""
    invoice = case.invoice
    if invoice.currency is absent:
        return _currency_of_amounts(case, given, argument)
    return _existing([invoice.currency.text.strip()], case, given, argument)


def _currency_of_amounts(case: Case, given: str, argument: str) -> list[str]:
    """Return the most frequent currency of the amounts, if it exists."""
    found = Counter(str(it.get(_CURRENCY, "")) for it in case.root.iter(etree.Element))
    return _existing([it for it, _ in found.most_common()], case, given, argument)


def _existing(likely: Sequence[str], case: Case, given: str, argument: str) -> list[str]:
    known = {code for it in _lists(case, argument) for code in codelists.codes(it, None, case.syntax, case.rules)}
    return [it for it in likely if it in known and it != given][:1]


def _lists(case: Case, argument: str) -> list[str]:
    """Return the code lists in the argument of a check."""
    known = codelists.names(case.rules)
    return [it.strip("<>") for it in argument.split(" ") if it.strip("<>") in known]


def _meant(case: Case, argument: str, given: str) -> tuple[Sequence[str], bool]:
    """Return the codes that a wrong one may mean, and whether it is a name or another spelling of them.

    Args:
        case: the document.
        argument: that of the check: a code list or a choice, see `einvoice.rulebook.syntax_rules.checks`.
        given: the wrong code.
    """
    words, names = argument.split(" "), _lists(case, argument)
    single = [it for it in words if it[:1] not in ("<", "-") and it not in names]
    excluded = [it[1:] for it in words if it.startswith("-")]
    text = codelists.folded(given)
    named = [code for it in names for code in codelists.meanings(it, None, case.syntax, case.rules).get(text, ())]
    spelled = [code for code in single if codelists.folded(code) == text]
    if meant := [code for code in dict.fromkeys((*named, *spelled)) if code not in excluded]:
        return meant, True
    known = [code for it in names for code in codelists.ordered(it, None, case.syntax, case.rules)]
    if _CURRENCY_LIST in names:
        excluded += _METALS
    possible = [code for code in (*known, *single) if code not in excluded]
    near = [code for code in possible if _is_near(given.strip(), code)]
    used = {it.value.raw for it in case.values}
    near.sort(key=lambda code: code not in used)
    return near if len(near) <= _MAX_NEAR else [], False


def _is_near(text: str, code: str) -> bool:
    """Return whether a text is a code with one character changed, left out, added or swapped with the next one.

    >>> [_is_near(text, "EUR") for text in ("EUT", "UER", "EU", "EURO", "eur", "EAT", "RUE")]
    [True, True, True, True, True, False, False]
    >>> _is_near("SUI", "SI"), _is_near("1e3", "13")
    (False, False)
    >>> _is_near("19", "1A"), _is_near("1E", "DE"), _is_near("47", "42")
    (False, True, False)
    """
    one, other = (re.sub(r"[\W_]+", "", it).upper() for it in (text, code))
    if one == other:
        return True
    if min(len(one), len(other)) < _MIN_LENGTH or abs(len(one) - len(other)) > 1:
        return False
    if len(other) == _MIN_LENGTH and (one.isdigit() or other.isdigit() or (len(one) > len(other) and one.isalpha())):
        return False  # numbers of two digits resemble each other by chance, as an abbreviation does codes of countries
    return is_slip(one, other)


def _elements(case: Case, given: str, places: Sequence[Place]) -> Iterator[tuple[Any, str]]:
    """Yield each element, with its attribute or "", that has the wrong code at one of the places."""
    attributes: dict[tuple[str, str], list[str]] = {}
    for parent, tag, attribute in places:
        attributes.setdefault((parent, tag), []).append(attribute)
    for node in case.root.iter({tag for _, tag, _ in places}):
        for attribute in attributes.get(_place(node, "")[:2], ()):
            if _text(node, attribute) == given:
                yield node, attribute


def _term(case: Case, node: Any, attribute: str, known: Mapping[tuple[Any, str], tuple[str, ...]]) -> str:
    """Return the business term of a code, otherwise that of the finding about it; "" if there is neither."""
    for it in case.by_element.get(node, ()):
        if it.number:
            is_own = (it.value.attribute or "") == attribute
            return it.number if is_own else term_of_attribute(it.number, attribute) or it.number
    return next(iter(known.get((node, attribute), ())), "")


def _place(node: Any, attribute: str) -> Place:
    parent = node.getparent()
    return "" if parent is None else parent.tag, node.tag, attribute


def _text(node: Any, attribute: str) -> str:
    return (node.get(attribute) if attribute else node.text) or ""


def _edit(case: Case, node: Any, attribute: str, code: str) -> Edit:
    path = case.xpath(node)
    return SetAttribute(path, attribute, code) if attribute else SetText(path, code)
