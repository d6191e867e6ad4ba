"""Artifacts: PDFs that belong to a response, rendered when first fetched through a link with a limited lifetime.

The store holds the source of the PDFs under a hash of the token and the key holder. The token itself is not stored.
Other key holders get the same response as for an unknown token.
"""

import asyncio
import contextlib
import dataclasses
import functools
import hashlib
import logging
import re
import secrets
import time
import weakref
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import anyio.to_thread
from isal import isal_zlib

from appliance.artifacts.store import ArtifactStore, ShareExceeded, StoreError, StoreFull
from appliance.contract.paths import ARTIFACT_FILES, artifact_path
from appliance.contract.problems import Problem, ProblemType
from appliance.contract.serialization import from_json, to_json
from appliance.contract.values import ArtifactKind, Engine, Language, Mode
from appliance.steady_clock import SteadyClock

log = logging.getLogger(__name__)

TOMBSTONE_SECONDS: Final = 86_400
"""Time after expiry during which a link is answered with 410; later with 404."""

CHECK_SECONDS: Final = 2
"""Interval between checks of the store."""

REFUSED_SECONDS: Final = 60
"""Time after content was refused, usually for lack of space, for which the store counts as unavailable."""

_TOKEN_BYTES: Final = 24  # 192 random bits
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{32}")
_MAX_PURGE_INTERVAL: Final = 60.0
_MIN_PURGE_INTERVAL: Final = 1.0
_SMALL_BYTES: Final = 65_536
"""Size up to which a document is compressed and stored in less than a millisecond."""
_ZLIB_LEVEL: Final = 1

ARTIFACT_NOT_FOUND = ProblemType("artifact_not_found", 404)
ARTIFACT_EXPIRED = ProblemType("artifact_expired", 410)
ARTIFACTS_UNAVAILABLE = ProblemType("artifacts_unavailable", 503)
STORE_UNAVAILABLE = ProblemType("store_unavailable", 503)


