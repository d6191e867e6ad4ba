"""Replaces a small file as a whole: readers see the old or the new content, never a part."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Hold an exclusive lock on a folder, so that concurrent commands do not undo each other's changes.

    Raises:
        OSError: the folder is missing or not accessible.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def replace_file(path: Path, content: bytes) -> None:
    """Replace the content of a file; a new file gets mode 0600. Mode and owner of an existing file are kept.

    Raises:
        OSError: the file was not changed.
    """
    path = path.resolve()  # replace the target of a symbolic link, not the link
    temporary = path.with_name(f"{path.name}.new")
    temporary.unlink(missing_ok=True)  # left by an interrupted command
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            _copy_permissions(path, file.fileno())
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def _copy_permissions(path: Path, descriptor: int) -> None:
    existing = path.stat() if path.exists() else None
    if existing is not None:
        os.fchmod(descriptor, existing.st_mode & 0o777)
    if os.geteuid() == 0:  # the server, which runs as another user, must still be able to read the file
        owner = existing or path.parent.stat()
        os.fchown(descriptor, owner.st_uid, owner.st_gid)
