"""Artifact store in a SQLite file, in a folder closed to other users.

It survives a restart. Expired content is overwritten with zeros and its space is freed, in the file and in the
write-ahead log (WAL). On a full volume, where the log cannot grow, it is overwritten in the file itself.

The maximum size is that of the file and its log. The log is emptied before it exceeds its part of that; nothing is
written in one transaction that does not fit into it.
"""

import contextlib
import errno
import itertools
import logging
import math
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from appliance.artifacts.holder_shares import NO_ROOM, HolderShares
from appliance.artifacts.store import StoreError, StoreFull
from appliance.steady_clock import SteadyClock

log = logging.getLogger(__name__)

FILE_NAME: Final = "artifacts.sqlite"
_SCHEMA_VERSION: Final = 3
"""A file that is damaged or has another version is replaced by a new one: its content is short-lived."""

_TABLES: Final = """
CREATE TABLE content
(name TEXT PRIMARY KEY, holder TEXT NOT NULL, size INTEGER NOT NULL, lifetime REAL NOT NULL, expires REAL NOT NULL,
tombstone_expires REAL NOT NULL, content BLOB NOT NULL);
CREATE INDEX content_expires ON content (expires, lifetime, holder, size);
CREATE TABLE tombstone (name TEXT PRIMARY KEY, expires REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX tombstone_expires ON tombstone (expires);
"""
_LOCK_TIMEOUT_SECONDS: Final = 5.0
_HELD_SECONDS: Final = 2.0
"""Time for which the log is not emptied after another process kept it from being emptied."""
_NON_BLOCKING: Final = ("busy_timeout = 0", "wal_autocheckpoint = 0")
"""Pragmas of the connection for `try_put`: do not wait for locks or for the disk. `check` runs the checkpoints."""
_TOMBSTONE_BATCH: Final = 1_000
"""Number of tombstones dropped at a time."""
_CONTENT_BATCH: Final = 100
"""Maximum number of pieces of content erased at a time."""
_VACUUM_PAGES: Final = 256
"""Number of pages freed at a time."""
_MAX_LOG_BYTES: Final = 32 << 20
"""Size of the log beyond which it is emptied, in a large store."""
_ROW_OVERHEAD: Final = 32_768
"""Bytes of the log that a piece of content takes besides itself, when it is stored or erased."""

_GREATEST: Final = "\U0010ffff"
"""The greatest character."""
_PAGE_BYTES: Final = 4096
_CHUNK_BYTES: Final = 1 << 20
_MIN_FREE_BYTES: Final = 1 << 20
"""Space on the volume below which it counts as full."""
_LOCKED: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


