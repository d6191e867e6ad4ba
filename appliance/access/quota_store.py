"""Where it is counted how much of a day's limits has been used: by the day and by what is limited for whom.

A file in the data folder, SQLite, outlives a restart (`FileCounts`); Redis lets several replicas count together
(`RedisCounts`). What is counted is worth no wait: a crash of the whole machine may cost the last counts.
"""

import logging
import os
import sqlite3
from pathlib import Path
from typing import Any, Final, Protocol

import anyio.to_thread

from appliance.stores import REDIS

log = logging.getLogger(__name__)

NAME: Final = "usage.sqlite"
_TABLE: Final = """
CREATE TABLE IF NOT EXISTS used
(day TEXT, what TEXT, count INTEGER NOT NULL, PRIMARY KEY (day, what)) WITHOUT ROWID
"""
_SECONDS: Final = 1.0
"""So long Redis, or another process on the same file, is waited for."""
_KEPT_SECONDS: Final = 2 * 86_400
"""So long Redis keeps a count: no day lasts longer, whatever the clocks of the replicas say."""
_SCRIPT: Final = """
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
if used + tonumber(ARGV[1]) <= tonumber(ARGV[2]) then
  redis.call('INCRBY', KEYS[1], ARGV[1])
  redis.call('EXPIRE', KEYS[1], ARGV[3])
end
return used
"""


class CountsAway(Exception):  # noqa: N818 (it says what happened)
    """Nobody can tell how much has been used; nothing has been counted."""


class Counts(Protocol):
    """Counts up to limits."""

    async def take(self, day: str, what: str, count: int, limit: int) -> int:
        """Return how much of `what` had been used on a day, and count `count` more unless that goes over the limit.

        Raises:
            CountsAway: nobody can tell.
        """
        ...

    def close(self) -> None:
        """Let go of what it counts in."""
        ...


def open_counts(artifacts: str, data: Path) -> Counts:
    """Return what counts: Redis where artifacts are kept there, else a file in the data folder.

    Raises:
        ImportError: what speaks to Redis is not installed.
    """
    return RedisCounts(artifacts) if artifacts.startswith(REDIS) else FileCounts(data / NAME)


class MemoryCounts:
    """Counts that end with the process."""

    def __init__(self) -> None:
        self._day = ""
        self._used: dict[str, int] = {}

    async def take(self, day: str, what: str, count: int, limit: int) -> int:
        """Count."""
        if day != self._day:
            self._day, self._used = day, {}
        used = self._used.get(what, 0)
        if used + count <= limit:
            self._used[what] = used + count
        return used

    def close(self) -> None:
        """Nothing to let go of."""


class FileCounts:
    """Counts in a file of this user's own; it is made when there is something to count.

    It takes some ten microseconds, so nothing waits for a thread. A damaged file is begun anew.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._database: sqlite3.Connection | None = None
        self._day = ""

    async def take(self, day: str, what: str, count: int, limit: int) -> int:
        """Count."""
        try:
            self._database = self._database or self._open()
            with self._database as database:
                database.execute("BEGIN IMMEDIATE")
                return self._take(database, day, what, count, limit)
        except (OSError, sqlite3.Error) as error:
            raise CountsAway(f"{self._path.name}: {error}") from error

    def _take(self, database: sqlite3.Connection, day: str, what: str, count: int, limit: int) -> int:
        if day != self._day:
            database.execute("DELETE FROM used WHERE day <> ?", (day,))
            self._day = day
        row = database.execute("SELECT count FROM used WHERE day = ? AND what = ?", (day, what)).fetchone()
        used = int(row[0]) if row else 0
        if used + count <= limit:
            database.execute("INSERT OR REPLACE INTO used VALUES (?, ?, ?)", (day, what, used + count))
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
        except sqlite3.OperationalError:  # not to be opened or locked: it is not the file that is at fault
            raise
        except sqlite3.DatabaseError as error:
            log.warning("The file of daily counts is damaged; a new one is begun", exc_info=error)
            for suffix in ("", "-wal", "-shm"):
                self._path.with_name(NAME + suffix).unlink(missing_ok=True)
            return self._connect()

    def _connect(self) -> sqlite3.Connection:
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        database = sqlite3.connect(self._path, timeout=_SECONDS, isolation_level=None)
        try:
            for setting in ("journal_mode = WAL", "synchronous = OFF"):
                database.execute(f"PRAGMA {setting}").fetchall()
            database.execute(_TABLE)
        except BaseException:
            database.close()
            raise
        return database


class RedisCounts:
    """Counts in the Redis server at `url`."""

    def __init__(self, url: str) -> None:
        import redis

        self._redis = redis.Redis.from_url(url, socket_timeout=_SECONDS, socket_connect_timeout=_SECONDS)
        self._script: Any = self._redis.register_script(_SCRIPT)
        self._error = redis.RedisError

    async def take(self, day: str, what: str, count: int, limit: int) -> int:
        """Count."""
        return await anyio.to_thread.run_sync(self._take, f"einvoice:usage:{day}:{what}", count, limit)

    def _take(self, name: str, count: int, limit: int) -> int:
        try:
            return int(self._script(keys=[name], args=[count, limit, _KEPT_SECONDS]))
        except self._error as error:
            # What the error says may hold the address, and that a password.
            raise CountsAway(f"Redis: {type(error).__name__}") from error

    def close(self) -> None:
        """Close the connections."""
        self._redis.close()
