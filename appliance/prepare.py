"""Compiles rule sets ahead of time into the cache (EINVOICE_CACHE), so that no request has to wait for compilation.

The image build does this; elsewhere a rule set is compiled on first use.
"""

import re

import einvoice

_CORE = b"urn:cen.eu:en16931:2017"


def prepare() -> None:
    """Build the catalog, and compile the rules for both syntaxes: each rule set, and each release of each CIUS."""
    catalog = einvoice.catalog()
    len(catalog)  # built on first use
    for sample in einvoice.samples().iterdir():
        document = sample.read_bytes()
        einvoice.validate(re.sub(rb"urn:cen\.eu:[^<]*", _CORE, document), profile="facturx")
        for ruleset in catalog.rule_sets:
            if ruleset.kind != "profile":
                einvoice.validate(document, profile=ruleset.name)
        for release in einvoice.rule_sets():
            if release.base:
                einvoice.validate(document, ruleset=release.name)
