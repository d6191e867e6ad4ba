"""Compiles rule sets ahead of time into the cache (EINVOICE_CACHE), so that no request has to wait for compilation.

The image build does this; elsewhere a rule set is compiled on first use.
"""

import re
from importlib.resources import files

import einvoice

_CORE = b"urn:cen.eu:en16931:2017"
_XRECHNUNG = _CORE + b"#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0"
SPECIFICATIONS = (
    _CORE,
    _XRECHNUNG + b"#conformant#urn:xeinkauf.de:kosit:extension:xrechnung_3.0",
    _CORE + b"#compliant#urn:factur-x.eu:1p0:basic",
    _CORE + b"#conformant#urn:factur-x.eu:1p0:extended",
    b"urn:factur-x.eu:1p0:basicwl",
    b"urn:factur-x.eu:1p0:minimum",
)
"""Specifications (BT-24) that select rule sets other than XRechnung's."""


def prepare() -> None:
    """Compile the rules for both syntaxes: the current ones for every specification, and each release of XRechnung."""
    einvoice.catalog()
    for sample in (files("appliance") / "samples").iterdir():
        document = sample.read_bytes()
        einvoice.validate(document)
        einvoice.validate(re.sub(_XRECHNUNG, _CORE, document), profile="facturx")
        for specification in SPECIFICATIONS:
            einvoice.validate(re.sub(_XRECHNUNG, specification, document))
        for release in einvoice.rule_sets():
            if release.ruleset == "xrechnung":
                einvoice.validate(document, ruleset=release.name)
