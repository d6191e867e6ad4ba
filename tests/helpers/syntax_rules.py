"""Violations of syntax rules by small documents."""

from collections import Counter

from lxml import etree

from einvoice.model.location import NAMESPACES
from einvoice.rulebook.syntax_rules.collector import Collector
from einvoice.syntax import reader
from tests.helpers.rule_sets import ELEMENTS, newest_stack, table

STACK = newest_stack("en16931", "xrechnung", "peppol", "peppol-selfbilling")


def violations(root, name=ELEMENTS):
    """Return the violations of the rules of one table."""
    collector = Collector(root, STACK)
    reader.read(root, collector)
    return [found for found in collector.violations() if found.rule.table == table(name, found.rule.syntax)]


def codes(root, name=ELEMENTS):
    return Counter(violation.code for violation in violations(root, name))


def ubl_document(content, root="Invoice"):
    uri = NAMESPACES["ubl" if root == "Invoice" else "cn"]
    prefixes = " ".join(f'xmlns:{prefix}="{NAMESPACES[prefix]}"' for prefix in ("cac", "cbc", "ext"))
    return etree.fromstring(f'<{root} xmlns="{uri}" {prefixes}>{content}</{root}>')


def cii_document(content):
    prefixes = " ".join(f'xmlns:{prefix}="{NAMESPACES[prefix]}"' for prefix in ("rsm", "ram", "udt"))
    return etree.fromstring(f"<rsm:CrossIndustryInvoice {prefixes}>{content}</rsm:CrossIndustryInvoice>")


def transaction(content):
    return cii_document(f"<rsm:SupplyChainTradeTransaction>{content}</rsm:SupplyChainTradeTransaction>")
