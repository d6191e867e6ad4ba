"""Files by group: the folder, the seller, or the month that they are of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from einvoice.bulk import FileResult

KINDS: Final = ("folder", "seller", "month")


def group(file: FileResult, kind: str) -> str:
    """The group of a file: its folder, its seller, or the month of its date as YYYY-MM; "" where it has none.

    Raises:
        ValueError: there is no such kind of groups.
    """
    if kind == "folder":
        return file.file.rpartition("/")[0]
    if kind == "seller":
        return file.seller
    if kind == "month":
        return file.date[:7]
    raise ValueError(f"Groups are by {', '.join(KINDS)}, not by {kind!r}.")
