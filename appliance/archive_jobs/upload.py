"""Receives the archive of a job: it is stored while it arrives."""

import contextlib
from collections.abc import Iterator

from appliance.archive_jobs.job_store import CHUNK_BYTES, JobGone, JobStore, Overlapping
from appliance.archive_jobs.records import job_name, new_id
from appliance.archive_jobs.runner import in_thread
from appliance.archive_jobs.zip_directory import ArchiveError, TooManyFiles
from appliance.artifacts.store import StoreError
from appliance.contract.problems import Problem, ProblemType
from appliance.settings import Settings
from appliance.transport.uploads import FileField

JOB_TOO_LARGE = ProblemType("job_too_large", 413, example={"name": "invoices.zip", "megabytes": 100})
ONE_ARCHIVE_EXPECTED = ProblemType("one_file_expected", 422, example={"field": "file"})
NO_ZIP = ProblemType("archive_unreadable", 422)
ARCHIVE_EMPTY = ProblemType("archive_empty", 422)
ARCHIVE_BOMB = ProblemType("archive_refused", 422)
TOO_MANY_ARCHIVED = ProblemType("too_many_archived_files", 422, example={"limit": 25_000})
JOB_NOT_FOUND = ProblemType("job_not_found", 404)
JOBS_UNAVAILABLE = ProblemType("jobs_unavailable", 503)

RETRY_AFTER = {"Retry-After": "60"}


def archive_field(settings: Settings) -> FileField:
    """Return the form field of an archive."""
    return FileField(
        "file", 1, ONE_ARCHIVE_EXPECTED, max_bytes=settings.job_megabytes << 20, size_problem=JOB_TOO_LARGE
    )


class Upload:
    """An archive that is being received.

    Args:
        store: the jobs.
        settings: settings of the service.
        now: time of the beginning, in seconds since 1970.
        holder: name of the key holder.

    Attributes:
        id: identifier of the job.
    """

    def __init__(self, store: JobStore, settings: Settings, now: float, holder: str) -> None:
        self._store = store
        self._settings = settings
        self._holder = holder
        self.id = new_id(now)
        self._name = job_name(holder, self.id)
        self._buffer = bytearray()
        self._chunks = 0

    async def add(self, content: bytes) -> None:
        """Store a piece of the archive.

        Raises:
            Problem: the store is full or unavailable.
        """
        self._buffer += content
        while len(self._buffer) >= CHUNK_BYTES:
            await self._put(bytes(self._buffer[:CHUNK_BYTES]))
            del self._buffer[:CHUNK_BYTES]

    async def _put(self, chunk: bytes) -> None:
        seconds = self._settings.job_seconds
        with translated_errors():
            await in_thread(self._store.put_chunk, self._name, self._chunks, chunk, seconds, self._holder)
        self._chunks += 1

    async def finish(self, rest: bytes) -> int:
        """Store the last piece and the list of files; return their number.

        Raises:
            Problem: the archive is refused, or the store is full or unavailable.
        """
        await self.add(rest)
        size = self._chunks * CHUNK_BYTES + len(self._buffer)
        if self._buffer:
            await self._put(bytes(self._buffer))
        settings = self._settings
        try:
            with translated_errors():
                files = await in_thread(
                    self._store.add_list, self._name, size, settings.job_files, settings.job_seconds, self._holder
                )
        except ArchiveError:
            raise Problem(NO_ZIP) from None
        except TooManyFiles:
            raise Problem(TOO_MANY_ARCHIVED, limit=settings.job_files) from None
        except Overlapping:
            raise Problem(ARCHIVE_BOMB) from None
        if not files:
            raise Problem(ARCHIVE_EMPTY)
        return files

    async def discard(self) -> None:
        """Erase what has been stored. If the store cannot do so now, it does when the time of the job is over."""
        with contextlib.suppress(StoreError):
            await in_thread(self._store.erase_data, self._name)


@contextlib.contextmanager
def translated_errors() -> Iterator[None]:
    """Raise errors of the store as problems, and so a job that is gone."""
    try:
        yield
    except StoreError:
        raise Problem(JOBS_UNAVAILABLE, headers=RETRY_AFTER) from None
    except JobGone:
        raise Problem(JOB_NOT_FOUND) from None
