"""Where artifacts are kept: content under a name, for so long and no longer.

A store is handed names that tell nothing (hashes) and contents that it does not look into. The default one is a file
in the data folder (`appliance.store_file`); Redis (`appliance.store_redis`) lets several replicas share their links.
"""

from pathlib import Path
from typing import Final, Protocol

OFF: Final = "off"
FILE: Final = "file"
REDIS: Final = ("redis://", "rediss://", "unix://")


class StoreError(Exception):
    """The store is full, or cannot be reached; what was asked has not been done."""


class Store(Protocol):
    """Keeps contents until they expire. Any thread may call it, and so may any other process on the same store."""

    def put(self, name: str, content: bytes, seconds: float, *, remembered: float = 0) -> None:
        """Keep `content` for `seconds`, and for `remembered` seconds more that there was one of this name.

        Raises:
            StoreError: it is not kept.
        """
        ...

    def put_at_once(self, name: str, content: bytes, seconds: float, *, remembered: float = 0) -> bool:
        """Keep a small content as `put` does, if that needs no waiting; return whether it did.

        A thread takes longer to get going than a file to take in a few kilobytes. One thread alone may call this.

        Raises:
            StoreError: it is not kept, and would not be by `put`.
        """
        ...

    def get(self, name: str) -> bytes | None:
        """Return the content of this name; None where there is none, or no longer.

        Raises:
            StoreError: nobody can tell.
        """
        ...

    def had(self, name: str) -> bool:
        """Whether there was a content of this name that has expired, as long as that is remembered.

        Raises:
            StoreError: nobody can tell.
        """
        ...

    def clean(self) -> float | None:
        """Erase what has expired; return in how many seconds the next content will, None if none has to be erased.

        Raises:
            StoreError: not everything has been erased.
        """
        ...

    def check(self) -> None:
        """Make sure that contents can be kept and got.

        Raises:
            StoreError: they cannot.
        """
        ...

    def close(self) -> None:
        """Let go of it; what it keeps stays."""
        ...


def open_store(where: str, folder: Path, megabytes: int) -> Store | None:
    """Return the store that a setting names; None for "off".

    Args:
        where: "file", "off", or the address of a Redis server, such as "redis://:password@host:6379/0".
        folder: where the file lies; it is made, and closed to other users.
        megabytes: so large the file becomes at most. How much Redis holds is for Redis to know (`maxmemory`).

    Raises:
        ValueError: `where` is none of these.
        StoreError: there is no such store to be had.
    """
    check_store(where)
    if where == OFF:
        return None
    if where == FILE:
        from appliance.store_file import FileStore

        return FileStore(folder, megabytes << 20)
    from appliance.store_redis import RedisStore

    return RedisStore(where)


def check_store(where: str) -> None:
    """Raise `ValueError` where a setting names no store; it is not quoted, for there may be a password in it."""
    if where not in (OFF, FILE) and not where.startswith(REDIS):
        raise ValueError(f"one of {FILE}, {OFF}, redis://…, rediss://… and unix://… is expected")
