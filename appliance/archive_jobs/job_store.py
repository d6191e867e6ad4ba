"""Jobs in an artifact store: the job, its progress, the archive in chunks, and blocks of results.

    job/HOLDER/ID        the job                job-open/HOLDER/ID   exists until the job is done
    job-data/HOLDER/ID/… all the rest           job-lease/HOLDER/ID  the server that works on it

HOLDER is a hash of the name of the key holder: a job is found with the name of its holder only.
"""

import itertools
import secrets
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from appliance.archive_jobs.records import Job, Progress, folder, job_name, new_id
from appliance.archive_jobs.zip_directory import Entry, ReadAt, entries
from appliance.artifacts.store import ArtifactStore
from appliance.contract.serialization import from_json, to_json
from appliance.workers.protocol import Message

CHUNK_BYTES: Final = 1 << 20
LISTED_FILES: Final = 256
"""Number of files in a block of the list."""
TOMBSTONE_SECONDS: Final = 86_400
LEASE_SECONDS: Final = 30.0

_MAX_RATIO: Final = 100
"""How many times its own size an archive may have unpacked; usual ones have 5 to 30 times."""
_ZLIB_LEVEL: Final = 1


class Overlapping(Exception):  # noqa: N818 (a property of an archive)
    """Files of an archive share bytes, or have more than a hundred times its size: a decompression bomb."""


class JobGone(Exception):  # noqa: N818 (a state)
    """The job was deleted, or has expired."""


