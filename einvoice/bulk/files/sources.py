"""Where many files come from: paths, a folder, a pattern, a column of a table, an archive, pairs of name and bytes."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from einvoice.bulk.files.archive import SUFFIXES, is_archive, tar_items, zip_items, zip_size
from einvoice.bulk.record import Row
from einvoice.errors import FileNotReadable, UnreadableDocument
from einvoice.syntax import xml

Content: TypeAlias = "bytes | Path | UnreadableDocument | Row"


class Item(NamedTuple):
    """A file to judge: its name in the results, and its bytes, where they are, why they cannot be had, or
    what is known of it already."""

    name: str
    content: Content


class Corpus(NamedTuple):
    """Files to judge, in their order; `size` is None where only reading tells how many there are."""

    items: Iterable[Item]
    size: int | None = None

    def find(self, name: str) -> Item:
        """The (first) file of this name.

        Raises:
            LookupError: there is none, or the files could be gone through but once.
        """
        if not isinstance(self.items, Iterator):
            for item in self.items:
                if item.name == name:
                    return item
        raise LookupError(f"The file {name!r} is not at hand any more; give its content: result(name, content).")


class _Again:
    """Items that can be gone through again and again: those of an archive."""

    def __init__(self, unpack: Any, path: Path) -> None:
        self._unpack = unpack
        self._path = path

    def __iter__(self) -> Iterator[Item]:
        return (Item(name, content) for name, content in self._unpack(self._path))


def corpus(source: Any) -> Corpus:
    """The files that `source` stands for: see `einvoice.validate_many`.

    Raises:
        FileNotFoundError: a folder or an archive is not there.
        TypeError: `source` is none of what is understood.
    """
    if isinstance(source, str | os.PathLike):
        return _of_path(Path(source))
    if isinstance(source, Mapping):
        return _of_pairs(list(source.items()))
    if hasattr(source, "columns"):
        raise TypeError("Give the column that holds the paths, such as table['path'], not the whole table.")
    if isinstance(source, bytes | bytearray | memoryview) or not isinstance(source, Iterable):
        raise TypeError(
            f"Expected paths, a folder, an archive or pairs of name and bytes, not {type(source).__name__}."
        )
    if hasattr(source, "to_list") and hasattr(source, "index"):  # a column of pandas
        return _of_column(source)
    if isinstance(source, Sequence):
        return _of_paths(source) if all(isinstance(it, str | os.PathLike) for it in source) else _of_pairs(source)
    return Corpus(map(_item, iter(source)))


def _of_path(path: Path) -> Corpus:
    if path.is_dir():
        return _in_folder(path)
    if path.is_file():
        if kind := is_archive(path):
            return Corpus(_Again(zip_items, path), zip_size(path)) if kind == "zip" else Corpus(_Again(tar_items, path))
        return Corpus([Item(label(path.name), path)], 1)
    if glob.has_magic(str(path)):
        return _matching(path)
    raise FileNotFoundError(f"There is no file, folder or archive {path.name!r}.")


def _in_folder(folder: Path) -> Corpus:
    found = []
    for around, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(around, name)
            if name.lower().endswith(SUFFIXES) and not name.startswith("."):
                found.append(Item(label(path.relative_to(folder).as_posix()), path))
    return Corpus(found, len(found))


def _matching(pattern: Path) -> Corpus:
    """The files that a pattern matches; their names are those below the part of it that is no pattern."""
    parts = pattern.parts
    first = next(number for number, part in enumerate(parts) if glob.has_magic(part))
    folder = Path(*parts[:first])
    paths = sorted(path for path in folder.glob(str(Path(*parts[first:]))) if path.is_file())
    found = [Item(label(path.relative_to(folder).as_posix()), path) for path in paths]
    return Corpus(found, len(found))


def _of_column(column: Any) -> Corpus:
    contents = column.to_list()
    if all(isinstance(it, str | os.PathLike) for it in contents):
        return _of_paths(contents)
    return _of_pairs(list(zip(map(str, column.index), contents, strict=True)))


def _of_paths(paths: Iterable[str | os.PathLike[str]]) -> Corpus:
    """Names are the paths as given; where one is absolute, what they have in common is left out of all of them."""
    found = [Path(path) for path in paths]
    names = [path.as_posix() for path in found]
    if any(path.is_absolute() for path in found):
        around = os.path.commonpath([path.absolute().parent for path in found])
        names = [path.absolute().relative_to(around).as_posix() for path in found]
    return Corpus([Item(label(name), path) for name, path in zip(names, found, strict=True)], len(found))


def _of_pairs(pairs: Sequence[Any]) -> Corpus:
    return Corpus([_item(pair) for pair in pairs], len(pairs))


def _item(given: Any) -> Item:
    match given:
        case str() | os.PathLike():
            return Item(label(Path(given).name if Path(given).is_absolute() else Path(given).as_posix()), Path(given))
        case (str() as name, bytes() | bytearray() | memoryview() as data):
            return Item(label(name), bytes(data))
        case (str() as name, str() | os.PathLike() as path):
            return Item(label(name), Path(path))
        case (str() as name, _):  # an empty cell of a table, perhaps
            return Item(label(name), FileNotReadable(reason="neither a path nor bytes"))
    raise TypeError(f"Expected a path or a pair of name and bytes, not {type(given).__name__}.")


def label(name: str) -> str:
    """A name that can be written down: bytes that are no UTF-8, which a file system may have, as \\xNN."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def content_of(item: Item) -> bytes:
    """The bytes of a file.

    Raises:
        UnreadableDocument: they cannot be had, or are too many.
    """
    content = item.content
    if isinstance(content, UnreadableDocument):
        raise content
    if isinstance(content, bytes):
        return xml.source_bytes(content)[0]
    if not isinstance(content, Path):
        raise TypeError("The file is judged already.")
    try:
        if content.exists() and not content.is_file():  # a pipe would keep its reader waiting
            raise FileNotReadable(reason="no regular file")
        return xml.source_bytes(content)[0]
    except (OSError, ValueError) as error:
        raise FileNotReadable(reason=getattr(error, "strerror", None) or "not a path") from error
