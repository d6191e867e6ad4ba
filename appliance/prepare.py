"""Works out rules beforehand and keeps them (`EINVOICE_CACHE`), so that no request has to wait for them.

An image does it while it is built; elsewhere rules are worked out when they are first asked for, once for all.
"""

import datetime
import re
from collections.abc import Iterator
from importlib.resources import files

import einvoice

FIRST_DAY = datetime.date(2020, 7, 1)
"""On which the oldest release that there is came into force."""

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
    """Judge a document of each syntax by the rules of today, whatever it declares, and by those of each month."""
    einvoice.catalog()
    for sample in (files("appliance") / "samples").iterdir():
        document = sample.read_bytes()
        einvoice.validate(document)
        einvoice.validate(re.sub(_XRECHNUNG, _CORE, document), profile="facturx")
        for specification in DECLARED:
            einvoice.validate(re.sub(_XRECHNUNG, specification, document))
        for day in _firsts_of_months(FIRST_DAY, datetime.date.today()):
            einvoice.validate(document, as_of=day)


def _firsts_of_months(first: datetime.date, last: datetime.date) -> Iterator[datetime.date]:
    day = first
    while day <= last:
        yield day
        day = (day + datetime.timedelta(days=31)).replace(day=1)
