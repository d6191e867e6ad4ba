"""Artifact store in a SQLite file, in a folder closed to other users.

It survives a restart. Expired content is overwritten with zeros and its space is freed, in the file and in the
write-ahead log (WAL). On a full volume, where the log cannot grow, it is overwritten in the file itself.
"""

import contextlib
import errno
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from appliance.artifacts.store import StoreError, StoreFull

log = logging.getLogger(__name__)

FILE_NAME: Final = "artifacts.sqlite"
_SCHEMA_VERSION: Final = 2
"""A file that is damaged or has another version is replaced by a new one: its content is short-lived."""

_TABLES: Final = """
CREATE TABLE content
(name TEXT PRIMARY KEY, expires REAL NOT NULL, tombstone_expires REAL NOT NULL, content BLOB NOT NULL);
CREATE INDEX content_expires ON content (expires);
CREATE TABLE tombstone (name TEXT PRIMARY KEY, expires REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX tombstone_expires ON tombstone (expires);
"""
_LOCK_TIMEOUT_SECONDS: Final = 5.0
_NON_BLOCKING: Final = ("busy_timeout = 0", "wal_autocheckpoint = 0")
"""Pragmas of the connection for `try_put`: do not wait for locks or for the disk. `check` runs the checkpoints."""
_TOMBSTONE_BATCH: Final = 10_000
"""Number of tombstones dropped at a time to make room."""


_CHUNK_BYTES: Final = 1 << 20
_MIN_FREE_BYTES: Final = 1 << 20
"""Space on the volume below which it counts as full."""
_LOCKED: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


class SQLiteStore:
    """An `ArtifactStore` in a file of at most `max_bytes`. If the volume is full, it opens later, when there is space.

    Raises:
        StoreError: the folder cannot be used.
    """

    def __init__(self, folder: Path, max_bytes: int, clock: Callable[[], float] = time.time) -> None:
        self._path = folder / FILE_NAME
        self._max_bytes = max_bytes
        self._clock = clock
        self._lock = threading.Lock()
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

    def put(self, name: str, content: bytes, seconds: float, *, tombstone_seconds: float = 0) -> None:
        """See `ArtifactStore`."""
        with self._locked() as database:
            self._put(database, name, content, seconds, tombstone_seconds)

    def try_put(self, name: str, content: bytes, seconds: float, *, tombstone_seconds: float = 0) -> bool:
        """See `ArtifactStore`."""
        if self._non_blocking is None:
            return False
        try:
            self._insert_or_make_room(self._non_blocking, name, content, seconds, tombstone_seconds)
        except sqlite3.Error:  # usually locked; the caller falls back to `put`, which reports other errors
            return False
        return True

    def _insert_or_make_room(self, database: sqlite3.Connection, *row: Any) -> None:
        try:
            self._insert(database, *row)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_FULL:
                raise
            self._put(database, *row)

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

    def purge(self) -> float | None:
        """See `ArtifactStore`."""
        now = self._clock()
        try:
            with self._locked() as database:
                next_expiry = self._purge(database, now)
        except StoreError as error:
            if self._closed or _is_locked(error.__cause__):
                raise
            log.warning("%s; erasing expired content in place", error)
            with self._lock:
                next_expiry = self._purge_in_place(now)
        return None if next_expiry is None else max(0.0, next_expiry - now)

    @staticmethod
    def _purge(database: sqlite3.Connection, now: float) -> float | None:
        """Erase expired content; return the time of the next expiry."""
        database.execute("BEGIN IMMEDIATE")
        keep = "INSERT OR REPLACE INTO tombstone SELECT name, tombstone_expires FROM content WHERE expires <= ?"
        database.execute(f"{keep} AND tombstone_expires > ?", (now, now))
        purged = database.execute("DELETE FROM content WHERE expires <= ?", (now,)).rowcount
        purged += database.execute("DELETE FROM tombstone WHERE expires <= ?", (now,)).rowcount
        database.execute("COMMIT")
        if purged:
            database.executescript("PRAGMA incremental_vacuum")  # `execute` would free one page only
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return _next_expiry(database)

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
        """Overwrite the file and its log with zeros, then delete them."""
        for path in self._files():
            with contextlib.suppress(OSError), path.open("r+b", buffering=0) as file:
                for position in range(0, path.stat().st_size, _CHUNK_BYTES):
                    file.write(bytes(min(_CHUNK_BYTES, path.stat().st_size - position)))
                os.fsync(file.fileno())
            path.unlink(missing_ok=True)

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
        return sum(path.stat().st_size for path in self._files() if path.exists())

    def _files(self) -> list[Path]:
        return [self._path.with_name(FILE_NAME + suffix) for suffix in ("", "-wal", "-shm")]

    def _close(self) -> None:
        for database in (self._non_blocking, self._database):
            if database is not None:
                database.close()
        self._non_blocking = self._database = None

    def _put(
        self, database: sqlite3.Connection, name: str, content: bytes, seconds: float, tombstone_seconds: float
    ) -> None:
        self._make_room(database, len(content))
        self._insert(database, name, content, seconds, tombstone_seconds)

    def _insert(
        self, database: sqlite3.Connection, name: str, content: bytes, seconds: float, tombstone_seconds: float
    ) -> None:
        expires = self._clock() + seconds
        row = (name, expires, expires + tombstone_seconds, content)
        database.execute("INSERT OR REPLACE INTO content VALUES (?, ?, ?, ?)", row)

    def _make_room(self, database: sqlite3.Connection, size: int) -> None:
        """Drop the oldest tombstones if the file is full; a new link is worth more than a precise 410."""
        while self._used_bytes(database) + size > self._max_bytes:
            oldest = "DELETE FROM tombstone WHERE name IN (SELECT name FROM tombstone ORDER BY expires LIMIT ?)"
            if not database.execute(oldest, (_TOMBSTONE_BATCH,)).rowcount:
                raise StoreError(f"the artifact store has reached its maximum size of {self._max_bytes >> 20} MB")

    @staticmethod
    def _used_bytes(database: sqlite3.Connection) -> int:
        pages, free, size = (
            database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * size)

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
            non_blocking = self._connect()
        except BaseException:
            database.close()
            raise
        self._database, self._non_blocking = database, self._without_blocking(non_blocking)
        return database

    def _without_blocking(self, database: sqlite3.Connection) -> sqlite3.Connection | None:
        """Set up the connection for `try_put`; close it and return None if the file is larger than its maximum.

        SQLite keeps this connection from enlarging the file beyond the maximum, so that no query is necessary. It
        cannot if the maximum has been lowered: `put` then refuses content until expired content has made room.
        """
        for pragma in _NON_BLOCKING:
            database.execute(f"PRAGMA {pragma}").fetchall()
        (page_bytes,) = database.execute("PRAGMA page_size").fetchone()
        max_pages = self._max_bytes // page_bytes
        (pages,) = database.execute(f"PRAGMA max_page_count = {max_pages}").fetchone()
        if pages <= max_pages:
            return database
        database.close()
        return None

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
            # Has no effect once tables exist.
            database.execute("PRAGMA auto_vacuum = INCREMENTAL")
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


def _next_expiry(database: sqlite3.Connection) -> float | None:
    (next_expiry,) = database.execute("SELECT min(expires) FROM content").fetchone()
    return next_expiry if next_expiry is None else float(next_expiry)


def _is_locked(error: BaseException | None) -> bool:
    """Return whether SQLite failed because another connection holds a lock."""
    return isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) & 0xFF in _LOCKED
