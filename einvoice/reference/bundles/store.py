"""What was added: kept in a folder of the user's, each configuration in one of its own with a manifest.

The folder is `$EINVOICE_RULES_DIR`, else `einvoice/rules` in the user's data folder (XDG Base Directory).

    NAME/manifest.json    what `Configuration.to_plain` says
    NAME/files/           the files, as they came
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from einvoice.errors import quote
from einvoice.reference.bundles.configuration import BUNDLED, Configuration
from einvoice.reference.bundles.errors import BundleRejected

_MANIFEST: Final = "manifest.json"
_FILES: Final = "files"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def folder() -> Path:
    """The folder of all that was added; it need not be there."""
    chosen = os.environ.get("EINVOICE_RULES_DIR")
    if chosen:
        return Path(chosen)
    home = os.environ.get("XDG_DATA_HOME")
    return (Path(home) if home else Path.home() / ".local" / "share") / "einvoice" / "rules"


def configurations() -> tuple[Configuration, ...]:
    """What was added, the newest first; what cannot be read is passed over."""
    found = []
    for manifest in folder().glob(f"*/{_MANIFEST}"):
        if not _NAME.fullmatch(manifest.parent.name):  # about to come, or to go
            continue
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            found.append(_read(manifest))
    return tuple(sorted(found, key=lambda it: (it.added, it.name), reverse=True))


def remove(name: str) -> None:
    """Remove what was added under a name.

    Raises:
        BundleRejected: there is nothing of that name, or its folder cannot be written.
    """
    if not _NAME.fullmatch(name) or not (folder() / name / _MANIFEST).is_file():
        raise BundleRejected("unknown", name=quote(name, limit=64))
    with _written():
        _discard(folder() / name)


def check_name(name: str, replace: bool) -> None:
    """See to it that something can be added under a name.

    Raises:
        BundleRejected: it is no name, or taken, or that of what is bundled.
    """
    if not _NAME.fullmatch(name):
        raise BundleRejected("name", name=quote(name, limit=64))
    if name == BUNDLED:
        raise BundleRejected("reserved", name=name)
    if not replace and (folder() / name).exists():
        raise BundleRejected("taken", name=name)


@contextlib.contextmanager
def workshop() -> Iterator[Path]:
    """An empty folder for the files of what is about to be added; `keep` takes it over, else it goes.

    Raises:
        BundleRejected: the folder for all that was added cannot be written.
    """
    with _written():
        folder().mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=".new-", dir=folder()))
        (made / _FILES).mkdir()
    try:
        with _written():
            yield made / _FILES
    finally:
        shutil.rmtree(made, ignore_errors=True)


def keep(configuration: Configuration) -> Configuration:
    """Make a configuration, whose files are in a workshop, one of those that were added; in place of another."""
    made = configuration.folder.parent
    place = folder() / configuration.name
    with _written():
        (made / _MANIFEST).write_text(json.dumps(configuration.to_plain(), ensure_ascii=False, indent=1), "utf-8")
        made.chmod(0o755)
        if place.exists():
            _discard(place)
        made.rename(place)
    return _read(place / _MANIFEST)


def now() -> str:
    """The time of adding, in ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _read(manifest: Path) -> Configuration:
    told = {**json.loads(manifest.read_bytes()), "name": manifest.parent.name}
    return Configuration.from_plain(told, manifest.parent / _FILES)


def _discard(place: Path) -> None:
    """Let a folder vanish at once, and then file by file."""
    gone = Path(tempfile.mkdtemp(prefix=".old-", dir=folder()))
    place.rename(gone / "it")
    shutil.rmtree(gone, ignore_errors=True)


@contextlib.contextmanager
def _written() -> Iterator[None]:
    try:
        yield
    except ChildProcessError:  # that is no matter of the folder
        raise
    except OSError as error:
        raise BundleRejected("not_kept", folder=str(folder()), reason=str(error.strerror)) from None
