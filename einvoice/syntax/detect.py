"""Identifies a document: syntax, root element, declared specification (BT-24).

A problem with the declaration is a `Remark`, which names a catalog entry.
"""

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from lxml import etree

from einvoice import errors
from einvoice.model.location import NAMESPACES, line
from einvoice.quotation import quote
from einvoice.resources import RuleData
from einvoice.syntax.paths import path_of
from einvoice.syntax.specifications import (
    Specification,
    SpecificationKind,
    Syntax,
    declared_specification,
    specifications,
)

_PROCESS: Final = "BT-23"
_BLANKS: Final = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Identity:
    """Syntax, root element and declared specification of a document.

    Attributes:
        syntax, root: "UBL" with "Invoice" or "CreditNote", or "CII" with "CrossIndustryInvoice".
        customization_id: BT-24, Specification identifier, stripped of white space; None if missing or blank.
        process: BT-23, Business process type, stripped in the same way.
        specification: the declared one; the one named "unknown" if BT-24 is missing or unknown.
        data: rule data with the known specifications; None is the shipped one.
        padded: BT-24 with the white space around it; "" if there is none.
        parts: the text nodes of BT-24 if comments or processing instructions divide it.
    """

    syntax: Syntax
    root: str
    customization_id: str | None
    process: str | None
    specification: Specification
    data: RuleData | None = None
    padded: str = ""
    parts: tuple[str, ...] = ()

    @property
    def profile(self) -> str:
        """Display name of the specification, such as "XRechnung" or "unknown"."""
        return self.specification.profile

    @property
    def version(self) -> str:
        """The declared version, such as "3.0", or ""."""
        return self.specification.version

    @property
    def kind(self) -> SpecificationKind:
        """Relation of the declared specification to EN 16931."""
        return self.specification.kind

    @property
    def family(self) -> str:
        """Specifications that share rules, such as "xrechnung-3.0"."""
        return self.specification.family

    @property
    def rulesets(self) -> tuple[str, ...]:
        """Rule sets to apply, in order, such as ("en16931", "xrechnung")."""
        return self.specification.rulesets

    @property
    def scenario_id(self) -> str:
        """Specification and syntax, such as "xrechnung-3.0-ubl"."""
        return f"{self.specification.name}-{self.syntax.lower()}"


@functools.cache
def _refining(data: RuleData | None) -> Mapping[str, tuple[Specification, ...]]:
    """Return the specifications with conditions, by the name of the one that they refine."""
    found: dict[str, tuple[Specification, ...]] = {}
    for it in specifications(data).values():
        if it.refines:
            found[it.refines] = (*found.get(it.refines, ()), it)
    return found


def _refined(
    declared: Specification,
    refining: Sequence[Specification],
    root: etree._Element,
    syntax: Syntax,
    process: str | None,
) -> Specification:
    """Return the first specification whose conditions a document meets, or else the one that it declares."""
    for it in refining:
        if syntax in it.syntaxes and all(_meets(root, syntax, process, *each) for each in it.conditions.items()):
            return it
    return declared


def _meets(root: etree._Element, syntax: Syntax, process: str | None, place: str, pattern: str) -> bool:
    if place == _PROCESS:  # known, and a quick test for most documents
        return re.fullmatch(pattern, process or "") is not None
    path = path_of(place, syntax) if place.startswith("BT-") else f"/*/{place}"
    found: Any = root.xpath(path, namespaces=NAMESPACES) if path else ()
    texts = (it if isinstance(it, str) else "".join(it.itertext()) for it in found)
    return any(re.fullmatch(pattern, text.strip(_BLANKS)) for text in texts)


def embedded(identity: Identity) -> Identity:
    """Return the identity of a document that is embedded in a PDF.

    It differs only for a specification whose identifier has another meaning there: CII that declares EN 16931 is the
    Factur-X profile EN 16931 (COMFORT).
    """
    for specification in specifications(identity.data).values():
        if specification.in_pdf == identity.specification.name and identity.syntax in specification.syntaxes:
            return replace(identity, specification=specification)
    return identity


_CBC: Final = f"{{{NAMESPACES['cbc']}}}"
_RSM: Final = f"{{{NAMESPACES['rsm']}}}"
_RAM: Final = f"{{{NAMESPACES['ram']}}}"
_ROOTS: Final[Mapping[str, tuple[Syntax, str]]] = {
    f"{{{NAMESPACES['ubl']}}}Invoice": ("UBL", "Invoice"),
    f"{{{NAMESPACES['cn']}}}CreditNote": ("UBL", "CreditNote"),
    f"{_RSM}CrossIndustryInvoice": ("CII", "CrossIndustryInvoice"),
}

_RELEASE_CANDIDATE: Final = "urn:un:unece:uncefact:data:standard:CBFBUY:5"
"""Namespace of a ZUGFeRD 1 release candidate, whose root element is Invoice."""


def identify(document: etree._ElementTree, data: RuleData | None = None) -> Identity:
    """Identify a parsed document. If it declares several specifications, the first one is used.

    Args:
        document: the document.
        data: rule data with the known specifications; None is the shipped one.

    Raises:
        errors.UnknownRoot: the root element is not a UBL or CII invoice; ZUGFeRD 1.x and Order-X have subclasses.
    """
    root = document.getroot()
    if root.tag not in _ROOTS:
        raise _unknown(root)
    syntax, name = _ROOTS[root.tag]
    if syntax == "UBL":
        declared, process = _text(root, f"{_CBC}CustomizationID"), _text(root, f"{_CBC}ProfileID")
    else:
        context = _child(root, f"{_RSM}ExchangedDocumentContext")
        guideline = _child(context, f"{_RAM}GuidelineSpecifiedDocumentContextParameter")
        business = _child(context, f"{_RAM}BusinessProcessSpecifiedDocumentContextParameter")
        declared, process = _text(guideline, f"{_RAM}ID"), _text(business, f"{_RAM}ID")
    identifier = _stripped(declared)
    padded = declared if identifier and identifier != declared else ""
    specification = declared_specification(syntax, identifier, data)
    if refining := _refining(data).get(specification.name):
        specification = _refined(specification, refining, root, syntax, _stripped(process))
    return Identity(syntax, name, identifier, _stripped(process), specification, data, padded)


def _child(parent: etree._Element | None, tag: str) -> etree._Element | None:
    return None if parent is None else next(parent.iterchildren(tag), None)


def _text(parent: etree._Element | None, tag: str) -> str:
    element = _child(parent, tag)
    return "" if element is None else element.text or ""


def _stripped(text: str) -> str | None:
    return text.strip(_BLANKS) or None


def _unknown(root: etree._Element) -> errors.UnknownRoot:
    name = etree.QName(root)
    if name.localname == "CrossIndustryDocument" or name.namespace == _RELEASE_CANDIDATE:
        return errors.ZugferdV1(line=line(root))
    if name.localname == "SCRDMCCBDACIOMessageStructure":
        return errors.OrderX(line=line(root))
    namespace = quote(name.namespace or "–", keep_end=True)
    return errors.UnknownRoot(name=quote(name.localname), namespace=namespace, line=line(root))
