"""Artifacts: PDFs that belong to an answer, under a link that works for a short time, made when first fetched.

What is kept with a link is what its PDFs are made from. Of the token in the link only a hash is kept, together with
who asked for it: to anybody else, and for any other token, there simply is nothing.
"""

import asyncio
import contextlib
import dataclasses
import hashlib
import json
import logging
import re
import secrets
import time
import weakref
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import anyio.to_thread

from appliance.problems import Language, Problem, ProblemKind, Words
from appliance.schemas import Engine, Mode
from appliance.stores import Store, StoreError

log = logging.getLogger(__name__)

Kind: TypeAlias = Literal["validation_report_pdf", "readable_invoice_pdf", "zugferd_pdf"]

FILES: Final[Mapping[Kind, str]] = {
    "validation_report_pdf": "report.pdf",
    "readable_invoice_pdf": "invoice.pdf",
    "zugferd_pdf": "zugferd.pdf",
}
"""The name that each kind has in its link."""

PATH: Final = "/api/external/artifacts"
REMEMBERED_SECONDS: Final = 86_400
"""So long after its end a link is answered with 410, then with 404."""

CHECK_SECONDS: Final = 2
"""So often the store is asked whether it is there."""

_TOKEN_BYTES: Final = 24  # 192 random bits
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{32}")
_LONGEST_PAUSE: Final = 60.0
_SHORTEST_PAUSE: Final = 1.0
_SMALL: Final = 65_536
"""Bytes of a document that takes less than a millisecond to pack and to keep."""
_FAST: Final = 1  # of zlib; XML shrinks to a fifth all the same