class SQLiteStore:
    """An `ArtifactStore` in a file of at most `max_bytes`. If the volume is full, it opens later, when there is space.

    Raises:
        StoreError: the folder cannot be used.
    """

    def __init__(self, folder: Path, max_bytes: int, clock: Callable[[], float] | None = None) -> None:
        self._path = folder / FILE_NAME
        self._log_path = folder / f"{FILE_NAME}-wal"
        self._max_bytes = max_bytes
        self._log_bytes = min(_MAX_LOG_BYTES, max_bytes // 8)
        self._file_bytes = max_bytes - 2 * self._log_bytes
        self._shares = HolderShares(self._file_bytes)
        self._clock = clock or SteadyClock()
        self._lock = threading.Lock()
        self._log_held_until = 0.0
        self._closed = False
        self._database: sqlite3.Connection | None = None
        self._non_blocking: sqlite3.Connection | None = None
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.chmod(0o700)
            self._open()
        except sqlite3.Error as error:
            log.error("The artifact store cannot be opened yet: %s", error)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise StoreError(f"cannot open the artifact store in {folder}: {error}") from error
            log.error("The artifact store cannot be opened yet: %s", error)
        with contextlib.suppress(StoreError):  # reported by `check`
            self.purge()

    def put(self, name: str, content: bytes, seconds: float, *, tombstone_seconds: float = 0, holder: str = "") -> None:
        """See `ArtifactStore`."""
        with self._locked() as database, self._shares.adding(holder, len(content)):
            self._make_room(database, len(content))
            replaced = database.execute("SELECT holder, size FROM content WHERE name = ?", (name,)).fetchone()
            self._insert(database, name, content, seconds, tombstone_seconds, holder)
            if replaced:
                self._shares.remove(*replaced)

    def try_put(
        self, name: str, content: bytes, seconds: float, *, tombstone_seconds: float = 0, holder: str = ""
    ) -> bool:
        """See `ArtifactStore`."""
        if self._non_blocking is None or self._log_size() > self._log_bytes:
            return False
        try:
            with self._shares.adding(holder, len(content)):
                self._insert(self._non_blocking, name, content, seconds, tombstone_seconds, holder)
        except sqlite3.Error:  # usually locked; the caller falls back to `put`, which makes room, or reports the error
            return False
        return True

    def _insert(
        self,
        database: sqlite3.Connection,
        name: str,
        content: bytes,
        seconds: float,
        tombstone_seconds: float,
        holder: str,
    ) -> None:
        expires = self._clock() + seconds
        row = (name, holder, len(content), seconds, expires, expires + tombstone_seconds, content)
        database.execute("INSERT OR REPLACE INTO content VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    def get(self, name: str) -> bytes | None:
        """See `ArtifactStore`."""
        with self._locked() as database:
            query = "SELECT content FROM content WHERE name = ? AND expires > ?"
            row = database.execute(query, (name, self._clock())).fetchone()
        return None if row is None else bytes(row[0])

    def has_expired(self, name: str) -> bool:
        """See `ArtifactStore`."""
        now = self._clock()
        with self._locked() as database:
            expired = "SELECT 1 FROM content WHERE name = ? AND expires <= ? AND tombstone_expires > ?"
            purged = "SELECT 1 FROM tombstone WHERE name = ? AND expires > ?"
            row = database.execute(expired, (name, now, now)).fetchone()
            return (row or database.execute(purged, (name, now)).fetchone()) is not None

    def names(self, prefix: str) -> list[str]:
        """See `ArtifactStore`."""
        query = "SELECT name FROM content WHERE name >= ? AND name < ? AND expires > ?"
        with self._locked() as database:
            rows = database.execute(query, (prefix, f"{prefix}{_GREATEST}", self._clock())).fetchall()
        return [name for (name,) in rows]

    def delete(self, *names: str) -> bool:
        """See `ArtifactStore`."""
        query = "SELECT rowid, holder, size FROM content WHERE name = ? AND expires > ?"
        with self._locked() as database:
            now = self._clock()
            rows = [row for name in names for row in database.execute(query, (name, now))]
            for row in rows:
                self._erase(database, [row])
            if rows:
                self._empty_log(database)
        return bool(rows)

    def purge(self) -> float | None:
        """See `ArtifactStore`."""
        now = self._clock()
        try:
            next_expiry = self._purge(now)
        except StoreError as error:
            if self._closed or _is_locked(error.__cause__):
                raise
            log.warning("%s; erasing expired content in place", error)
            with self._lock:
                next_expiry = self._purge_in_place(now)
        return None if next_expiry is None else max(0.0, next_expiry - now)

    def _purge(self, now: float) -> float | None:
        """Erase expired content, in transactions that fit into the log; return the time of the next expiry."""
        purged = False
        for step in (self._purge_content, self._purge_tombstones, self._free_pages):
            while self._step(step, now):
                purged = True
        with self._locked() as database:
            if purged:
                self._empty_log(database)
                self._shares.allow()
            next_expiry = _next_expiry(database)
            if next_expiry is None:
                self._shares.reset(())
        return next_expiry

    def _step(self, step: Callable[[sqlite3.Connection, float], bool], now: float) -> bool:
        with self._locked() as database:  # released between two steps: others need not wait for all of them
            self._limit_log(database, self._log_bytes)
            return step(database, now)

    def _purge_content(self, database: sqlite3.Connection, now: float) -> bool:
        """Erase some of the expired content; return whether there was any."""
        query = "SELECT rowid, holder, size FROM content WHERE expires <= ? ORDER BY expires LIMIT ?"
        rows = database.execute(query, (now, _CONTENT_BATCH)).fetchall()
        sizes = itertools.accumulate(size + _ROW_OVERHEAD for _, _, size in rows)
        count = sum(size <= self._log_bytes for size in sizes)
        self._erase(database, rows[: max(1, count)], now)
        return bool(rows)

    def _erase(self, database: sqlite3.Connection, rows: list[tuple[int, str, int]], now: float = math.inf) -> None:
        """Erase content, and keep tombstones that expire after `now`."""
        keep = "INSERT OR REPLACE INTO tombstone SELECT name, tombstone_expires FROM content WHERE rowid = ?"
        rowids = [(rowid,) for rowid, _, _ in rows]
        size = sum(size + _ROW_OVERHEAD for _, _, size in rows)
        self._limit_log(database, max(0, 2 * self._log_bytes - size))
        database.execute("BEGIN IMMEDIATE")
        database.executemany(f"{keep} AND tombstone_expires > ?", ((*rowid, now) for rowid in rowids))
        database.executemany("DELETE FROM content WHERE rowid = ?", rowids)
        database.execute("COMMIT")
        for _, holder, size in rows:
            self._shares.remove(holder, size)

    def _purge_tombstones(self, database: sqlite3.Connection, now: float) -> bool:
        """Drop some of the expired tombstones, or of the oldest if the file is nearly full."""
        expired = "DELETE FROM tombstone WHERE name IN (SELECT name FROM tombstone WHERE expires <= ? LIMIT ?)"
        if database.execute(expired, (now, _TOMBSTONE_BATCH)).rowcount:
            return True
        return self._used_bytes(database) > self._file_bytes * 7 // 8 and self._drop_tombstones(database)

    @staticmethod
    def _drop_tombstones(database: sqlite3.Connection) -> bool:
        """Drop some of the oldest tombstones; return whether there were any."""
        oldest = "DELETE FROM tombstone WHERE name IN (SELECT name FROM tombstone ORDER BY expires LIMIT ?)"
        return database.execute(oldest, (_TOMBSTONE_BATCH,)).rowcount > 0

    def _free_pages(self, database: sqlite3.Connection, now: float) -> bool:
        """Return some pages to the volume if more than a quarter of the file is free; otherwise they are used again."""
        pages, free = _page_counts(database)
        if free * 4 <= pages:
            return False
        database.executescript(f"PRAGMA incremental_vacuum({_VACUUM_PAGES})")  # `execute` would free one page only
        return _page_counts(database)[1] < free

    def _purge_in_place(self, now: float) -> float | None:
        """Erase expired content without a log, which needs no space; return the time of the next expiry.

        If that fails, erase the whole file: no content may outlive its links.
        """
        self._close()
        try:
            with contextlib.closing(sqlite3.connect(self._path, isolation_level=None)) as database:
                # In this mode SQLite keeps its index of the log in memory, not in a file.
                database.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
                self._erase_in_place(database, now)
                return _next_expiry(database)
        except (OSError, sqlite3.Error) as error:
            if _is_locked(error):
                raise StoreError(f"the artifact store failed: {error}") from error
            log.error("The artifact store is erased with all its links: %s", error)
            self._erase_file()
            return None

    @staticmethod
    def _erase_in_place(database: sqlite3.Connection, now: float) -> None:
        (mode,) = database.execute("PRAGMA journal_mode = MEMORY").fetchone()
        if mode != "memory":
            raise sqlite3.OperationalError("the write-ahead log cannot be emptied")
        database.execute("PRAGMA secure_delete = ON").fetchall()
        expired = "SELECT name, tombstone_expires FROM content WHERE expires <= ?"
        keep = "INSERT OR REPLACE INTO tombstone VALUES (?, ?)"
        for name, tombstone_expires in database.execute(expired, (now,)).fetchall():
            database.execute("BEGIN EXCLUSIVE")  # one at a time: the journal in memory holds the content of one
            database.execute("DELETE FROM content WHERE name = ?", (name,))
            if tombstone_expires > now:
                database.execute(keep, (name, tombstone_expires))
            database.execute("COMMIT")
        database.executescript("PRAGMA incremental_vacuum")

    def _erase_file(self) -> None:
        erase_files(self._path.parent)

    def check(self) -> None:
        """Verify that the file is writable and the volume not full; checkpoint the WAL that `try_put` fills."""
        with self._locked() as database:
            database.execute("BEGIN IMMEDIATE")
            database.execute("ROLLBACK")
            database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        volume = os.statvfs(self._path.parent)
        if volume.f_bavail * volume.f_frsize < _MIN_FREE_BYTES:
            raise StoreFull("the volume of the artifact store is full")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._closed = True
            self._close()

    def size(self) -> float:
        """See `ArtifactStore`; includes the log."""
        return sum(path.stat().st_size for path in _files(self._path.parent) if path.exists())

    def _close(self) -> None:
        for database in (self._non_blocking, self._database):
            if database is not None:
                database.close()
        self._non_blocking = self._database = None

    def _make_room(self, database: sqlite3.Connection, size: int) -> None:
        """Empty the log if necessary; drop the oldest tombstones if the file is full.

        A new link is worth more than a precise 410.
        """
        self._limit_log(database, 2 * self._log_bytes - size - _ROW_OVERHEAD)
        while self._used_bytes(database) + size + _ROW_OVERHEAD > self._file_bytes:
            if not self._drop_tombstones(database):
                self._shares.refuse(size)
                raise StoreError(NO_ROOM)
            self._limit_log(database, self._log_bytes)

    def _limit_log(self, database: sqlite3.Connection, limit: int) -> None:
        """Empty the log if it is larger than `limit`."""
        if limit < 0:
            raise StoreError(f"the content is too large for an artifact store of {self._max_bytes >> 20} MB")
        if self._log_size() <= min(limit, self._log_bytes):
            return
        if time.monotonic() >= self._log_held_until:
            if self._empty_log(database):
                return
            self._log_held_until = time.monotonic() + _HELD_SECONDS  # not everyone is to wait for the reader in turn
        if self._log_size() > limit:
            raise StoreError("the write-ahead log cannot be emptied")

    @staticmethod
    def _empty_log(database: sqlite3.Connection) -> bool:
        """Move the content of the log to the file, and truncate the log; return False if another process reads it."""
        (busy, *_) = database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy

    def _log_size(self) -> int:
        try:
            return self._log_path.stat().st_size
        except FileNotFoundError:
            return 0

    @staticmethod
    def _used_bytes(database: sqlite3.Connection) -> int:
        pages, free = _page_counts(database)
        return (pages - free) * _PAGE_BYTES

    @contextlib.contextmanager
    def _locked(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection to one thread at a time, opened if necessary; translate errors to `StoreError`."""
        with self._lock:
            if self._closed:
                raise StoreError("the artifact store is closed")
            try:
                yield self._database or self._open()
            except (OSError, sqlite3.Error) as error:
                with contextlib.suppress(sqlite3.Error):
                    if self._database is not None and self._database.in_transaction:
                        self._database.execute("ROLLBACK")
                raise StoreError(f"the artifact store failed: {error}") from error

    def _open(self) -> sqlite3.Connection:
        try:
            database = self._connect()
        except sqlite3.OperationalError:  # inaccessible or locked, not damaged
            raise
        except sqlite3.DatabaseError as error:
            log.warning("The artifact store is damaged or of another version; starting a new one", exc_info=error)
            self._erase_file()
            database = self._connect()
        try:
            self._limit_pages(database)
            self._limit_lifetimes(database)
            self._shares.reset(database.execute("SELECT holder, size FROM content"))
            self._non_blocking = self._connect_non_blocking()
        except BaseException:
            database.close()
            raise
        self._database = database
        return database

    def _connect_non_blocking(self) -> sqlite3.Connection | None:
        """Return the connection for `try_put`; None if the file is larger than its maximum, which has been lowered.

        `put` then refuses content until expired content has made room.
        """
        database = self._connect()
        for pragma in _NON_BLOCKING:
            database.execute(f"PRAGMA {pragma}").fetchall()
        if self._limit_pages(database):
            return database
        database.close()
        return None

    def _limit_pages(self, database: sqlite3.Connection) -> bool:
        """Keep a connection from enlarging the file beyond its maximum; return False if it is larger already."""
        max_pages = self._file_bytes // _PAGE_BYTES
        (pages,) = database.execute(f"PRAGMA max_page_count = {max_pages}").fetchone()
        return bool(pages <= max_pages)

    def _limit_lifetimes(self, database: sqlite3.Connection) -> None:
        """Let no content live longer from now on than it was stored for, also if the time was set back meanwhile."""
        now = self._clock()
        if database.execute("SELECT 1 FROM content WHERE expires > lifetime + ? LIMIT 1", (now,)).fetchone():
            database.execute("UPDATE content SET expires = lifetime + ? WHERE expires > lifetime + ?", (now, now))

    def _connect(self) -> sqlite3.Connection:
        # Created here, not by SQLite, so that it is private from the start; SQLite gives the WAL the same mode.
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        self._path.chmod(0o600)
        database = sqlite3.connect(
            self._path,
            timeout=_LOCK_TIMEOUT_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=32,
        )
        try:
            # Both have no effect once tables exist.
            database.execute("PRAGMA auto_vacuum = INCREMENTAL")
            database.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
            for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "secure_delete = ON"):
                database.execute(f"PRAGMA {pragma}").fetchall()
            self._create_tables(database)
        except BaseException:
            database.close()
            raise
        return database

    @staticmethod
    def _create_tables(database: sqlite3.Connection) -> None:
        """Create the tables in a new file; safe if two processes do so at the same time."""
        database.execute("BEGIN IMMEDIATE")
        (version,) = database.execute("PRAGMA user_version").fetchone()
        (tables,) = database.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if version != _SCHEMA_VERSION and tables:
            raise sqlite3.DatabaseError(f"schema version {version}, expected {_SCHEMA_VERSION}")
        if version != _SCHEMA_VERSION:
            for statement in filter(None, map(str.strip, _TABLES.split(";"))):
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {_SCHEMA_VERSION}")
        database.execute("COMMIT")


def erase_files(folder: Path) -> bool:
    """Overwrite the file in a folder and its log with zeros, then delete them; return whether there was any.

    Raises:
        OSError: a file could not be deleted.
    """
    found = [path for path in _files(folder) if path.exists()]
    for path in found:
        with contextlib.suppress(OSError), path.open("r+b", buffering=0) as file:
            for position in range(0, path.stat().st_size, _CHUNK_BYTES):
                file.write(bytes(min(_CHUNK_BYTES, path.stat().st_size - position)))
            os.fsync(file.fileno())
        path.unlink(missing_ok=True)
    return bool(found)


def _files(folder: Path) -> list[Path]:
    return [folder / f"{FILE_NAME}{suffix}" for suffix in ("", "-wal", "-shm")]


def _page_counts(database: sqlite3.Connection) -> tuple[int, int]:
    """Return the number of pages, and how many of them are free."""
    pages, free = (database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count"))
    return int(pages), int(free)


def _next_expiry(database: sqlite3.Connection) -> float | None:
    (next_expiry,) = database.execute("SELECT min(expires) FROM content").fetchone()
    return next_expiry if next_expiry is None else float(next_expiry)


def _is_locked(error: BaseException | None) -> bool:
    """Return whether SQLite failed because another connection holds a lock."""
    return isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) & 0xFF in _LOCKED
