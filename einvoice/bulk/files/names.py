"""Filenames of the same files relative to different folders."""

from __future__ import annotations

from collections.abc import Collection


def leading_folders(names: Collection[str], others: Collection[str]) -> str:
    """Return the folders, with a slash, that start all `names` and that `others` lack; "" if there are none.

    They are "2026/01/" for "2026/01/a.xml" and "a.xml". Files that have the same name in both decide against it.
    """
    known = set(others)
    if not names or not known.isdisjoint(names):
        return ""
    first = min(names)
    for end in (index + 1 for index, character in enumerate(first) if character == "/"):
        prefix = first[:end]
        if not all(name.startswith(prefix) for name in names):
            return ""
        if any(name[end:] in known for name in names):
            return prefix
    return ""
