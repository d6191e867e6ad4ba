"""The words of the rule language, each standing for something that the official rules write in XPath.

Here are those for what is there and for sequences; ``texts``, ``arithmetic``, ``taxes`` and ``german`` have the
others. Generated rules call them by name, with ``WORDS`` as globals. The doctests are Saxon's answers; ``tests/words``
has many more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from einvoice.model.group import Group
from einvoice.model.invoice import Invoice
from einvoice.model.values import BLANKS, Value, absent
from einvoice.rulebook.functions import vat, xrechnung  # noqa: F401 (they put their words into WORDS)
from einvoice.rulebook.functions.arithmetic import EXACT
from einvoice.rulebook.functions.registry import CALLABLE, WORDS, occurrences, word
from einvoice.rulebook.functions.strings import joined_codes

__all__ = ["CALLABLE", "EXACT", "WORDS", "joined_codes"]


@word()
def exists(x: Any) -> bool:
    """``exists(x)``: the document has it, be it empty. Also for groups, sequences and generators.

    >>> exists(Value("")), exists(absent)
    (True, False)
    """
    return bool(x) if isinstance(x, list | tuple) else x is not absent


@word()
def non_blank(x: Any) -> bool:
    """``normalize-space(x) != ''``: something is there that is not blank.

    >>> non_blank("\\u00a0"), non_blank(" \\t\\r\\n"), non_blank("")
    (True, False, False)
    """
    if isinstance(x, Value):
        return any(occurrence.filled for occurrence in occurrences(x))
    return x is not absent and bool(x.strip(BLANKS))


@word()
def attribute(x: Any, name: str) -> Any:
    """``x/@name``, such as the ``format`` of a date; ``absent`` where the value or its attribute is missing.

    >>> attribute(Value("20260101", {"format": "102"}), "format"), attribute(absent, "format")
    ('102', absent)
    """
    return absent if x is absent else x.attributes.get(name, absent)


@word()
def default(x: Any, otherwise: Any) -> Any:
    """``if (x) then x else otherwise``, such as "the base quantity, or 1".

    >>> default(absent, 1), default(5, 1)
    (1, 5)
    """
    return otherwise if x is absent else x


@word()
def first(x: Sequence[Any]) -> Any:
    """``(x)[1]``: the first that is there, ``absent`` where nothing is; such as ``first(it.net for it in …)``.

    >>> first([absent, Value("a"), Value("b")]), first([])
    (Value('a'), absent)
    """
    return next((member for member in x if member is not absent), absent)


@word()
def descendants(invoice: Invoice, kind: str) -> list[Any]:
    """``//kind``: every group of a class of the model, misplaced ones included; written ``descendants(LineTax)``."""
    return invoice.descendants(Group.known[kind])


@word()
def count(x: Sequence[Any]) -> int:
    """``count(x)``; with a generator: of what is there.

    >>> count([Value("a"), Value("")])
    2
    """
    return len(x)


WORDS["any"] = CALLABLE["any"] = any  # some $x in … satisfies …
WORDS["all"] = CALLABLE["all"] = all  # every $x in … satisfies …
