"""Files of the command line: named as given, each one once."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from einvoice.bulk.files.items import Item, Items
from einvoice.bulk.files.sources import Corpus, corpus, label


class NoFilesError(Exception):
    """A folder, archive or pattern has no files; the message is its name."""


def files_of(arguments: Sequence[str], *, allow_empty: bool = False) -> Corpus:
    """Return the files of FILE arguments: files, folders, archives, patterns, and "-" for standard input.

    A file that does not exist becomes an unreadable file of the results. Files in archives are named after the archive:
    "2026.zip/a.xml".

    Raises:
        NoFilesError: an argument stands for no file, unless `allow_empty`.
    """
    parts = [_of_argument(argument) for argument in dict.fromkeys(arguments)]
    if not allow_empty:
        for argument, part in zip(dict.fromkeys(arguments), parts, strict=True):
            if part.size == 0:
                raise NoFilesError(argument)
    if len(parts) == 1:
        return parts[0]
    found = _once(chain.from_iterable(part.items for part in parts))
    if not all(isinstance(part.items, Sequence) for part in parts):  # archives are unpacked file by file
        return Corpus(found)
    items = Items(found)
    return Corpus(items, len(items))


def _of_argument(argument: str) -> Corpus:
    if argument == "-":
        return Corpus([Item("-", sys.stdin.buffer.read())], 1)
    try:
        found = corpus(argument)
    except OSError:
        return Corpus([Item(label(argument), str(Path(argument)))], 1)
    renamed = _renamed(argument, found.items)
    return Corpus(Items(renamed) if isinstance(found.items, Sequence) else renamed, found.size)


def _renamed(argument: str, items: Iterable[Item]) -> Iterator[Item]:
    for item in items:
        name = Path(item.content).as_posix() if isinstance(item.content, str) else f"{argument}/{item.name}"
        yield item._replace(name=label(name))


def _once(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items without files that occurred before, such as those of overlapping folders."""
    known: set[str] = set()
    for item in items:
        path = os.path.abspath(item.name)  # noqa: PTH100 (resolve would follow links)
        if path not in known:
            known.add(path)
            yield item
