"""Stores for daily quotas: usage per day and counter.

The SQLite store, a file in the data folder, survives a restart; the Redis store is shared by several replicas.
Durability is relaxed for speed: a crash of the machine may lose the last increments.
"""

import logging
import os
import sqlite3
from pathlib import Path
from typing import Any, Final, Protocol

import anyio.to_thread

from appliance.settings import REDIS_SCHEMES

log = logging.getLogger(__name__)

FILE_NAME: Final = "usage.sqlite"
_TABLE: Final = """
CREATE TABLE IF NOT EXISTS used
(day TEXT, what TEXT, count INTEGER NOT NULL, PRIMARY KEY (day, what)) WITHOUT ROWID
"""
_TIMEOUT_SECONDS: Final = 1.0
"""Timeout for Redis and for SQLite locks."""
_REDIS_TTL_SECONDS: Final = 2 * 86_400
"""Lifetime of a counter in Redis: longer than a day, to tolerate clock differences between replicas."""
_REDIS_SCRIPT: Final = """
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
local new = used + tonumber(ARGV[1])
if new >= 0 and new <= tonumber(ARGV[2]) then
  redis.call('INCRBY', KEYS[1], ARGV[1])
  redis.call('EXPIRE', KEYS[1], ARGV[3])
end
return used
"""


class QuotaStoreError(Exception):
    """The quota store is unavailable; nothing was counted."""


class QuotaStore(Protocol):
    """Daily counters with limits."""

    async def consume(self, day: str, counter: str, count: int, limit: int) -> int:
        """Add `count` to a counter unless it would exceed `limit` or fall below 0; return its previous value.

        Raises:
            QuotaStoreError: the store is unavailable.
        """
        ...

    def close(self) -> None:
        """Release the resources of the store."""
        ...


def open_quota_store(artifacts: str, data: Path) -> QuotaStore:
    """Return a Redis store if artifacts are stored in Redis, else a SQLite file in the data folder.

    Raises:
        ImportError: the Redis client is not installed.
    """
    return RedisQuotaStore(artifacts) if artifacts.startswith(REDIS_SCHEMES) else SQLiteQuotaStore(data / FILE_NAME)


class MemoryQuotaStore:
    """Counters in memory."""

    def __init__(self) -> None:
        self._day = ""
        self._used: dict[str, int] = {}

    async def consume(self, day: str, counter: str, count: int, limit: int) -> int:
        """See `QuotaStore`."""
        if day != self._day:
            self._day, self._used = day, {}
        used = self._used.get(counter, 0)
        if 0 <= used + count <= limit:
            self._used[counter] = used + count
        return used

    def close(self) -> None:
        """Do nothing."""


class SQLiteQuotaStore:
    """Counters in a SQLite file with mode 0600, created on first use. A damaged file is replaced by a new one.

    An increment takes about ten microseconds, so it runs on the event loop, not in a thread.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._database: sqlite3.Connection | None = None
        self._day = ""

    async def consume(self, day: str, counter: str, count: int, limit: int) -> int:
        """See `QuotaStore`."""
        try:
            self._database = self._database or self._open()
            with self._database as database:
                database.execute("BEGIN IMMEDIATE")
                return self._consume(database, day, counter, count, limit)
        except (OSError, sqlite3.Error) as error:
            raise QuotaStoreError(f"{self._path.name}: {error}") from error

    def _consume(self, database: sqlite3.Connection, day: str, counter: str, count: int, limit: int) -> int:
        if day != self._day:
            database.execute("DELETE FROM used WHERE day <> ?", (day,))
            self._day = day
        row = database.execute("SELECT count FROM used WHERE day = ? AND what = ?", (day, counter)).fetchone()
        used = int(row[0]) if row else 0
        if 0 <= used + count <= limit:
            database.execute("INSERT OR REPLACE INTO used VALUES (?, ?, ?)", (day, counter, used + count))
        return used

    def close(self) -> None:
        """Close the file."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def _open(self) -> sqlite3.Connection:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            return self._connect()
        except sqlite3.OperationalError:  # inaccessible or locked, not damaged
            raise
        except sqlite3.DatabaseError as error:
            log.warning("The file of daily quotas is damaged; starting a new one", exc_info=error)
            for suffix in ("", "-wal", "-shm"):
                self._path.with_name(FILE_NAME + suffix).unlink(missing_ok=True)
            return self._connect()

    def _connect(self) -> sqlite3.Connection:
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        database = sqlite3.connect(self._path, timeout=_TIMEOUT_SECONDS, isolation_level=None)
        try:
            for pragma in ("journal_mode = WAL", "synchronous = OFF"):
                database.execute(f"PRAGMA {pragma}").fetchall()
            database.execute(_TABLE)
        except BaseException:
            database.close()
            raise
        return database


class RedisQuotaStore:
    """Counters in the Redis server at `url`."""

    def __init__(self, url: str) -> None:
        import redis

        self._redis = redis.Redis.from_url(
            url, socket_timeout=_TIMEOUT_SECONDS, socket_connect_timeout=_TIMEOUT_SECONDS
        )
        self._script: Any = self._redis.register_script(_REDIS_SCRIPT)
        self._error = redis.RedisError

    async def consume(self, day: str, counter: str, count: int, limit: int) -> int:
        """See `QuotaStore`."""
        return await anyio.to_thread.run_sync(self._consume, f"einvoice:usage:{day}:{counter}", count, limit)

    def _consume(self, key: str, count: int, limit: int) -> int:
        try:
            return int(self._script(keys=[key], args=[count, limit, _REDIS_TTL_SECONDS]))
        except self._error as error:
            # Without the message: it may contain the URL and its password.
            raise QuotaStoreError(f"Redis: {type(error).__name__}") from error

    def close(self) -> None:
        """Close the connections."""
        self._redis.close()
