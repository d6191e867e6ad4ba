"""The store in a file: SQLite, in a folder that is closed to other users.

It outlives a restart. What has expired is overwritten with zeros and given back to the system, in the file and in the
log that SQLite keeps beside it.
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

from appliance.stores import StoreError

log = logging.getLogger(__name__)

NAME: Final = "artifacts.sqlite"
_FORM: Final = 1
"""The form of the file; one of another form, or a damaged one, is thrown away: it holds nothing that lasts."""

_TABLES: Final = """
CREATE TABLE content (name TEXT PRIMARY KEY, expires REAL NOT NULL, forgotten REAL NOT NULL, content BLOB NOT NULL);
CREATE INDEX content_expires ON content (expires);
CREATE TABLE trace (name TEXT PRIMARY KEY, forgotten REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX trace_forgotten ON trace (forgotten);
"""
_WAIT_SECONDS: Final = 5.0
"""So long another process on the same file is waited for."""
_AT_ONCE: Final = ("busy_timeout = 0", "wal_autocheckpoint = 0")
"""What writes at once waits neither for others nor for the disk; `check` brings the log into the file."""
_FORGET: Final = 10_000
"""So many traces are forgotten at once to make room."""


class FileStore:
    """A store in a file of `most` bytes at most. See `appliance.stores.Store` for what it does."""

    def __init__(self, folder: Path, most: int, clock: Callable[[], float] = time.time) -> None:
        self._path = folder / NAME
        self._most = most
        self._clock = clock
        self._lock = threading.Lock()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.chmod(0o700)
            self._database = self._open()
            self._at_once = self._connect()
            for setting in _AT_ONCE:
                self._at_once.execute(f"PRAGMA {setting}").fetchall()
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"there is no place for artifacts in {folder}: {error}") from error
        self.clean()

    def put(self, name: str, content: bytes, seconds: float, *, remembered: float = 0) -> None:
        """Keep a content."""
        with self._working() as database:
            self._put(database, name, content, seconds, remembered)

    def put_at_once(self, name: str, content: bytes, seconds: float, *, remembered: float = 0) -> bool:
        """Keep a content, unless somebody else is writing."""
        try:
            self._put(self._at_once, name, content, seconds, remembered)
        except sqlite3.Error:  # such as: locked; `put` waits, and tells of what is worse
            return False
        return True

    def get(self, name: str) -> bytes | None:
        """Return a content."""
        with self._working() as database:
            query = "SELECT content FROM content WHERE name = ? AND expires > ?"
            row = database.execute(query, (name, self._clock())).fetchone()
        return None if row is None else bytes(row[0])

    def had(self, name: str) -> bool:
        """Whether there was one that has expired."""
        now = self._clock()
        with self._working() as database:
            expired = "SELECT 1 FROM content WHERE name = ? AND expires <= ? AND forgotten > ?"
            erased = "SELECT 1 FROM trace WHERE name = ? AND forgotten > ?"
            row = database.execute(expired, (name, now, now)).fetchone()
            return (row or database.execute(erased, (name, now)).fetchone()) is not None

    def clean(self) -> float | None:
        """Erase what has expired."""
        now = self._clock()
        with self._working() as database:
            database.execute("BEGIN IMMEDIATE")
            kept = "INSERT OR REPLACE INTO trace SELECT name, forgotten FROM content WHERE expires <= ?"
            database.execute(f"{kept} AND forgotten > ?", (now, now))
            erased = database.execute("DELETE FROM content WHERE expires <= ?", (now,)).rowcount
            erased += database.execute("DELETE FROM trace WHERE forgotten <= ?", (now,)).rowcount
            database.execute("COMMIT")
            if erased:
                database.executescript("PRAGMA incremental_vacuum")  # `execute` would free one page only
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            (first,) = database.execute("SELECT min(expires) FROM content").fetchone()
        return None if first is None else max(0.0, first - now)

    def check(self) -> None:
        """Make sure that the file can be written; bring what was put at once from the log into it."""
        with self._working() as database:
            database.execute("BEGIN IMMEDIATE")
            database.execute("ROLLBACK")
            database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._at_once.close()
            self._database.close()

    def _put(self, database: sqlite3.Connection, name: str, content: bytes, seconds: float, remembered: float) -> None:
        expires = self._clock() + seconds
        self._make_room(database, len(content))
        row = (name, expires, expires + remembered, content)
        database.execute("INSERT OR REPLACE INTO content VALUES (?, ?, ?, ?)", row)

    def _make_room(self, database: sqlite3.Connection, size: int) -> None:
        """Forget why links are gone rather than refuse a new one."""
        while self._used(database) + size > self._most:
            oldest = "DELETE FROM trace WHERE name IN (SELECT name FROM trace ORDER BY forgotten LIMIT ?)"
            if not database.execute(oldest, (_FORGET,)).rowcount:
                raise StoreError(f"the store of artifacts has reached its {self._most >> 20} MB")

    @staticmethod
    def _used(database: sqlite3.Connection) -> int:
        pages, free, size = (
            database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * size)

    @contextlib.contextmanager
    def _working(self) -> Iterator[sqlite3.Connection]:
        """The file, for one thread at a time."""
        with self._lock:
            try:
                yield self._database
            except sqlite3.Error as error:
                with contextlib.suppress(sqlite3.Error):
                    if self._database.in_transaction:
                        self._database.execute("ROLLBACK")
                raise StoreError(f"the file of artifacts cannot be used: {error}") from error

    def _open(self) -> sqlite3.Connection:
        try:
            return self._connect()
        except sqlite3.OperationalError:  # not to be opened or locked: it is not the file that is at fault
            raise
        except sqlite3.DatabaseError as error:
            log.warning("The file of artifacts is damaged or of another form; a new one is begun", exc_info=error)
            for suffix in ("", "-wal", "-shm"):
                self._path.with_name(NAME + suffix).unlink(missing_ok=True)
            return self._connect()

    def _connect(self) -> sqlite3.Connection:
        # Made here and not by SQLite, so that nobody else can read it at any moment; the log beside it takes after it.
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        self._path.chmod(0o600)
        database = sqlite3.connect(
            self._path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=32
        )
        try:
            # Before there are tables, or it has no effect.
            database.execute("PRAGMA auto_vacuum = INCREMENTAL")
            for setting in ("journal_mode = WAL", "synchronous = NORMAL", "secure_delete = ON"):
                database.execute(f"PRAGMA {setting}").fetchall()
            self._make_tables(database)
        except BaseException:
            database.close()
            raise
        return database

    @staticmethod
    def _make_tables(database: sqlite3.Connection) -> None:
        """Make the tables in a new file; two processes may begin one at the same time."""
        database.execute("BEGIN IMMEDIATE")
        (form,) = database.execute("PRAGMA user_version").fetchone()
        (tables,) = database.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if form != _FORM and tables:
            raise sqlite3.DatabaseError(f"its form is {form}, not {_FORM}")
        if form != _FORM:
            for statement in filter(None, map(str.strip, _TABLES.split(";"))):
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {_FORM}")
        database.execute("COMMIT")
