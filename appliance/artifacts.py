"""Artifacts: PDFs that belong to an answer, kept for a short time under a link, made when they are first fetched."""

import hashlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias

from appliance.keys import Key
from appliance.problems import Language, Problem, ProblemKind, Words
from appliance.schemas import UNAVAILABLE, Artifact, Mode

Kind: TypeAlias = Literal["validation_report_pdf", "readable_invoice_pdf", "zugferd_pdf"]

FILES: Final[dict[Kind, str]] = {
    "validation_report_pdf": "report.pdf",
    "readable_invoice_pdf": "invoice.pdf",
    "zugferd_pdf": "zugferd.pdf",
}
"""The name that each kind has in its link."""

ARTIFACT_NOT_FOUND = ProblemKind(
    "artifact_not_found",
    404,
    de=Words("Kein solches Dokument", "Unter dieser Adresse gibt es für diesen Schlüssel kein Dokument."),
    en=Words("No such document", "There is no document at this address for this key."),
)
ARTIFACT_EXPIRED = ProblemKind(
    "artifact_expired",
    410,
    de=Words("Abgelaufen", "Die Gültigkeit dieses Links ist abgelaufen; das Dokument ist gelöscht."),
    en=Words("Expired", "This link has expired; the document has been erased."),
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What an artifact is made from, later.

    Attributes:
        document: the file that was judged, or for `zugferd_pdf` the PDF itself.
        filename: what the caller calls it, "" where it has no name.
        lang: language of the answer.
        mode: how it was judged.
        judged_at: when, in seconds since 1970 (UTC).
    """

    document: bytes
    filename: str
    lang: Language
    mode: Mode
    judged_at: float


class Artifacts(Protocol):
    """What the routes need of a store of artifacts."""

    def offer(self, base: str, key: Key, kind: Kind, recipe: Recipe) -> Artifact:
        """Keep a recipe, and return the link (below the address `base`) that this key can fetch it by."""
        ...

    async def fetch(self, token: str, file: str, key: Key) -> bytes:
        """Return the PDF behind a link.

        Raises:
            Problem: there is none for this key, or it has expired.
        """
        ...

    async def is_ready(self) -> bool:
        """Whether artifacts can be kept and fetched."""
        ...


Render: TypeAlias = Callable[[Kind, Recipe], Awaitable[bytes]]


@dataclass(frozen=True, slots=True)
class _Kept:
    holder: str
    kind: Kind
    recipe: Recipe
    until: float


class MemoryArtifacts:
    """Artifacts in this process's memory: they end with it.

    Only what `render` can make is offered; a PDF that is there already needs no making.
    """

    def __init__(self, seconds: int, megabytes: int, render: Render | None = None) -> None:
        self._seconds = seconds
        self._left = megabytes << 20
        self._render = render
        self._kept: OrderedDict[bytes, _Kept] = OrderedDict()
        self._gone: OrderedDict[bytes, float] = OrderedDict()

    def offer(self, base: str, key: Key, kind: Kind, recipe: Recipe) -> Artifact:
        """Keep a recipe; the oldest ones make room."""
        if kind != "zugferd_pdf" and self._render is None:
            return UNAVAILABLE
        token = secrets.token_urlsafe(24)
        self._clean()
        self._kept[_hashed(token)] = _Kept(key.name, kind, recipe, time.monotonic() + self._seconds)
        self._left -= len(recipe.document)
        while self._left < 0:
            self._erase(next(iter(self._kept)))
        url = f"{base}/api/external/artifacts/{token}/{FILES[kind]}"
        return Artifact(available=True, url=url, expires_in_seconds=self._seconds)

    async def fetch(self, token: str, file: str, key: Key) -> bytes:
        """Return the PDF behind a link."""
        self._clean()
        name = _hashed(token)
        if name in self._gone:
            raise Problem(ARTIFACT_EXPIRED)
        kept = self._kept.get(name)
        if kept is None or kept.holder != key.name or FILES[kept.kind] != file:
            raise Problem(ARTIFACT_NOT_FOUND)
        if kept.kind == "zugferd_pdf" or self._render is None:
            return kept.recipe.document
        return await self._render(kept.kind, kept.recipe)

    async def is_ready(self) -> bool:
        """Memory is always there."""
        return True

    def _clean(self) -> None:
        now = time.monotonic()
        while self._kept and next(iter(self._kept.values())).until <= now:
            self._erase(next(iter(self._kept)))
        while self._gone and next(iter(self._gone.values())) <= now:
            self._gone.popitem(last=False)

    def _erase(self, name: bytes) -> None:
        self._left += len(self._kept.pop(name).recipe.document)
        self._gone[name] = time.monotonic() + 86_400


def _hashed(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
