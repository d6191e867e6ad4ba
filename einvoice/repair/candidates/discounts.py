"""Writes cash discounts in the payment terms (BT-20) as XRechnung prescribes: points, and a final line break."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from einvoice.repair.applicability import SAFE
from einvoice.repair.case import Candidate, Case

_RANK = 10
_TERMS: Final = "BT-20"
_DISCOUNT: Final = re.compile(r"^[ \t]*(#(?:SKONTO|VERZUG)#.*#)[ \t]*$", re.MULTILINE)
_DECIMAL_COMMA: Final = re.compile(r"(=-?[0-9]+),([0-9]{1,2})(?=#)")


def candidates(case: Case) -> Iterator[Candidate]:
    """Yield a candidate for the payment terms that a finding is about, if only the form of a discount is wrong."""
    if not any(finding.terms[:1] == (_TERMS,) for finding in case.findings):
        return
    for it in case.of_terms((_TERMS,)):
        text = _DISCOUNT.sub(lambda found: _DECIMAL_COMMA.sub(r"\1.\2", found[1]), it.value.raw)
        text += "" if not _DISCOUNT.search(text) or text.endswith("\n") else "\n"
        if text != it.value.raw:
            yield Candidate((case.set(it.value, text),), _RANK, SAFE, (_TERMS,))