class JobStore:
    """The jobs.

    Args:
        store: where they are stored.
        clock: time in seconds since 1970.
        is_shared: whether other servers work on jobs in this store, too.
    """

    def __init__(self, store: ArtifactStore, clock: Callable[[], float], *, is_shared: bool = False) -> None:
        self._store = store
        self._clock = clock
        self._is_shared = is_shared
        self._owner = secrets.token_bytes(16)
        self._first_id = new_id(clock())

    def put_chunk(self, name: str, number: int, content: bytes, seconds: float, holder: str) -> None:
        """Store a chunk of an archive.

        Raises:
            StoreError: it was not stored.
        """
        self._store.put(_data(name, "zip", number), content, seconds, holder=folder(holder))

    def add_list(self, name: str, size: int, max_files: int, seconds: float, holder: str) -> int:
        """Store the list of files of an archive, whose chunks are stored; return their number.

        Raises:
            ArchiveError, TooManyFiles, Overlapping: the archive is refused.
            StoreError: the list was not stored.
        """
        starts, ends, unpacked, count = array("Q"), array("Q"), 0, 0
        block: list[Entry] = []
        for entry in _distinct(entries(self.reader(name), size, max_files)):
            starts.append(entry.offset)
            ends.append(entry.offset + entry.packed)
            unpacked += entry.size
            count += 1
            block.append(entry)
            if len(block) == LISTED_FILES:
                self._put_list(name, count - len(block), block, seconds, holder)
                block = []
        if block:
            self._put_list(name, count - len(block), block, seconds, holder)
        order = sorted(range(count), key=starts.__getitem__)
        if unpacked > _MAX_RATIO * max(size, CHUNK_BYTES) or any(
            starts[after] < ends[before] for before, after in itertools.pairwise(order)
        ):
            raise Overlapping
        return count

    def _put_list(self, name: str, first: int, block: list[Entry], seconds: float, holder: str) -> None:
        packed = zlib.compress(to_json(block), _ZLIB_LEVEL)
        self._store.put(_data(name, "list", first // LISTED_FILES), packed, seconds, holder=folder(holder))

    def listed(self, job: Job, block: int) -> list[Entry]:
        """Return the files of a block of the list."""
        return [Entry(*it) for it in from_json(zlib.decompress(self._require(_data(job.name, "list", block))))]

    def reader(self, name: str) -> ReadAt:
        """Return a function that reads the archive of a job. It keeps the last chunk."""
        kept: tuple[int, bytes] = (-1, b"")

        def chunk(number: int) -> bytes:
            nonlocal kept
            if kept[0] != number:
                kept = (number, self._require(_data(name, "zip", number)))
            return kept[1]

        def read_at(offset: int, size: int) -> bytes:
            pieces = []
            while size > 0:
                number, start = divmod(offset, CHUNK_BYTES)
                try:
                    piece = chunk(number)[start : start + size]
                except JobGone:  # also behind the end
                    break
                if not piece:
                    break
                pieces.append(piece)
                offset, size = offset + len(piece), size - len(piece)
            return b"".join(pieces)

        return read_at

    def add(self, job: Job) -> None:
        """Add a job whose archive and list are stored.

        Raises:
            StoreError: it was not added.
        """
        self.put_progress(job, Progress())
        self._put(job, f"job-open/{job.name}", b"")
        self._put(job, f"job/{job.name}", job.pack(), tombstone_seconds=TOMBSTONE_SECONDS)

    def find(self, holder: str, id: str) -> Job | None:
        """Return a job of a holder, or None."""
        packed = self._store.get(f"job/{job_name(holder, id)}")
        return None if packed is None else Job.unpack(packed)

    def has_expired(self, holder: str, id: str) -> bool:
        """Return whether there was a job that has expired."""
        return self._store.has_expired(f"job/{job_name(holder, id)}")

    def jobs(self, holder: str) -> list[Job]:
        """Return the jobs of a holder, the latest first."""
        found = map(self._store.get, sorted(self._store.names(f"job/{folder(holder)}"), reverse=True))
        return [Job.unpack(packed) for packed in found if packed is not None]

    def open_jobs(self) -> list[Job]:
        """Return the jobs that are not done, the earliest first."""
        names = sorted(name.removeprefix("job-open/") for name in self._store.names("job-open/"))
        found = (self._store.get(f"job/{name}") for name in names)
        return sorted((Job.unpack(packed) for packed in found if packed is not None), key=lambda it: it.id)

    def lease(self, job: Job) -> bool:
        """Reserve a job for this server for `LEASE_SECONDS`; return whether it is not reserved for another one."""
        if not self._is_shared:
            return True
        name = f"job-lease/{job.name}"
        if self._store.get(name) not in (None, self._owner):
            return False
        self._store.put(name, self._owner, LEASE_SECONDS, holder=folder(job.holder))
        return self._store.get(name) == self._owner

    def release(self, job: Job) -> None:
        """Release a job."""
        if self._is_shared:
            self._store.delete(f"job-lease/{job.name}")

    def progress(self, job: Job) -> Progress:
        """Return how far a job is."""
        return Progress.unpack(self._require(_data(job.name, "progress")))

    def put_progress(self, job: Job, progress: Progress) -> None:
        """Store how far a job is."""
        self._put(job, _data(job.name, "progress"), progress.pack())

    def put_block(self, job: Job, kind: str, number: int, parts: Iterable[bytes]) -> None:
        """Store a block of a kind of results; it takes the place of one with the same number.

        Raises:
            JobGone: the job was deleted meanwhile.
            StoreError: it was not stored.
        """
        packed = zlib.compress(Message({}, tuple(parts)).pack(), _ZLIB_LEVEL)
        self._put(job, _data(job.name, kind, number), packed)
        if self._store.get(f"job/{job.name}") is None:
            self.erase(job)
            raise JobGone

    def block(self, job: Job, kind: str, number: int) -> tuple[bytes, ...]:
        """Return a block of results.

        Raises:
            JobGone: there is none.
        """
        return Message.unpack(zlib.decompress(self._require(_data(job.name, kind, number)))).parts

    def finish(self, job: Job, progress: Progress) -> None:
        """Store that a job is done, and erase its archive."""
        self.put_progress(job, progress)
        data = f"job-data/{job.name}"
        archive = (name for kind in ("zip", "list") for name in self._store.names(f"{data}/{kind}/"))
        self._store.delete(f"job-open/{job.name}", *archive)

    def erase(self, job: Job) -> None:
        """Erase a job with all that belongs to it.

        Raises:
            StoreError: not all of it was erased.
        """
        self._store.delete(f"job/{job.name}", f"job-open/{job.name}")
        self.erase_data(job.name)

    def erase_data(self, name: str) -> None:
        """Erase the archive and the results of a job."""
        self._store.delete(*self._store.names(f"job-data/{name}/"))

    def erase_remains(self) -> None:
        """Erase archives whose upload began before this server, and did not end because the one before did.

        In a shared store they may be those that other servers receive; they expire.
        """
        if self._is_shared:
            return
        stored = {"/".join(name.split("/")[1:3]) for name in self._store.names("job-data/")}
        for name in stored - {it.removeprefix("job/") for it in self._store.names("job/")}:
            if name.partition("/")[2] < self._first_id:
                self.erase_data(name)

    def size(self) -> float:
        """Return the size of the store in bytes; NaN if it is not known."""
        return self._store.size()

    def purge(self) -> None:
        """Erase what has expired."""
        self._store.purge()

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def _put(self, job: Job, name: str, content: bytes, **options: Any) -> None:
        seconds = job.expires - self._clock()
        if seconds <= 0:
            raise JobGone
        self._store.put(name, content, seconds, holder=folder(job.holder), **options)

    def _require(self, name: str) -> bytes:
        content = self._store.get(name)
        if content is None:
            raise JobGone
        return content


def _data(name: str, kind: str, number: int | None = None) -> str:
    return f"job-data/{name}/{kind}" + ("" if number is None else f"/{number:08}")


def _distinct(found: Iterable[Entry]) -> Iterator[Entry]:
    """Yield the files; add a number to a name that occurred before, such as "a.xml (2)".

    Names are kept as hashes: each may have 64 KB.
    """
    counts: Counter[int] = Counter()
    for entry in found:
        first = hash(entry.name)
        name, number = entry.name, counts[first] + 1
        while number > 1 and hash(name := f"{entry.name} ({number})") in counts:
            number += 1
        counts[first] = number
        counts[hash(name)] = max(1, counts[hash(name)])
        yield entry._replace(name=name)
