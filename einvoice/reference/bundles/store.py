"""Stores added configurations in `$EINVOICE_RULES_DIR`, by default `einvoice/rules` in the user's data folder (XDG).

NAME/manifest.json    output of `Configuration.to_plain`
NAME/files/           the files, unchanged
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from einvoice.quotation import quote
from einvoice.reference.bundles.configuration import BUNDLED, Configuration
from einvoice.reference.bundles.errors import BundleRejected
from einvoice.resources import MANIFEST
from einvoice.resources import user_folder as folder

_FILES: Final = "files"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def configurations() -> tuple[Configuration, ...]:
    """Return the added configurations, newest first; unreadable ones are skipped."""
    found = []
    for manifest in folder().glob(f"*/{MANIFEST}"):
        if not _NAME.fullmatch(manifest.parent.name):  # a temporary folder
            continue
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            found.append(_read(manifest))
    return tuple(sorted(found, key=lambda it: (it.added, it.name), reverse=True))


def remove(name: str) -> None:
    """Remove a configuration by name.

    Raises:
        BundleRejected: there is no such configuration, or its folder cannot be written.
    """
    if not _NAME.fullmatch(name) or not (folder() / name / MANIFEST).is_file():
        raise BundleRejected("unknown", name=quote(name, limit=64))
    with _writing():
        _delete(folder() / name)


def check_name(name: str, replace: bool) -> None:
    """Check that a configuration can be added under a name.

    Raises:
        BundleRejected: the name is invalid, taken or reserved.
    """
    if not _NAME.fullmatch(name):
        raise BundleRejected("name", name=quote(name, limit=64))
    if name == BUNDLED:
        raise BundleRejected("reserved", name=name)
    if not replace and (folder() / name).exists():
        raise BundleRejected("taken", name=name)


@contextlib.contextmanager
def staging_folder() -> Iterator[Path]:
    """Create an empty folder for the files of a new configuration; it is deleted unless `install` takes it over.

    Raises:
        BundleRejected: the folder of all configurations cannot be written.
    """
    with _writing():
        folder().mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=".new-", dir=folder()))
        (staging / _FILES).mkdir()
    try:
        with _writing():
            yield staging / _FILES
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def install(configuration: Configuration) -> Configuration:
    """Move a configuration from its staging folder to its final folder, replacing an existing one."""
    staging = configuration.folder.parent
    target = folder() / configuration.name
    with _writing():
        (staging / MANIFEST).write_text(json.dumps(configuration.to_plain(), ensure_ascii=False, indent=1), "utf-8")
        staging.chmod(0o755)
        if target.exists():
            _delete(target)
        staging.rename(target)
    return _read(target / MANIFEST)


def now() -> str:
    """Return the current time in UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _read(manifest: Path) -> Configuration:
    plain = {**json.loads(manifest.read_bytes()), "name": manifest.parent.name}
    return Configuration.from_plain(plain, manifest.parent / _FILES)


def _delete(target: Path) -> None:
    """Delete a folder; renaming it first makes that atomic for readers."""
    trash = Path(tempfile.mkdtemp(prefix=".old-", dir=folder()))
    target.rename(trash / "content")
    shutil.rmtree(trash, ignore_errors=True)


@contextlib.contextmanager
def _writing() -> Iterator[None]:
    """Turn errors in writing the folder into `BundleRejected`."""
    try:
        yield
    except ChildProcessError:  # an OSError, but not about the folder
        raise
    except OSError as error:
        raise BundleRejected("not_kept", folder=str(folder()), reason=str(error.strerror)) from None
