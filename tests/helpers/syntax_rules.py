"""Violations of syntax rules by small documents."""

from collections import Counter

from lxml import etree

from einvoice.model.location import NAMESPACES
from einvoice.resources import shipped
from einvoice.rulebook.syntax_rules.collector import Collector
from einvoice.syntax import reader, xml
from einvoice.syntax.text_nodes import text_nodes
from tests.helpers.rule_sets import ELEMENTS, newest_stack, table

STACK = newest_stack(*shipped().sets)


def violations(root, name=ELEMENTS):
    """Return the violations of the rules of one table."""
    return [found for found in all_violations(root) if found.rule.table == table(name, found.rule.syntax)]


def all_violations(root, stack=STACK):
    """Return the violations of all syntax rules; a document with comments is parsed without them, as others are."""
    data = etree.tostring(root)
    if b"<!--" in data:
        root = xml.parse(data).getroot()
    collector = Collector(root, stack, text_nodes=text_nodes(root, data, lambda: data))
    reader.read(root, collector)
    return collector.violations()


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
