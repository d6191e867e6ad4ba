"""The interface of artifact stores: key-value storage with expiry and tombstones.

Names are hashes; content is opaque. `sqlite_store` is the default; with `redis_store` several replicas share links.
"""

from typing import Protocol


class StoreError(Exception):
    """The store is full or unavailable; the operation was not carried out."""


class StoreFull(StoreError):  # noqa: N818 (a state, not a fault)
    """The store has no space for further content; its content can be read and erased."""


class ShareExceeded(StoreError):  # noqa: N818 (a state, not a fault)
    """A key holder has stored as much as it may; the content of others can still be stored."""


class ArtifactStore(Protocol):
    """Stores content until it expires. Safe for threads, and for other processes on the same store."""

    def put(self, name: str, content: bytes, seconds: float, *, tombstone_seconds: float = 0, holder: str = "") -> None:
        """Store `content` for `seconds`; keep a tombstone of its name for `tombstone_seconds` after that.

        Args:
            name: name of the content.
            content: what is stored.
            seconds: time until it expires.
            tombstone_seconds: time after that for which `has_expired` returns True.
            holder: the one whose share of the store it takes.

        Raises:
            ShareExceeded: the holder has reached its share.
            StoreError: the content was not stored.
        """
        ...

    def try_put(
        self, name: str, content: bytes, seconds: float, *, tombstone_seconds: float = 0, holder: str = ""
    ) -> bool:
        """Store a small piece of content as `put` does, but only if that does not block; return whether it was stored.

        Runs on the event loop: for a few kilobytes, dispatching to a thread takes longer than writing. Not thread-safe.

        Raises:
            ShareExceeded: the holder has reached its share; `put` would fail as well.
        """
        ...

    def get(self, name: str) -> bytes | None:
        """Return the content, or None if it is missing or expired.

        Raises:
            StoreError: the store is unavailable.
        """
        ...

    def names(self, prefix: str) -> list[str]:
        """Return the names that begin with `prefix`, of content that has not expired.

        Raises:
            StoreError: the store is unavailable.
        """
        ...

    def delete(self, *names: str) -> bool:
        """Erase content that has not expired; return whether there was any.

        Raises:
            StoreError: the content was not erased.
        """
        ...

    def has_expired(self, name: str) -> bool:
        """Return whether content with this name has expired; False once its tombstone is gone.

        Raises:
            StoreError: the store is unavailable.
        """
        ...

    def purge(self) -> float | None:
        """Erase expired content; return the seconds until the next content expires, or None.

        Raises:
            StoreError: not all expired content was erased.
        """
        ...

    def check(self) -> None:
        """Verify that the store is available and has space.

        Raises:
            StoreFull: the store has no space.
            StoreError: the store is unavailable.
        """
        ...

    def size(self) -> float:
        """Return the size of the store in bytes; NaN if it is not known."""
        ...

    def close(self) -> None:
        """Release the resources of the store; its content stays."""
        ...