ARTIFACT_NOT_FOUND = ProblemKind(
    "artifact_not_found",
    404,
    de=Words("Kein solches Dokument", "Unter dieser Adresse gibt es für diesen Schlüssel kein Dokument."),
    en=Words("No such document", "There is no document at this address for this key."),
)
ARTIFACT_EXPIRED = ProblemKind(
    "artifact_expired",
    410,
    de=Words("Abgelaufen", "Dieser Link ist abgelaufen; sein Inhalt ist gelöscht. Bitte die Datei erneut prüfen."),
    en=Words("Expired", "This link has expired; its content has been erased. Please have the file validated again."),
)
ARTIFACTS_UNAVAILABLE = ProblemKind(
    "artifacts_unavailable",
    503,
    de=Words("Gerade nicht erreichbar", "Der Speicher der Dokumente ist gerade nicht erreichbar. Bitte wiederholen."),
    en=Words("Not reachable now", "The store of documents is not reachable at the moment. Please try again."),
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What the PDFs of one answer are made from.

    Attributes:
        document: the file that was judged; where there is a link of the kind `zugferd_pdf`, that PDF itself.
        filename: what the caller calls it, "" where it has no name.
        lang: language of the answer.
        mode, engine: how it was judged, and by whom.
        judged_at: when, in seconds since 1970 (UTC).
    """

    document: bytes
    filename: str
    lang: Language
    mode: Mode
    judged_at: float
    engine: Engine = "native"


@dataclass(frozen=True, slots=True)
class Link:
    """A link that has been offered: its path, and how many seconds it works."""

    path: str
    seconds: int


Render: TypeAlias = Callable[[Kind, Recipe], Awaitable[bytes]]


@dataclass(frozen=True, slots=True)
class _Kept:
    """A recipe as it is kept."""

    recipe: Recipe
    kinds: tuple[Kind, ...]
    expires: float

    def pack(self) -> bytes:
        told = dataclasses.asdict(self.recipe) | {"document": None}
        head = json.dumps({"recipe": told, "kinds": self.kinds, "expires": self.expires}).encode()
        return zlib.compress(b"\n".join((head, self.recipe.document)), _FAST)

    @classmethod
    def unpack(cls, packed: bytes) -> "_Kept":
        head, _, document = zlib.decompress(packed).partition(b"\n")
        told: dict[str, Any] = json.loads(head)
        recipe = Recipe(**{**told["recipe"], "document": document})
        return cls(recipe, tuple(told["kinds"]), told["expires"])


class Artifacts:
    """The links of a running appliance, and what is behind them.

    Args:
        store: where recipes and PDFs are kept; without one there are no links.
        seconds: how long a link works.
        render: makes a PDF.

    Attributes:
        available: whether the store does what it is asked, as far as is known; so it is where there is to be none.
    """

    def __init__(self, store: Store | None, seconds: int, render: Render) -> None:
        self.available = True
        self._store = store
        self._seconds = seconds
        self._render = render
        self._turns: weakref.WeakValueDictionary[str, asyncio.Lock] = weakref.WeakValueDictionary()

    async def offer(self, holder: str, kinds: Collection[Kind], recipe: Recipe) -> dict[Kind, Link]:
        """Keep a recipe and return the links, one a kind, that the holder of a key can fetch its PDFs by.

        There are none where there is no store, or where it is full or away: an answer neither fails nor waits over its
        PDFs.
        """
        if self._store is None or not self.available or not kinds:
            return {}
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        kept = _Kept(recipe, tuple(kinds), time.time() + self._seconds)
        try:
            await self._put(self._store, _name(token, holder), kept)
        except StoreError as error:
            log.warning("An answer goes without links: %s", error)
            return {}
        return {kind: Link(f"{PATH}/{token}/{FILES[kind]}", self._seconds) for kind in kinds}

    async def fetch(self, token: str, file: str, holder: str) -> bytes:
        """Return the PDF behind a link.

        Raises:
            Problem: for this holder there is none (404), or no longer (410), or the store is away (503); and whatever
                making the PDF raises.
        """
        if self._store is None or not _TOKEN.fullmatch(token) or file not in FILES.values():
            raise Problem(ARTIFACT_NOT_FOUND)
        try:
            if not self.available:
                raise StoreError("the store is away")
            return await self._fetch(self._store, _name(token, holder), file)
        except StoreError as error:
            log.error("An artifact cannot be fetched: %s", error)
            raise Problem(ARTIFACTS_UNAVAILABLE, headers={"Retry-After": str(CHECK_SECONDS)}) from error

    async def check(self) -> None:
        """Find out whether the store is `available`."""
        if self._store is None:
            return
        try:
            await anyio.to_thread.run_sync(self._store.check)
        except StoreError as error:
            if self.available:
                log.error("The store of artifacts is away, answers go without links: %s", error)
            self.available = False
        else:
            if not self.available:
                log.info("The store of artifacts is back")
            self.available = True

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Erase what expires, and keep an eye on the store, as long as this lasts; close the store at its end."""
        if self._store is None:
            yield
            return
        await self.check()
        tasks = [asyncio.create_task(task) for task in (self._clean(self._store), self._watch())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await anyio.to_thread.run_sync(self._store.close)

    async def _put(self, store: Store, name: str, kept: _Kept) -> None:
        small = len(kept.recipe.document) <= _SMALL
        if small and store.put_at_once(name, kept.pack(), self._seconds, remembered=REMEMBERED_SECONDS):
            return

        def put() -> None:
            store.put(name, kept.pack(), self._seconds, remembered=REMEMBERED_SECONDS)

        await anyio.to_thread.run_sync(put)

    async def _fetch(self, store: Store, name: str, file: str) -> bytes:
        kept = await self._kept(store, name)
        kind = next((kind for kind in kept.kinds if FILES[kind] == file), None)
        if kind is None:
            raise Problem(ARTIFACT_NOT_FOUND)
        if kind == "zugferd_pdf":
            return kept.recipe.document
        made_name = f"{name}/{file}"
        turn = self._turns.setdefault(made_name, asyncio.Lock())  # who asks at the same time waits for the same PDF
        async with turn:
            made = await anyio.to_thread.run_sync(store.get, made_name)
            if made is None:
                made = await self._render(kind, kept.recipe)
                await self._keep(store, made_name, made, kept.expires - time.time())
        return made

    @staticmethod
    async def _kept(store: Store, name: str) -> _Kept:
        packed = await anyio.to_thread.run_sync(store.get, name)
        if packed is not None:
            kept = await anyio.to_thread.run_sync(_Kept.unpack, packed)
            if kept.expires > time.time():
                return kept
        elif not await anyio.to_thread.run_sync(store.had, name):
            raise Problem(ARTIFACT_NOT_FOUND)
        raise Problem(ARTIFACT_EXPIRED)

    @staticmethod
    async def _keep(store: Store, name: str, made: bytes, seconds: float) -> None:
        """Keep a PDF as long as its link works; where that cannot be, it is made again the next time."""
        if seconds <= 0:
            return
        try:
            await anyio.to_thread.run_sync(store.put, name, made, seconds)
        except StoreError as error:
            log.warning("A PDF is not kept: %s", error)

    async def _watch(self) -> None:
        """Keep `available` up to date, so that no request has to find out by waiting."""
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            await self.check()

    async def _clean(self, store: Store) -> None:
        """Erase contents when they expire, those of one second together; none that comes meanwhile expires sooner."""
        longest = min(_LONGEST_PAUSE, self._seconds)
        while True:
            try:
                pause = await anyio.to_thread.run_sync(store.clean)
            except StoreError as error:
                log.error("What has expired could not be erased: %s", error)
                pause = None
            await asyncio.sleep(longest if pause is None else max(_SHORTEST_PAUSE, min(pause, longest)))


def _name(token: str, holder: str) -> str:
    """The name that a token has in the store: it opens nothing, and tells neither the token nor its holder."""
    return hashlib.sha256(f"{holder}\n{token}".encode()).hexdigest()
