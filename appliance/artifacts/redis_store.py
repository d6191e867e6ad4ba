"""Artifact store in Redis, shared by several replicas. Redis itself expires content.

Key holders have shares, as in `holder_shares`: a script in Redis counts what each has stored there, for all replicas.

Configure Redis with `maxmemory` and the policy `noeviction`; otherwise links expire early. Turn persistence off
(`save ""`, `appendonly no`); otherwise content stays on the disk after its link has expired.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from appliance.artifacts.holder_shares import NO_ROOM, ROW_BYTES, SHARE_REACHED
from appliance.artifacts.store import ShareExceeded, StoreError

_CONTENT: Final = "einvoice:artifact:"
_TOMBSTONE: Final = "einvoice:artifact-tombstone:"
_COUNTED: Final = ("einvoice:artifact-bytes", "einvoice:artifact-expiry", "einvoice:artifact-rows")
"""Bytes by holder; when each content expires; its holder and bytes."""
_TIMEOUT_SECONDS: Final = 3.0
_SCANNED: Final = 1000
"""Number of keys that one step of a search for names looks at."""

_UNCOUNT: Final = """
local function uncount(name)
    local row = redis.call('HGET', KEYS[3], name)
    if not row then return end
    local bytes, holder = row:match('^(%d+) (.*)$')
    redis.call('ZREM', KEYS[2], name)
    redis.call('HDEL', KEYS[3], name)
    if redis.call('HINCRBY', KEYS[1], holder, -bytes) <= 0 then redis.call('HDEL', KEYS[1], holder) end
end
"""

_PUT: Final = """
redis.call('SETRANGE', KEYS[4], 0, '')
local name, holder, content = ARGV[1], ARGV[2], ARGV[3]
local milliseconds, tombstone = tonumber(ARGV[4]), tonumber(ARGV[5])
local size, capacity = #content + tonumber(ARGV[6]), tonumber(ARGV[7])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, expired in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, 1000)) do
    uncount(expired)
end
uncount(name)
local left = capacity - size
for _, bytes in ipairs(redis.call('HVALS', KEYS[1])) do left = left - bytes end
if left < 0 then return 1 end
if (redis.call('HGET', KEYS[1], holder) or 0) + size > left then return 2 end
redis.call('SET', KEYS[4], content, 'PX', milliseconds)
if tombstone > 0 then redis.call('SET', KEYS[5], '', 'PX', milliseconds + tombstone) end
redis.call('HINCRBY', KEYS[1], holder, size)
redis.call('ZADD', KEYS[2], now + milliseconds, name)
redis.call('HSET', KEYS[3], name, string.format('%d %s', size, holder))
return 0
"""
"""Stores content unless there is no room (1), or its holder has reached its share (2).

Its first command changes nothing. It fails if Redis is full, which Redis does not check after a script's first change.
"""

_DELETE: Final = """
local deleted = 0
for number, name in ipairs(ARGV) do
    deleted = deleted + redis.call('DEL', KEYS[2 + 2 * number])
    redis.call('DEL', KEYS[3 + 2 * number])
    uncount(name)
end
return deleted
"""


class RedisStore:
    """An `ArtifactStore` in the Redis server at `url`.

    Args:
        url: address of the server.
        max_bytes: size of the store, where the server has no `maxmemory`.
    """

    def __init__(self, url: str, max_bytes: int) -> None:
        try:
            import redis
        except ImportError as error:
            raise StoreError("EINVOICE_ARTIFACTS requires Redis: pip install 'einvoice-toolkit[redis]'") from error
        self._redis = redis.Redis.from_url(
            url, socket_timeout=_TIMEOUT_SECONDS, socket_connect_timeout=_TIMEOUT_SECONDS
        )
        self._error = redis.RedisError
        self._put = self._redis.register_script(_UNCOUNT + _PUT)
        self._delete = self._redis.register_script(_UNCOUNT + _DELETE)
        self._max_bytes = max_bytes
        self._capacity: int | None = None

    def put(self, name: str, content: bytes, seconds: float, *, tombstone_seconds: float = 0, holder: str = "") -> None:
        """See `ArtifactStore`."""
        tombstone = math.ceil(tombstone_seconds * 1000)
        with self._translated_errors():
            limits = (_milliseconds(seconds), tombstone, ROW_BYTES, self._capacity or self._read_capacity())
            refused = self._put([*_COUNTED, *_keys(name)], [name, holder, content, *limits])
        if refused:
            raise StoreError(NO_ROOM) if refused == 1 else ShareExceeded(SHARE_REACHED)

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

    def names(self, prefix: str) -> list[str]:
        """See `ArtifactStore`."""
        with self._translated_errors():
            found = self._redis.scan_iter(f"{_CONTENT}{prefix}*", count=_SCANNED)
            return list({key.decode().removeprefix(_CONTENT) for key in found})

    def delete(self, *names: str) -> bool:
        """See `ArtifactStore`."""
        with self._translated_errors():
            return bool(self._delete([*_COUNTED, *(key for name in names for key in _keys(name))], names))

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
            self._capacity = self._read_capacity()

    def size(self) -> float:
        """Return NaN: Redis reports its size itself."""
        return math.nan

    def close(self) -> None:
        """Close the connections."""
        self._redis.close()

    def _read_capacity(self) -> int:
        """Return the size of the store in bytes: that of Redis, which may change, without what Redis itself needs."""
        return int(self._redis.info("memory").get("maxmemory", 0)) * 3 // 4 or self._max_bytes

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except self._error as error:
            # Without the message: it may contain the URL and its password.
            raise StoreError(f"Redis failed: {type(error).__name__}") from error


def _keys(name: str) -> tuple[str, str]:
    """Return the keys of content and of its tombstone."""
    return _CONTENT + name, _TOMBSTONE + name


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))
