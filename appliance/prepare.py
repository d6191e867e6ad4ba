"""Works out the rules of all releases beforehand and keeps them (`EINVOICE_CACHE`), so that no request has to wait.

An image does it while it is built; elsewhere each release is worked out when it is first asked for, once for all.
"""

import datetime
from collections.abc import Iterator
from importlib.resources import files

import einvoice

FIRST_DAY = datetime.date(2020, 7, 1)
"""On which the oldest release that there is came into force."""


def prepare() -> None:
    """Judge a document of each syntax by the releases of today and by those of each month since `FIRST_DAY`."""
    for sample in (files("appliance") / "samples").iterdir():
        document = sample.read_bytes()
        einvoice.validate(document)
        for day in _firsts_of_months(FIRST_DAY, datetime.date.today()):
            einvoice.validate(document, as_of=day)


def _firsts_of_months(first: datetime.date, last: datetime.date) -> Iterator[datetime.date]:
    day = first
    while day <= last:
        yield day
        day = (day + datetime.timedelta(days=31)).replace(day=1)
