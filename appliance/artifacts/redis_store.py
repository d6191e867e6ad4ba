"""Artifact store in Redis, shared by several replicas. Redis itself expires content.

Configure Redis with `maxmemory` and the policy `noeviction`; otherwise links expire early. Turn persistence off
(`save ""`, `appendonly no`); otherwise content stays on the disk after its link has expired.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from appliance.artifacts.store import StoreError

_CONTENT: Final = "einvoice:artifact:"
_TOMBSTONE: Final = "einvoice:artifact-tombstone:"
_TIMEOUT_SECONDS: Final = 3.0


class RedisStore:
    """An `ArtifactStore` in the Redis server at `url`."""

    def __init__(self, url: str) -> None:
        try:
            import redis
        except ImportError as error:
            raise StoreError("EINVOICE_ARTIFACTS requires Redis: pip install 'einvoice-toolkit[redis]'") from error
        self._redis = redis.Redis.from_url(
            url, socket_timeout=_TIMEOUT_SECONDS, socket_connect_timeout=_TIMEOUT_SECONDS
        )
        self._error = redis.RedisError

    def put(self, name: str, content: bytes, seconds: float, *, tombstone_seconds: float = 0, holder: str = "") -> None:
        """See `ArtifactStore`; holders have no shares."""
        with self._translated_errors(), self._redis.pipeline(transaction=True) as transaction:
            transaction.set(_CONTENT + name, content, px=_milliseconds(seconds))
            if tombstone_seconds:
                transaction.set(_TOMBSTONE + name, b"", px=_milliseconds(seconds + tombstone_seconds))
            transaction.execute()

    def try_put(
        self, name: str, content: bytes, seconds: float, *, tombstone_seconds: float = 0, holder: str = ""
    ) -> bool:
        """Return False: a network call always blocks."""
        return False

    def get(self, name: str) -> bytes | None:
        """See `ArtifactStore`."""
        with self._translated_errors():
            content = self._redis.get(_CONTENT + name)
        return content if isinstance(content, bytes) else None

    def delete(self, *names: str) -> bool:
        """See `ArtifactStore`."""
        with self._translated_errors():
            deleted = self._redis.delete(*(_CONTENT + name for name in names))
            self._redis.delete(*(_TOMBSTONE + name for name in names))
        return bool(deleted)

    def has_expired(self, name: str) -> bool:
        """See `ArtifactStore`."""
        with self._translated_errors():
            content, tombstone = self._redis.exists(_CONTENT + name), self._redis.exists(_TOMBSTONE + name)
        return bool(tombstone) and not content

    def purge(self) -> float | None:
        """Return None: Redis expires content itself."""
        return None

    def check(self) -> None:
        """See `ArtifactStore`."""
        with self._translated_errors():
            self._redis.ping()

    def size(self) -> float:
        """Return NaN: Redis reports its size itself."""
        return math.nan

    def close(self) -> None:
        """Close the connections."""
        self._redis.close()

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except self._error as error:
            # Without the message: it may contain the URL and its password.
            raise StoreError(f"Redis failed: {type(error).__name__}") from error


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))