@dataclass(frozen=True, slots=True)
class ArtifactSource:
    """The source from which the PDFs of a response are rendered.

    Attributes:
        document: the validated file; for links of the kind `zugferd_pdf`, that PDF itself.
        filename: file name given by the caller, or "".
        lang: language of the response.
        mode: validation mode.
        validated_at: time of validation, in seconds since 1970 (UTC).
        engine: validation engine.
        assess: whether the report states the assessment.
    """

    document: bytes
    filename: str
    lang: Language
    mode: Mode
    validated_at: float
    engine: Engine = "native"
    assess: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A link: its path, and its lifetime in seconds."""

    path: str
    seconds: int


_SOURCE_FIELDS: Final = tuple(field.name for field in dataclasses.fields(ArtifactSource) if field.name != "document")

Render: TypeAlias = Callable[[ArtifactKind, ArtifactSource, str], Awaitable[bytes]]


@dataclass(frozen=True, slots=True)
class _Record:
    """A stored source, with the kinds of its links and their expiry time."""

    source: ArtifactSource
    kinds: tuple[ArtifactKind, ...]
    expires: float

    def pack(self) -> bytes:
        source = {name: getattr(self.source, name) for name in _SOURCE_FIELDS}
        head = to_json({"source": source, "kinds": self.kinds, "expires": self.expires})
        return isal_zlib.compress(b"\n".join((head, self.source.document)), _ZLIB_LEVEL)

    @classmethod
    def unpack(cls, packed: bytes) -> "_Record":
        head, _, document = zlib.decompress(packed).partition(b"\n")
        members: dict[str, Any] = from_json(head)
        source = ArtifactSource(**{**members["source"], "document": document})
        return cls(source, tuple(members["kinds"]), members["expires"])


class ArtifactLinks:
    """Creates links and fetches the PDFs behind them.

    Args:
        store: store for sources and PDFs; None disables links.
        seconds: lifetime of a link.
        render: renders a PDF for the holder of a key.
        clock: time in seconds since 1970.

    Attributes:
        dropped: number of responses sent without links because the store was full or unavailable.
    """

    def __init__(
        self,
        store: ArtifactStore | None,
        seconds: int,
        render: Render,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.dropped = 0
        self._reachable = True
        self._writable = True
        self._refused_at: float | None = None
        self._holder_refused_at: dict[str, float] = {}
        self._clock = clock or SteadyClock()
        self._store = store
        self._seconds = seconds
        self._render = render
        self._locks: weakref.WeakValueDictionary[str, asyncio.Lock] = weakref.WeakValueDictionary()

    @property
    def enabled(self) -> bool:
        """Whether there is a store."""
        return self._store is not None

    @property
    def writable(self) -> bool:
        """Whether links can be created, as far as the last check tells; False if they are disabled."""
        return self.enabled and self._writable

    @property
    def retry_seconds(self) -> int:
        """Time after which a store that is unavailable, or full, may accept content again."""
        return REFUSED_SECONDS if self._reachable else CHECK_SECONDS

    @property
    def available(self) -> bool:
        """Whether the store had space at the last check, and has refused nothing for a minute; True if disabled.

        A store that refuses content is still tried: smaller content may fit.
        """
        return self._writable and self._refused_at is None and not self._holder_refused_at

    def is_offered(self, holder: str) -> bool:
        """Return whether the holder of a key may expect links: as `available`, but without refusals to others."""
        return self.writable and self._refused_at is None and _digest(holder) not in self._holder_refused_at

    async def create(
        self, holder: str, kinds: Collection[ArtifactKind], source: ArtifactSource
    ) -> dict[ArtifactKind, Link]:
        """Store a source for the holder of a key and return its links, one per kind.

        Returns no links if the store is disabled, full or unavailable: a response neither fails nor waits for its PDFs.
        """
        if self._store is None or not kinds:
            return {}
        if not self._writable:
            self.dropped += 1
            return {}
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        record = _Record(source, tuple(kinds), self._clock() + self._seconds)
        try:
            await self._put_record(self._store, _store_name(token, holder), record, _digest(holder))
        except StoreError as error:
            self._note_refusal(error, _digest(holder))
            self.dropped += 1
            return {}
        return {kind: Link(artifact_path(token, kind), self._seconds) for kind in kinds}

    async def fetch(self, token: str, file: str, holder: str) -> bytes:
        """Return the PDF behind a link.

        Raises:
            Problem: the link does not exist for this holder (404), has expired (410), or the store is
                unavailable (503).
            Exception: whatever the renderer raises.
        """
        store, name = self._find(token, file, holder)
        with self._translated_errors("fetched"):
            return await self._fetch(store, name, file, holder)

    async def delete(self, token: str, file: str, holder: str) -> None:
        """Erase the source of a link, with all links that were created with it.

        Raises:
            Problem: as in `fetch`.
        """
        store, name = self._find(token, file, holder)
        with self._translated_errors("deleted"):
            await self._require_link(store, name, file)
            await self._delete(store, name)

    def _find(self, token: str, file: str, holder: str) -> tuple[ArtifactStore, str]:
        """Return the store, and the name of a token in it."""
        if self._store is None or not _TOKEN.fullmatch(token) or file not in ARTIFACT_FILES.values():
            raise Problem(ARTIFACT_NOT_FOUND)
        return self._store, _store_name(token, holder)

    @contextlib.contextmanager
    def _translated_errors(self, done: str) -> Iterator[None]:
        try:
            if not self._reachable:
                raise StoreError("the store is unavailable")
            yield
        except StoreError as error:
            if self._reachable:  # otherwise `check` has logged it
                log.error("An artifact could not be %s: %s", done, error)
            raise Problem(ARTIFACTS_UNAVAILABLE, headers={"Retry-After": str(CHECK_SECONDS)}) from error

    async def check(self) -> None:
        """Check the store, update `available`, and log a change."""
        if self._store is None:
            return
        was_available = self.available
        try:
            await anyio.to_thread.run_sync(self._store.check)
        except StoreError as error:
            if self._writable:
                state = "full" if isinstance(error, StoreFull) else "unavailable"
                log.error("The artifact store is %s; responses are sent without links: %s", state, error)
            self._writable, self._reachable = False, isinstance(error, StoreFull)
            return
        self._writable = self._reachable = True
        earlier = time.monotonic() - REFUSED_SECONDS
        if self._refused_at is not None and self._refused_at <= earlier:
            self._refused_at = None
        self._holder_refused_at = {key: at for key, at in self._holder_refused_at.items() if at > earlier}
        if self.available and not was_available:
            log.info("The artifact store is available again")

    def _note_refusal(self, error: StoreError, holder: str) -> None:
        """Log the first of several refusals."""
        if self.available:
            log.warning("The artifact store refused content; further refusals are not logged: %s", error)
        if isinstance(error, ShareExceeded):
            self._holder_refused_at[holder] = time.monotonic()
        else:
            self._refused_at = time.monotonic()

    def store_bytes(self) -> float:
        """Return the size of the store in bytes: 0 if links are disabled, NaN if it is not known."""
        return 0 if self._store is None else self._store.size()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Purge and check the store in the background; close it on exit."""
        if self._store is None:
            yield
            return
        await self.check()
        loops = (self._purge_periodically(self._store), self._check_periodically())
        tasks = [asyncio.create_task(loop) for loop in loops]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await anyio.to_thread.run_sync(self._store.close)

    async def _put_record(self, store: ArtifactStore, name: str, record: _Record, holder: str) -> None:
        options: dict[str, Any] = {"tombstone_seconds": TOMBSTONE_SECONDS, "holder": holder}
        small = len(record.source.document) <= _SMALL_BYTES
        if small and store.try_put(name, record.pack(), self._seconds, **options):
            return

        def put() -> None:
            store.put(name, record.pack(), self._seconds, **options)

        await anyio.to_thread.run_sync(put)

    async def _fetch(self, store: ArtifactStore, name: str, file: str, holder: str) -> bytes:
        record, kind = await self._require_link(store, name, file)
        if kind == "zugferd_pdf":
            return record.source.document
        pdf_name = f"{name}/{file}"
        lock = self._locks.setdefault(pdf_name, asyncio.Lock())  # concurrent requests share one rendering
        async with lock:
            pdf = await anyio.to_thread.run_sync(store.get, pdf_name)
            if pdf is None:
                pdf = await self._render(kind, record.source, holder)
                await self._put_pdf(store, pdf_name, pdf, record.expires - self._clock(), _digest(holder))
                if await anyio.to_thread.run_sync(store.get, name) is None:  # deleted meanwhile, or expired
                    await self._delete(store, name)
        return pdf

    @staticmethod
    async def _require_link(store: ArtifactStore, name: str, file: str) -> tuple[_Record, ArtifactKind]:
        """Return the record and the kind of a link; raise `Problem` if it does not exist or has expired."""
        packed = await anyio.to_thread.run_sync(store.get, name)
        if packed is None:
            has_expired = await anyio.to_thread.run_sync(store.has_expired, name)
            raise Problem(ARTIFACT_EXPIRED if has_expired else ARTIFACT_NOT_FOUND)
        record = await anyio.to_thread.run_sync(_Record.unpack, packed)
        kind = next((kind for kind in record.kinds if ARTIFACT_FILES[kind] == file), None)
        if kind is None:
            raise Problem(ARTIFACT_NOT_FOUND)
        return record, kind

    @staticmethod
    async def _delete(store: ArtifactStore, name: str) -> None:
        pdfs = (f"{name}/{file}" for file in ARTIFACT_FILES.values())
        await anyio.to_thread.run_sync(store.delete, name, *pdfs)

    async def _put_pdf(self, store: ArtifactStore, name: str, pdf: bytes, seconds: float, holder: str) -> None:
        """Store a PDF for the rest of its link's lifetime; if that fails, the next request renders it again."""
        seconds = min(seconds, self._seconds)  # the clocks of replicas may differ
        if seconds <= 0:
            return
        try:
            await anyio.to_thread.run_sync(functools.partial(store.put, name, pdf, seconds, holder=holder))
        except StoreError as error:
            self._note_refusal(error, holder)

    async def _check_periodically(self) -> None:
        """Keep `available` up to date, so that requests do not run into timeouts."""
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            await self.check()

    async def _purge_periodically(self, store: ArtifactStore) -> None:
        """Purge expired content, at most once a second; content stored between two purges outlives the second."""
        max_interval = min(_MAX_PURGE_INTERVAL, self._seconds)
        while True:
            try:
                interval = await anyio.to_thread.run_sync(store.purge)
            except StoreError as error:
                log.error("Expired content could not be erased: %s", error)
                interval = None
            await asyncio.sleep(
                max_interval if interval is None else max(_MIN_PURGE_INTERVAL, min(interval, max_interval))
            )


@functools.cache
def _digest(holder: str) -> str:
    """Return the name of a holder in the store: a hash."""
    return hashlib.sha256(holder.encode()).hexdigest()[:32]


def _store_name(token: str, holder: str) -> str:
    """Return the name of a token in the store: a hash that reveals neither the token nor its holder."""
    return hashlib.sha256(f"{holder}\n{token}".encode()).hexdigest()
