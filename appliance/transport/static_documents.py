"""Documents that do not change while the service runs: served from memory, with an ETag, compressed on request."""

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Self

from starlette.requests import Request
from starlette.responses import Response

from appliance.contract.serialization import to_json

_GZIP_LEVEL: Final = 6
"""Level of compression; the highest takes half as long again for 3 % less."""


@dataclass(frozen=True, slots=True)
class StaticDocument:
    """A constant body with its media type, ETag (RFC 9110, 8.8.3) and further headers."""

    body: bytes
    gzipped: bytes
    media_type: str
    etag: str
    headers: Mapping[str, str]

    @classmethod
    def from_bytes(cls, body: bytes, media_type: str, *, headers: Mapping[str, str] = MappingProxyType({})) -> Self:
        """Return a document with this body."""
        etag = hashlib.sha256(body).hexdigest()[:32]
        return cls(body, gzip.compress(body, _GZIP_LEVEL, mtime=0), media_type, etag, headers)

    @classmethod
    def from_json(cls, content: object) -> Self:
        """Return a JSON document."""
        return cls.from_bytes(to_json(content), "application/json")

    def response(self, request: Request) -> Response:
        """Return the response: 200 with the document, or 304 if If-None-Match names its ETag."""
        accepted = [part.split(";")[0].strip() for part in request.headers.get("accept-encoding", "").split(",")]
        use_gzip = "gzip" in accepted
        etag = f'"{self.etag}-gzip"' if use_gzip else f'"{self.etag}"'
        headers = {**self.headers, "ETag": etag, "Cache-Control": "private, no-cache", "Vary": "Accept-Encoding"}
        if _matches(request.headers.get("if-none-match", ""), etag):
            return Response(status_code=304, headers=headers)
        if use_gzip:
            headers["Content-Encoding"] = "gzip"
        return Response(self.gzipped if use_gzip else self.body, media_type=self.media_type, headers=headers)


def _matches(if_none_match: str, etag: str) -> bool:
    """Return whether If-None-Match names an ETag (weak comparison, RFC 9110, 13.1.2)."""
    return any(part.strip().removeprefix("W/") in (etag, "*") for part in if_none_match.split(","))
