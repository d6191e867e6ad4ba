"""Sources of bulk validation: paths, folder, glob pattern, table column, archive, pairs of name and bytes."""

from __future__ import annotations

import glob
import os
import stat
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

from einvoice.bulk.files.archive import SUFFIXES, is_archive, tar_items, zip_items, zip_size
from einvoice.bulk.files.items import Contents, Item, Items
from einvoice.bulk.files.names import leading_folders
from einvoice.errors import FileNotReadable, UnreadableDocument
from einvoice.syntax import xml

_READ: Final = os.O_RDONLY | getattr(os, "O_BINARY", 0)  # Windows would convert line endings


class Corpus(NamedTuple):
    """Files to validate, in their order; `size` is None if unknown in advance."""

    items: Iterable[Item]
    size: int | None = None

    def named_as(self, names: Collection[str]) -> Corpus:
        """Return the same files, named relative to the same folder as `names`."""
        own = list(self.items.names()) if isinstance(self.items, Items) else [item.name for item in self.items]
        surplus, missing = len(leading_folders(own, names)), leading_folders(names, own)
        if not surplus and not missing:
            return self
        return Corpus(_RenamedItems(self.items, surplus, missing), self.size)

    def find(self, name: str) -> Item:
        """Return the first file with this name.

        Raises:
            LookupError: there is no such file, or the source was an iterator of pairs.
        """
        found: Item | None
        if isinstance(self.items, Items):
            found = self.items.find(name)
        else:
            found = next((item for item in self.items if item.name == name), None)
        if found is not None:
            return found
        raise LookupError(f"the source of {name!r} is no longer available; pass its content: result(name, content)")


class _ArchiveItems:
    """Re-iterable items of an archive."""

    def __init__(self, unpack: Any, path: Path) -> None:
        self._unpack = unpack
        self._path = path

    def __iter__(self) -> Iterator[Item]:
        return _distinct(Item(name, content) for name, content in self._unpack(self._path))


class _IteratorItems:
    """Items of an iterator. Paths are read at once and kept, since their names depend on all; pairs are read lazily."""

    def __init__(self, values: Iterator[Any]) -> None:
        self._values = values
        self._kept: Iterable[Item] = ()

    def __iter__(self) -> Iterator[Item]:
        values, self._values = self._values, iter(())
        for first in values:
            if not isinstance(first, str | os.PathLike):
                return _distinct(map(_item, chain([first], values)))
            self._kept = _of_values(chain([first], values)).items
        return iter(self._kept)


class _RenamedItems:
    """Re-iterable items without the first characters of their names, and with a prefix."""

    def __init__(self, items: Iterable[Item], surplus: int, prefix: str) -> None:
        self._items = items
        self._surplus = surplus
        self._prefix = prefix

    def __iter__(self) -> Iterator[Item]:
        return (item._replace(name=self._prefix + item.name[self._surplus :]) for item in self._items)


def corpus(source: Any) -> Corpus:
    """Return the files of a `source`; see `einvoice.validate_many`.

    Raises:
        FileNotFoundError: the folder or archive does not exist.
        TypeError: the type of `source` is not supported.
        ValueError: two files have the same name.
    """
    if isinstance(source, Corpus):
        return source
    if isinstance(source, str | os.PathLike):
        return _of_path(Path(source))
    if isinstance(source, Mapping):
        return _of_values(source.items())
    if hasattr(source, "columns"):
        raise TypeError("argument 'source' must be the column with the paths, such as table['path'], not the table")
    if isinstance(source, bytes | bytearray | memoryview) or not isinstance(source, Iterable):
        supported = "paths, a folder, an archive or pairs of name and bytes"
        raise TypeError(f"argument 'source' must be {supported}, not {type(source).__name__}")
    if hasattr(source, "to_list") and hasattr(source, "index"):  # a column of pandas
        return _of_column(source)
    return _of_values(source) if isinstance(source, Sequence) else Corpus(_IteratorItems(iter(source)))


def check_names(found: Corpus, names: Collection[str], source: Any) -> None:
    """Raise ValueError if no file has one of these names; `source` is what the caller gave.

    Those of an archive are not known before it is unpacked.
    """
    if not names or not isinstance(found.items, Items):
        return
    first = next(found.items.names(), "")
    if not any(name in names for name in found.items.names()):
        what = f"they have {first!r}" if first else "there are none"
        raise ValueError(f"no file of {str(source)!r} is in the results: {what}, the results {next(iter(names))!r}")


def joined(first: Corpus, second: Corpus) -> Corpus:
    """Return the files of both."""
    if isinstance(first.items, Items) and isinstance(second.items, Items):
        items = Items(chain(first.items, second.items))
        return Corpus(items, len(items))
    return Corpus(_Joined(first.items, second.items))


class _Joined:
    """Re-iterable items of several sources."""

    def __init__(self, *parts: Iterable[Item]) -> None:
        self._parts = parts

    def __iter__(self) -> Iterator[Item]:
        return chain.from_iterable(self._parts)


def no_files(source: Any) -> FileNotFoundError:
    """Return the error for a source without files."""
    place = f" in {str(source)!r}" if isinstance(source, str | Path) else ""
    hint = "; folders and archives are searched for .xml and .pdf files" if place else ""
    return FileNotFoundError(f"no files to validate{place}{hint}; allow_empty=True accepts that")


def _of_path(path: Path) -> Corpus:
    if path.is_dir():
        return _in_folder(path)
    if path.is_file():
        if kind := is_archive(path):
            is_zip = kind == "zip"
            return Corpus(_ArchiveItems(zip_items if is_zip else tar_items, path), zip_size(path) if is_zip else None)
        return _of_values([path])
    if glob.has_magic(str(path)):
        return _matching(path)
    raise FileNotFoundError(f"no such file, folder or archive: {str(path)!r}")


