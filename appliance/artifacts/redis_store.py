"""The store in Redis, for several replicas that share their links. Redis erases by itself what has expired.

How much it holds is set there (`maxmemory`, with the policy `noeviction`, or links end early), and so is whether it
writes to disk; it should not (`save ""`, `appendonly no`), or contents outlive their links there.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from appliance.stores import StoreError

_CONTENT: Final = "einvoice:artifact:"
_TRACE: Final = "einvoice:artifact-trace:"
_SECONDS: Final = 3.0
"""So long an answer of the server is waited for."""


class RedisStore:
    """A store in the Redis server at `url`. See `appliance.stores.Store` for what it does."""

    def __init__(self, url: str) -> None:
        try:
            import redis
        except ImportError as error:
            raise StoreError("EINVOICE_ARTIFACTS names Redis: pip install 'einvoice-toolkit[redis]'") from error
        self._redis = redis.Redis.from_url(url, socket_timeout=_SECONDS, socket_connect_timeout=_SECONDS)
        self._error = redis.RedisError

    def put(self, name: str, content: bytes, seconds: float, *, remembered: float = 0) -> None:
        """Keep a content."""
        with self._asking(), self._redis.pipeline(transaction=True) as both:
            both.set(_CONTENT + name, content, px=_milliseconds(seconds))
            if remembered:
                both.set(_TRACE + name, b"", px=_milliseconds(seconds + remembered))
            both.execute()

    def put_at_once(self, name: str, content: bytes, seconds: float, *, remembered: float = 0) -> bool:
        """Not where there is a network to wait for."""
        return False

    def get(self, name: str) -> bytes | None:
        """Return a content."""
        with self._asking():
            found = self._redis.get(_CONTENT + name)
        return found if isinstance(found, bytes) else None

    def had(self, name: str) -> bool:
        """Whether there was one that has expired."""
        with self._asking():
            content, trace = self._redis.exists(_CONTENT + name), self._redis.exists(_TRACE + name)
        return bool(trace) and not content

    def clean(self) -> float | None:
        """Nothing to do: Redis does it."""
        return None

    def check(self) -> None:
        """Make sure that the server answers."""
        with self._asking():
            self._redis.ping()

    def close(self) -> None:
        """Close the connections."""
        self._redis.close()

    @contextmanager
    def _asking(self) -> Iterator[None]:
        try:
            yield
        except self._error as error:
            # What the error says may hold the address, and that a password.
            raise StoreError(f"Redis does not do what it is asked: {type(error).__name__}") from error


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))
