"""Writes cash discounts in the payment terms (BT-20) as XRechnung prescribes: points, and a final line break."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from einvoice.causes.applicability import SAFE
from einvoice.repair.case import Case
from einvoice.repair.proposal import Proposal

_TERMS: Final = "BT-20"
_DISCOUNT: Final = re.compile(r"^[ \t]*(#(?:SKONTO|VERZUG)#.*#)[ \t]*$", re.MULTILINE)
_DECIMAL_COMMA: Final = re.compile(r"(=-?[0-9]+),([0-9]{1,2})(?=#)")


def proposals(case: Case) -> Iterator[Proposal]:
    """Yield a proposal for the payment terms that a finding is about, if only the form of a discount is wrong."""
    if not any(finding.terms[:1] == (_TERMS,) for finding in case.findings):
        return
    for it in case.of_terms((_TERMS,)):
        text = _DISCOUNT.sub(lambda found: _DECIMAL_COMMA.sub(r"\1.\2", found[1]), it.value.raw)
        text += "" if not _DISCOUNT.search(text) or text.endswith("\n") else "\n"
        if text != it.value.raw:
            yield Proposal((case.set(it.value, text),), SAFE, (_TERMS,))
