"""Sources of bulk validation: paths, folder, glob pattern, table column, archive, pairs of name and bytes."""

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
    """A file to validate: its name in the results, and its bytes, path, error, or existing row."""

    name: str
    content: Content


class Corpus(NamedTuple):
    """Files to validate, in their order; `size` is None if unknown in advance."""

    items: Iterable[Item]
    size: int | None = None

    def find(self, name: str) -> Item:
        """Return the first file with this name.

        Raises:
            LookupError: there is no such file, or the source was an iterator.
        """
        if not isinstance(self.items, Iterator):
            for item in self.items:
                if item.name == name:
                    return item
        raise LookupError(f"the source of {name!r} is no longer available; pass its content: result(name, content)")


class _ArchiveItems:
    """Re-iterable items of an archive."""

    def __init__(self, unpack: Any, path: Path) -> None:
        self._unpack = unpack
        self._path = path

    def __iter__(self) -> Iterator[Item]:
        return (Item(name, content) for name, content in self._unpack(self._path))


def corpus(source: Any) -> Corpus:
    """Return the files of a `source`; see `einvoice.validate_many`.

    Raises:
        FileNotFoundError: the folder or archive does not exist.
        TypeError: the type of `source` is not supported.
    """
    if isinstance(source, str | os.PathLike):
        return _of_path(Path(source))
    if isinstance(source, Mapping):
        return _of_pairs(list(source.items()))
    if hasattr(source, "columns"):
        raise TypeError("argument 'source' must be the column with the paths, such as table['path'], not the table")
    if isinstance(source, bytes | bytearray | memoryview) or not isinstance(source, Iterable):
        supported = "paths, a folder, an archive or pairs of name and bytes"
        raise TypeError(f"argument 'source' must be {supported}, not {type(source).__name__}")
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
            is_zip = kind == "zip"
            return Corpus(_ArchiveItems(zip_items if is_zip else tar_items, path), zip_size(path) if is_zip else None)
        return Corpus([Item(label(path.name), path)], 1)
    if glob.has_magic(str(path)):
        return _matching(path)
    raise FileNotFoundError(f"no such file, folder or archive: {path.name!r}")


def _in_folder(folder: Path) -> Corpus:
    items = []
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(parent, name)
            if name.lower().endswith(SUFFIXES) and not name.startswith("."):
                items.append(Item(label(path.relative_to(folder).as_posix()), path))
    return Corpus(items, len(items))


def _matching(pattern: Path) -> Corpus:
    """Return the files that match a pattern, named relative to its fixed part."""
    parts = pattern.parts
    first = next(number for number, part in enumerate(parts) if glob.has_magic(part))
    folder = Path(*parts[:first])
    paths = sorted(path for path in folder.glob(str(Path(*parts[first:]))) if path.is_file())
    items = [Item(label(path.relative_to(folder).as_posix()), path) for path in paths]
    return Corpus(items, len(items))


def _of_column(column: Any) -> Corpus:
    contents = column.to_list()
    if all(isinstance(it, str | os.PathLike) for it in contents):
        return _of_paths(contents)
    return _of_pairs(list(zip(map(str, column.index), contents, strict=True)))


def _of_paths(paths: Iterable[str | os.PathLike[str]]) -> Corpus:
    """Return the files, named by their paths as given, or relative to the common folder if any path is absolute."""
    files = [Path(path) for path in paths]
    names = [path.as_posix() for path in files]
    if any(path.is_absolute() for path in files):
        common = os.path.commonpath([path.absolute().parent for path in files])
        names = [path.absolute().relative_to(common).as_posix() for path in files]
    return Corpus([Item(label(name), path) for name, path in zip(names, files, strict=True)], len(files))


def _of_pairs(pairs: Sequence[Any]) -> Corpus:
    return Corpus([_item(pair) for pair in pairs], len(pairs))


def _item(value: Any) -> Item:
    match value:
        case str() | os.PathLike():
            return _path_item(Path(value))
        case (str() as name, bytes() | bytearray() | memoryview() as data):
            return Item(label(name), bytes(data))
        case (str() as name, str() | os.PathLike() as path):
            return Item(label(name), Path(path))
        case (str() as name, _):  # such as an empty cell of a table
            return Item(label(name), FileNotReadable(reason="neither a path nor bytes"))
    raise TypeError(f"expected a path or a pair of name and bytes, not {type(value).__name__}")


def _path_item(path: Path) -> Item:
    return Item(label(path.name if path.is_absolute() else path.as_posix()), path)


def label(name: str) -> str:
    """Return a printable name: bytes of a filename that are not UTF-8 become \\xNN."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def content_of(item: Item) -> bytes:
    """Return the bytes of a file.

    Raises:
        UnreadableDocument: the file cannot be read or is too large.
    """
    content = item.content
    if isinstance(content, UnreadableDocument):
        raise content
    if isinstance(content, bytes):
        return xml.source_bytes(content)[0]
    if not isinstance(content, Path):
        raise TypeError("the file has been validated already")
    try:
        if content.exists() and not content.is_file():  # reading a pipe could block
            raise FileNotReadable(reason="not a regular file")
        return xml.source_bytes(content)[0]
    except (OSError, ValueError) as error:
        raise FileNotReadable(reason=getattr(error, "strerror", None) or "not a path") from error
