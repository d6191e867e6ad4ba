"""Location of the rule data: the folder that is shipped with einvoice, and rule sets that are added to it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, Final

_PACKAGE = Path(__file__).resolve().parent


@cache
def rules_folder() -> Path:
    """Return the folder of the shipped rule data.

    A wheel has `rules/` inside the package, a checkout beside it.

    Raises:
        FileNotFoundError: the installation is incomplete.
    """
    candidates = (_PACKAGE / "rules", _PACKAGE.parent / "rules")
    for folder in candidates:
        if folder.is_dir():
            return folder
    expected = " or ".join(str(folder) for folder in candidates)
    raise FileNotFoundError(f"The rule data of einvoice is missing, expected at {expected}. Install the package again.")


def samples() -> Path:
    """Return the folder of the sample invoices: fictitious, valid in UBL and CII, and one with a wrong total.

    results = einvoice.validate_many(einvoice.samples())
    """
    return _PACKAGE / "sample_invoices"


MANIFEST: Final = "manifest.json"
"""Describes what was added or imported, in a folder of its own."""
MANIFEST_RELEASES: Final = "releases"
"""Key of its releases of shipped rule sets."""
_IMPORTED: Final = b'"kind": "imported"'


def user_folder() -> Path:
    """Return the folder of the sheets that the user has added or imported; it may not exist.

    It is $EINVOICE_RULES_DIR, by default `einvoice/rules` in the user's data folder (XDG).
    """
    return Path(_user_folder(os.environ.get("EINVOICE_RULES_DIR"), os.environ.get("XDG_DATA_HOME")))


@cache
def _user_folder(configured: str | None, home: str | None) -> str:
    data = Path(home) if home else Path.home() / ".local" / "share"
    return configured or str(data / "einvoice" / "rules")


def imported_manifests() -> tuple[bytes, ...]:
    """Return the manifests of the imported sheets. Asked for each document: the folder is read when it has changed."""
    path = _user_folder(os.environ.get("EINVOICE_RULES_DIR"), os.environ.get("XDG_DATA_HOME"))
    try:
        return _imported_manifests(path, os.stat(path).st_mtime_ns)  # noqa: PTH116 (faster)
    except OSError:
        return ()


@lru_cache(maxsize=8)
def _imported_manifests(path: str, modified: int) -> tuple[bytes, ...]:
    found = (it.read_bytes() for it in sorted(Path(path).glob(f"[!.]*/{MANIFEST}")))
    return tuple(it for it in found if _IMPORTED in it)


class RuleData:
    """The folders of the rule data. Instances are compared by identity, so that they are cheap cache keys.

    Args:
        root: folder with a subfolder for each rule set, and with the data that all of them share.
        added: folders of further rule sets, by name; one with the name of a rule set in `root` replaces it.
        manifests: the manifests of imported sheets that contain releases of the rule sets.
    """

    def __init__(self, root: Path, added: Mapping[str, Path] | None = None, manifests: tuple[bytes, ...] = ()) -> None:
        self.root = root
        self.added: Mapping[str, Path] = added or {}
        self.manifests = manifests

    def __reduce__(self) -> tuple[Any, ...]:
        if self.added or self.manifests:
            return (_restored, (self.root, tuple(self.added.items()), self.manifests))
        return (shipped, ())

    def __repr__(self) -> str:
        return f"<RuleData {', '.join(self.sets)}>"

    @cached_property
    def sets(self) -> Mapping[str, Path]:
        """The folder of each rule set, by name."""
        folders = {path.name: path for path in sorted(self.root.iterdir()) if (path / "ruleset.toml").exists()}
        return {**folders, **self.added}

    def files(self, name: str) -> Iterator[Path]:
        """Yield the files with this name or pattern in the root folder and in each rule set."""
        for folder in (self.root, *self.sets.values()):
            if "*" in name:
                yield from sorted(folder.glob(name))
            elif (folder / name).exists():  # faster
                yield folder / name


@lru_cache(maxsize=16)
def _restored(root: Path, added: tuple[tuple[str, Path], ...], manifests: tuple[bytes, ...]) -> RuleData:
    """Return rule data that another process has sent, once for all of its documents."""
    return RuleData(root, dict(added), manifests)


@cache
def shipped() -> RuleData:
    """Return the rule data that is shipped with einvoice."""
    return RuleData(rules_folder())
