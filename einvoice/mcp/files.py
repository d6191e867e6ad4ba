"""The files that the server may use: those below the folders that are named at its start."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from einvoice.quotation import quote


class Refused(ValueError):  # noqa: N818 (names the state)
    """An argument cannot be used; the message says why, and what to do."""


class Folders:
    """The folders.

    Args:
        folders: existing folders; relative paths are below the first one.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = [folder.resolve(strict=True) for folder in folders]

    def existing(self, path: str) -> Path:
        """Return a file to read.

        Raises:
            Refused: it is not below the folders, or is no file.
        """
        found = self._below(path)
        if not found.is_file():
            raise Refused(f"There is no file {quote(path)} below {self._named()}.")
        return found

    def new(self, path: str) -> Path:
        """Return a file to write.

        Raises:
            Refused: it is not below the folders, its folder does not exist, or it exists already.
        """
        found = self._below(path)
        if found.exists():
            raise Refused(f"The file {quote(path)} exists already; choose another name.")
        if not found.parent.is_dir():
            raise Refused(f"The folder of {quote(path)} does not exist.")
        return found

    def _below(self, path: str) -> Path:
        if not self._folders:
            raise Refused(
                "No folder was named when the server was started: einvoice mcp FOLDER. Give the content instead."
            )
        try:
            found = (self._folders[0] / path).resolve()  # also follows links
            found.exists()
        except (OSError, ValueError):  # too long, or with characters that no name has
            raise Refused(f"{quote(path, limit=100)} is no valid path.") from None
        if not any(found.is_relative_to(folder) for folder in self._folders):
            raise Refused(f"The file {quote(path)} is not below {self._named()}.")
        return found

    def _named(self) -> str:
        return " or ".join(map(str, self._folders))
