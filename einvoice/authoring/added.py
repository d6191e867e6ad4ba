"""Rule sets that a user adds to those of einvoice: a folder or an archive, checked before use.

A folder holds rule sets as `rules` does: a folder with a `ruleset.toml` each, or the rule set itself. An archive
(zip) holds the same. Only data is read: TOML, CSV and Markdown files of limited size and number, and no symbolic links.

A rule set with the name of one that is shipped is a newer release of it. It must contain all its releases and state the
SHA-256 of its files as `sha256sum` writes it: a folder in a file `SHA256SUMS`, an archive in a file with the same
name and `.sha256`.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Final

from einvoice.errors import RuleError
from einvoice.quotation import quote
from einvoice.resources import MANIFEST_RELEASES, RuleData, imported_manifests, shipped
from einvoice.rulebook import cache
from einvoice.rulebook.files.versions import RuleSet, read_rulesets
from einvoice.rulebook.releases import Release, releases

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

ENVIRONMENT: Final = "EINVOICE_RULES_DIR"
"""Environment variable for a folder of added rule sets; it can also hold official Schematron rules."""
COPY: Final = "EINVOICE_RULES_COPY"
"""Environment variable for the copy that `copy_rules` made; the rule sets are read from there instead."""
MAX_FILE_BYTES: Final = 1 << 20
MAX_TOTAL_BYTES: Final = 8 << 20
MAX_FILES: Final = 2000
_SUFFIXES: Final = (".toml", ".csv", ".md")
_SUMS: Final = "SHA256SUMS"
_NAME: Final = r"[a-z][a-z0-9-]{0,39}"
_SUM_LINE: Final = r"([0-9a-f]{64}) [ *](.+)"
_RELEASES: Final = f'"{MANIFEST_RELEASES}": [\n'.encode()
"""What a manifest with releases contains; that of other imports has an empty list."""
_RESERVED: Final = ("file", "schema", "pdf", "syntax", "codelists")


def rule_data(path: str | Path | None = None) -> RuleData:
    """Return the rule data with the rule sets of a folder or archive, and with the releases that were imported.

    Args:
        path: the folder or archive. None is the folder that the environment variable EINVOICE_RULES_DIR names, which
            may hold no rule sets.

    Raises:
        RuleError: a file is invalid; the message names file, line, key and a correction.
        FileNotFoundError: there is no such folder or archive.
    """
    if path is None:
        configured = os.environ.get(COPY) or os.environ.get(ENVIRONMENT, "")
        return _with_imports(_of_environment(configured) if configured else shipped(), imported_manifests())
    resolved = Path(path).resolve()
    return _with_imports(_loaded(resolved, _state(resolved)), imported_manifests())


@functools.lru_cache(maxsize=16)
def _with_imports(data: RuleData, manifests: tuple[bytes, ...]) -> RuleData:
    """Return rule data with the manifests that have releases."""
    with_releases = tuple(it for it in manifests if _RELEASES in it)
    return RuleData(data.root, data.added, with_releases) if with_releases else data


def copy_rules(target: Path) -> None:
    """Copy the rule sets of the environment into an empty folder, for processes of a service that start later.

    They apply the same rules, whatever happened to the files in the meantime, if the environment variable
    EINVOICE_RULES_COPY names the folder.

    Args:
        target: the folder.

    Raises:
        RuleError: a rule file is invalid.
    """
    for name, folder in rule_data().added.items():
        copy = target / name
        shutil.copytree(folder, copy)
        if not (copy / _SUMS).exists():  # the SHA-256 of an archive has been verified
            files = list(_walk(copy))
            sums = [f"{_sha256(it.read_bytes())}  {it.relative_to(copy).as_posix()}" for it in files]
            (copy / _SUMS).write_text("\n".join((*sums, "")), "utf-8")


def rule_sets(rules: str | Path | None = None) -> tuple[Release, ...]:
    """Return all releases that `einvoice.validate` accepts as `ruleset`, those of XRechnung first.

    Args:
        rules: folder or archive of added rule sets, as in `einvoice.validate`.

    Raises:
        RuleError: an added rule file is invalid.
    """
    return releases(rule_data(rules)).all()


@functools.cache
def _of_environment(path: str) -> RuleData:
    """Return the rule data of the environment. It is read once, since a service must not change its rules unnoticed."""
    folder = Path(path).resolve()
    return _loaded(folder, _state(folder)) if any(_sources(folder)) else shipped()


@functools.lru_cache(maxsize=16)
def _loaded(path: Path, state: tuple[tuple[str, int, int], ...]) -> RuleData:
    data = open_rules(path)
    key = cache.key("added", *(f"{name} {digest(folder)}" for name, folder in data.added.items()))
    if cache.load("added", key) is None:
        from einvoice.authoring.check_added import check_added  # imported on use: it needs the compiler

        for error in check_added(data):
            raise error
        cache.store("added", key, True)
    return data


def _state(path: Path) -> tuple[tuple[str, int, int], ...]:
    """Return names, times and sizes of the files, to notice changes; at most one more than is allowed."""
    found = [path] if path.is_file() else _walk(path)
    state: list[tuple[str, int, int]] = []
    for file in found:
        status = file.lstat()
        state.append((str(file), status.st_mtime_ns, status.st_size))
        if len(state) > MAX_FILES:
            break
    return tuple(state)


def _walk(folder: Path) -> Iterator[Path]:
    """Yield the files and symbolic links of a folder, in order; links to folders are not followed."""
    for home, folders, files in os.walk(folder):
        folders.sort()
        yield from (Path(home, name) for name in sorted(files))
        yield from (Path(home, name) for name in folders if Path(home, name).is_symlink())


def open_rules(path: Path) -> RuleData:
    """Return the rule data with the rule sets of a folder or archive; check files, names and releases, but no rules.

    Raises:
        RuleError: a file is invalid.
        FileNotFoundError: there is no such folder or archive.
    """
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist; give a folder or archive of rule sets")
    folders: dict[str, Path] = {}
    for folder, name, is_verified in _sources(path):
        if name in folders:
            raise RuleError(f"the rule set '{name}' occurs twice", file=path.name, hint="remove one of them")
        _check_name(name)
        if folder.is_symlink():
            raise RuleError("is a symbolic link", file=name, hint="replace the link by the folder")
        _check_files(folder, name)
        has_sums = (folder / _SUMS).exists()
        if has_sums:
            _check_sums(folder, name)
        if name in shipped().sets and not (has_sums or is_verified):
            hint = f"choose another name, or state the SHA-256 of a newer release of '{name}' in {_SUMS}"
            raise RuleError(f"'{name}' is the name of a rule set of einvoice", file=f"{name}/ruleset.toml", hint=hint)
        folders[name] = folder
    if not folders:
        hint = "each rule set is a folder with a ruleset.toml"
        raise RuleError("contains no rule set", file=path.name, hint=hint)
    data = RuleData(shipped().root, folders)
    _check_releases(read_rulesets(data.sets), data)
    return data


def digest(folder: Path) -> str:
    """Return the SHA-256 of the names and contents of all files of a rule set, in hexadecimal digits."""
    parts = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            parts += [f"{path.relative_to(folder).as_posix()} {len(content)}\n".encode(), content]
    return _sha256(b"".join(parts))


def _sha256(content: bytes) -> str:
    import hashlib  # imported on use: it takes longer than a validation, and most have no added rule sets

    return hashlib.sha256(content).hexdigest()


def _sources(path: Path) -> Iterator[tuple[Path, str, bool]]:
    """Yield the rule sets of a folder or archive: folder, name, and whether its SHA-256 was stated and verified."""
    if path.is_file():
        is_verified = _verify(path)
        yield from ((folder, name, is_verified) for folder, name, _ in _sources(_unpacked(path)))
    elif (path / "ruleset.toml").exists():
        yield path, path.name, False
    elif path.is_dir():
        for entry in sorted(path.iterdir()):
            if (entry / "ruleset.toml").exists():
                yield entry, entry.name, False
            elif entry.suffix == ".zip" and _has_rule_set(entry):
                yield from _sources(entry)


def _has_rule_set(archive: Path) -> bool:
    """Return whether an archive in a folder holds a rule set; official Schematron may lie beside it."""
    import zipfile

    try:
        with zipfile.ZipFile(archive) as file:
            return any(name.rpartition("/")[2] == "ruleset.toml" for name in file.namelist())
    except (OSError, zipfile.BadZipFile):
        return False


def _verify(archive: Path) -> bool:
    """Return whether the SHA-256 of an archive is stated beside it; raise `RuleError` if it differs."""
    beside = archive.with_name(f"{archive.name}.sha256")
    if archive.stat().st_size > MAX_TOTAL_BYTES:
        raise RuleError(f"is larger than {MAX_TOTAL_BYTES >> 20} MiB", file=archive.name)
    if not beside.exists():
        return False
    stated = beside.read_text("ascii", "replace").split()
    if not stated or stated[0].lower() != _sha256(archive.read_bytes()):
        raise RuleError("the SHA-256 differs from the one stated", file=archive.name, hint=f"see {beside.name}")
    return True


def _unpacked(archive: Path) -> Path:
    """Unpack an archive into a temporary folder of this process, within the limits."""
    import zipfile  # imported on use: few rule sets are archives

    target = Path(_temporary_folder(), _sha256(archive.read_bytes()), archive.stem)
    try:
        with zipfile.ZipFile(archive) as file:
            members = [member for member in file.infolist() if not member.is_dir()]
            if len(members) > MAX_FILES:
                raise RuleError(f"has more than {MAX_FILES} files", file=archive.name)
            total = 0
            for member in members:
                name = PureWindowsPath(member.filename)  # on any system, also "/name" and "C:name" are outside
                if name.anchor or ".." in name.parts or "\\" in member.filename:
                    raise RuleError(f"has the file {quote(member.filename)} outside of its folder", file=archive.name)
                with file.open(member) as source:
                    content = source.read(MAX_FILE_BYTES + 1)
                total += len(content)
                if total > MAX_TOTAL_BYTES:
                    raise RuleError(f"is larger than {MAX_TOTAL_BYTES >> 20} MiB unpacked", file=archive.name)
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                (target / name).write_bytes(content)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError) as error:
        raise RuleError(f"is not a readable zip archive: {error}", file=archive.name) from None
    return target


@functools.cache
def _temporary_folder() -> str:
    import tempfile

    folder = tempfile.TemporaryDirectory(prefix="einvoice-rules-")
    _KEPT.append(folder)  # removed at the end of the process
    return folder.name


_KEPT: Final[list[TemporaryDirectory[str]]] = []


def _check_name(name: str) -> None:
    if not re.fullmatch(_NAME, name) or name in _RESERVED:
        hint = "use lower case letters, digits and hyphens, beginning with a letter; at most 40 characters"
        raise RuleError(f"{quote(name)} is not a valid name of a rule set", file=name, hint=hint)


def _check_files(folder: Path, name: str) -> None:
    """Check number, size, type and encoding of the files of a rule set; raise `RuleError` for an invalid one."""
    total = 0
    for number, path in enumerate(_walk(folder), 1):
        file = f"{name}/{path.relative_to(folder).as_posix()}"
        if path.is_symlink() or not path.is_file():
            raise RuleError("is not a regular file", file=file, hint="replace the link by the file")
        if path.suffix not in _SUFFIXES and path.name != _SUMS:
            raise RuleError(
                "is no file of a rule set", file=file, hint=f"remove it; allowed are {', '.join(_SUFFIXES)}"
            )
        size = path.stat().st_size
        total += size
        if size > MAX_FILE_BYTES:
            raise RuleError(f"is larger than {MAX_FILE_BYTES >> 20} MiB", file=file)
        if total > MAX_TOTAL_BYTES:
            raise RuleError(f"the rule set is larger than {MAX_TOTAL_BYTES >> 20} MiB", file=file)
        if number > MAX_FILES:
            raise RuleError(f"the rule set has more than {MAX_FILES} files", file=name)
        try:
            path.read_bytes().decode("utf-8")
        except UnicodeDecodeError as error:
            line = path.read_bytes()[: error.start].count(b"\n") + 1
            raise RuleError("is not UTF-8", file=file, line=line, hint="save the file as UTF-8") from None


def _check_sums(folder: Path, name: str) -> None:
    """Compare the files with `SHA256SUMS`; raise `RuleError` for one that differs or is not listed."""
    file = f"{name}/{_SUMS}"
    stated: dict[str, str] = {}
    for number, line in enumerate((folder / _SUMS).read_text("utf-8").splitlines(), 1):
        match = re.fullmatch(_SUM_LINE, line)
        if match is None:
            hint = "write it with: sha256sum FILE …"
            raise RuleError("is not a line of sha256sum", file=file, line=number, hint=hint)
        stated[match[2].removeprefix("./")] = match[1]
    present = {path.relative_to(folder).as_posix(): path for path in _walk(folder) if path.name != _SUMS}
    for path in sorted(stated.keys() ^ present.keys()):
        raise RuleError(f"{'does not list' if path in present else 'lists the missing file'} {quote(path)}", file=file)
    for path, expected in stated.items():
        if _sha256(present[path].read_bytes()) != expected:
            raise RuleError("the SHA-256 differs from the one stated", file=f"{name}/{path}", hint=f"see {_SUMS}")


def _check_releases(sets: Mapping[str, RuleSet], data: RuleData) -> None:
    """Check that a newer release of a shipped rule set keeps its identity and all its releases."""
    known = read_rulesets(shipped().sets)
    for name in data.added:
        if name not in known:
            continue
        file = f"{name}/ruleset.toml"
        for key in ("kind", "base"):
            if getattr(sets[name], key) != getattr(known[name], key):
                raise RuleError(f"differs from that of the shipped rule set '{name}'", file=file, key=key)
        before = [version.name for version in known[name].versions]
        after = [version.name for version in sets[name].versions]
        if after[: len(before)] != before:
            hint = f"the list begins with {', '.join(before)}"
            raise RuleError("must keep the releases of the shipped rule set", file=file, key="versions", hint=hint)