def _in_folder(folder: Path) -> Corpus:
    items = Items(_items_in(folder))
    return Corpus(items, len(items))


def _items_in(folder: Path) -> Iterator[Item]:
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        relative = Path(parent).relative_to(folder).as_posix()
        prefix = "" if relative == "." else f"{relative}/"
        for name in sorted(files):
            if name.lower().endswith(SUFFIXES) and not name.startswith("."):
                yield Item(label(prefix + name), os.path.join(parent, name))  # noqa: PTH118 (a Path takes longer)


def _matching(pattern: Path) -> Corpus:
    """Return the files that match a pattern, named relative to its fixed part."""
    parts = pattern.parts
    first = next(number for number, part in enumerate(parts) if glob.has_magic(part))
    folder = Path(*parts[:first])
    paths = sorted(path for path in folder.glob(str(Path(*parts[first:]))) if path.is_file())
    items = Items(Item(label(path.relative_to(folder).as_posix()), str(path)) for path in paths)
    return Corpus(items, len(items))


def _of_column(column: Any) -> Corpus:
    contents = column.to_list()
    if all(isinstance(it, str | os.PathLike) for it in contents):
        return _of_values(contents)
    return _of_values(zip(map(str, column.index), contents, strict=True))


def _of_values(values: Iterable[Any]) -> Corpus:
    """Return the files of paths and of pairs; paths are named relative to their common folder.

    Raises:
        ValueError: two files have the same name.
    """
    contents, folder = Contents(), _CommonFolder()
    given: dict[int, str] = {}  # names of pairs, by position
    for value in values:
        if isinstance(value, str | os.PathLike):
            for path in _expanded(str(value if isinstance(value, Path) else Path(value))):
                folder.add(path)
                contents.append(path)
        else:
            given[len(contents)], content = _item(value)
            contents.append(content)
    names = (
        folder.relative(content) if isinstance(content, str) and position not in given else given[position]
        for position, content in enumerate(contents)
    )
    items = Items.of(_once(names), contents)
    return Corpus(items, len(items))


def _expanded(path: str) -> Iterator[str]:
    """Yield a path, or of a folder the paths of its files."""
    if path.lower().endswith(SUFFIXES) or not os.path.isdir(path):  # noqa: PTH112 (a Path takes longer)
        yield path
        return
    for item in _items_in(Path(path)):
        yield str(item.content)


def _once(names: Iterable[str]) -> Iterator[str]:
    """Yield the names.

    Raises:
        ValueError: a name is repeated.
    """
    known: set[str] = set()
    for name in names:
        if name in known:
            raise ValueError(f"two files have the name {name!r}; pass each file once, or pairs of name and path")
        known.add(name)
        yield name


class _CommonFolder:
    """The folder that all paths have in common. It is determined path by path, so that none needs to be kept."""

    def __init__(self) -> None:
        self._folder: str | None = None
        self._parent = ""  # of the last path: neighbours usually have the same
        self._exists = True

    def add(self, path: str) -> None:
        """Take account of a path."""
        parent = _absolute(path).rpartition(os.sep)[0] or os.sep
        if parent == self._parent:
            return
        self._parent = parent
        try:
            self._folder = parent if self._folder is None else os.path.commonpath([self._folder, parent])
        except ValueError:  # paths on different drives
            self._exists = False

    def relative(self, path: str) -> str:
        """Return the printable name of a path, relative to the folder if there is one."""
        file = _absolute(path)
        if self._exists and self._folder:
            file = file[len(self._folder) :].lstrip(os.sep)
        return label(file.replace(os.sep, "/"))


def _absolute(path: str) -> str:
    return os.path.abspath(path)  # noqa: PTH100 (resolve would follow links)


def _distinct(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items; add a number to a name that occurred before, such as "a.xml (2)"."""
    counts: Counter[str] = Counter()
    for item in items:
        counts[item.name] += 1
        name, number = item.name, counts[item.name]
        while number > 1 and (name := f"{item.name} ({number})") in counts:
            number += 1
        counts[name] = counts[name] or 1
        yield item._replace(name=name)


def _item(value: Any) -> Item:
    match value:
        case str() | os.PathLike():
            return Item(label(Path(value).as_posix()), str(Path(value)))
        case (str() as name, bytes() | bytearray() | memoryview() as data):
            return Item(label(name), bytes(data))
        case (str() as name, str() | os.PathLike() as path):
            return Item(label(name), str(Path(path)))
        case (str() as name, _):  # such as an empty cell of a table
            return Item(label(name), FileNotReadable(reason="neither a path nor bytes"))
    raise TypeError(f"expected a path or a pair of name and bytes, not {type(value).__name__}")


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
    if not isinstance(content, str):
        raise TypeError("the file has been validated already")
    try:
        return _read(content)
    except (OSError, ValueError) as error:
        raise FileNotReadable(reason=getattr(error, "strerror", None) or "not a path") from error


def _read(path: str) -> bytes:
    """Return the bytes of a regular file; usually with one call, since its size is known."""
    status = os.stat(path)  # noqa: PTH116 (a Path takes longer)
    if not stat.S_ISREG(status.st_mode):  # reading a pipe could block
        raise FileNotReadable(reason="not a regular file")
    if status.st_size <= xml.DEFAULT.bytes:
        file = os.open(path, _READ)  # a file object takes longer
        try:
            data = os.read(file, status.st_size + 1)
        finally:
            os.close(file)
        if len(data) == status.st_size:
            return data
    return xml.source_bytes(Path(path))[0]  # the file is too large, or its size was wrong
