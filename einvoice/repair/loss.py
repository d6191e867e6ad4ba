"""Finds business terms that a change takes from an invoice: a finding must not vanish because its content does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from einvoice.editing.edits import Edit, Remove, RemoveAttribute, Rename, RenameAttribute, SetNamespace
from einvoice.editing.finder import Finder
from einvoice.repair.case import Case, keys_of

_NAMING: Final = (Rename, RenameAttribute, SetNamespace)


def loses_terms(before: Case, after: Case, edits: Sequence[Edit], turned: Iterable[str] = ()) -> bool:
    """Return whether the changed invoice has fewer values of a term, apart from those that the edits remove.

    A value that is read as another term is lost to its own one, and so is a number or date that can no longer be read.
    An example is the VAT identifier of the seller (BT-31): with another scheme, rules no longer see it. Only a new name
    may make a value one of another term: it makes content readable, such as a scheme, on which other terms depend.

    Args:
        before: the document.
        after: the changed document.
        edits: what changed it.
        turned: terms whose values the change makes those of another term on purpose.
    """
    stated, left = before.readable, after.readable
    if any(isinstance(edit, _NAMING) for edit in edits):
        return stated.total() - _removed(before, edits).total() > left.total()
    known = {*turned}
    missing = {key: count for key, count in (stated - left).items() if key[0] not in known}
    return bool(missing) and bool(Counter(missing) - _removed(before, edits))


def _removed(case: Case, edits: Iterable[Edit]) -> Counter[tuple[str, str]]:
    """Return the terms of the removed elements and attributes."""
    finder = Finder(case.root)
    found: Counter[tuple[str, str]] = Counter()
    for edit in edits:
        if not isinstance(edit, Remove | RemoveAttribute):
            continue
        for element in finder.find(edit.xpath):
            inside = element.iter() if isinstance(edit, Remove) else (element,)
            for it in (it for node in inside for it in case.by_element.get(node, ())):
                keys = keys_of(it)
                if isinstance(edit, RemoveAttribute) and it.value.attribute != edit.name:
                    keys = [key for key in keys if key[1] == edit.name]
                found.update(keys)
    return found
