"""Works out rules beforehand and keeps them (`EINVOICE_CACHE`), so that no request has to wait for them.

An image does it while it is built; elsewhere rules are worked out when they are first asked for, once for all.
"""

import re
from importlib.resources import files

import einvoice

_CORE = b"urn:cen.eu:en16931:2017"
_XRECHNUNG = _CORE + b"#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0"
DECLARED = (
    _CORE,
    _XRECHNUNG + b"#conformant#urn:xeinkauf.de:kosit:extension:xrechnung_3.0",
    _CORE + b"#compliant#urn:factur-x.eu:1p0:basic",
    _CORE + b"#conformant#urn:factur-x.eu:1p0:extended",
    b"urn:factur-x.eu:1p0:basicwl",
    b"urn:factur-x.eu:1p0:minimum",
)
"""Specifications (BT-24) whose documents are judged by other rules than those of XRechnung."""


def prepare() -> None:
    """Judge a document of each syntax by the rules of today, whatever it declares, and by each release of XRechnung."""
    einvoice.catalog()
    for sample in (files("appliance") / "samples").iterdir():
        document = sample.read_bytes()
        einvoice.validate(document)
        einvoice.validate(re.sub(_XRECHNUNG, _CORE, document), profile="facturx")
        for specification in DECLARED:
            einvoice.validate(re.sub(_XRECHNUNG, specification, document))
        for release in einvoice.rule_sets():
            if release.ruleset == "xrechnung":
                einvoice.validate(document, ruleset=release.name)
