"""Artifact store in a SQLite file, in a folder closed to other users.

It survives a restart. Expired content is overwritten with zeros and its space is freed, in the file and in the
write-ahead log (WAL).
"""

import contextlib
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from appliance.artifacts.store import StoreError

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


class SQLiteStore:
    """An `ArtifactStore` in a file of at most `max_bytes`."""

    def __init__(self, folder: Path, max_bytes: int, clock: Callable[[], float] = time.time) -> None:
        self._path = folder / FILE_NAME
        self._max_bytes = max_bytes
        self._clock = clock
        self._lock = threading.Lock()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.chmod(0o700)
            self._database = self._open()
            self._non_blocking = self._connect()
            for pragma in _NON_BLOCKING:
                self._non_blocking.execute(f"PRAGMA {pragma}").fetchall()
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"cannot open the artifact store in {folder}: {error}") from error
        self.purge()

    def put(self, name: str, content: bytes, seconds: float, *, tombstone_seconds: float = 0) -> None:
        """See `ArtifactStore`."""
        with self._locked() as database:
            self._put(database, name, content, seconds, tombstone_seconds)

    def try_put(self, name: str, content: bytes, seconds: float, *, tombstone_seconds: float = 0) -> bool:
        """See `ArtifactStore`."""
        try:
            self._put(self._non_blocking, name, content, seconds, tombstone_seconds)
        except sqlite3.Error:  # usually locked; the caller falls back to `put`, which reports other errors
            return False
        return True

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
        with self._locked() as database:
            database.execute("BEGIN IMMEDIATE")
            keep = "INSERT OR REPLACE INTO tombstone SELECT name, tombstone_expires FROM content WHERE expires <= ?"
            database.execute(f"{keep} AND tombstone_expires > ?", (now, now))
            purged = database.execute("DELETE FROM content WHERE expires <= ?", (now,)).rowcount
            purged += database.execute("DELETE FROM tombstone WHERE expires <= ?", (now,)).rowcount
            database.execute("COMMIT")
            if purged:
                database.executescript("PRAGMA incremental_vacuum")  # `execute` would free one page only
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            (next_expiry,) = database.execute("SELECT min(expires) FROM content").fetchone()
        return None if next_expiry is None else max(0.0, next_expiry - now)

    def check(self) -> None:
        """Verify that the file is writable, and checkpoint the WAL that `try_put` fills."""
        with self._locked() as database:
            database.execute("BEGIN IMMEDIATE")
            database.execute("ROLLBACK")
            database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._non_blocking.close()
            self._database.close()

    def _put(
        self, database: sqlite3.Connection, name: str, content: bytes, seconds: float, tombstone_seconds: float
    ) -> None:
        expires = self._clock() + seconds
        self._make_room(database, len(content))
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
        """Yield the connection to one thread at a time; translate SQLite errors to `StoreError`."""
        with self._lock:
            try:
                yield self._database
            except sqlite3.Error as error:
                with contextlib.suppress(sqlite3.Error):
                    if self._database.in_transaction:
                        self._database.execute("ROLLBACK")
                raise StoreError(f"the artifact store failed: {error}") from error

    def _open(self) -> sqlite3.Connection:
        try:
            return self._connect()
        except sqlite3.OperationalError:  # inaccessible or locked, not damaged
            raise
        except sqlite3.DatabaseError as error:
            log.warning("The artifact store is damaged or of another version; starting a new one", exc_info=error)
            for suffix in ("", "-wal", "-shm"):
                self._path.with_name(FILE_NAME + suffix).unlink(missing_ok=True)
            return self._connect()

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
