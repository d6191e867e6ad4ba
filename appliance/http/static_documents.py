"""Documents that stay the same while the appliance runs: answered from memory, with an ETag, compressed if wished."""

import gzip
import hashlib
from dataclasses import dataclass
from typing import Self

from starlette.requests import Request
from starlette.responses import Response

from appliance.jobs import to_json


@dataclass(frozen=True, slots=True)
class Document:
    """A body that does not change, with its media type and its ETag (RFC 9110, 8.8.3)."""

    body: bytes
    packed: bytes
    media_type: str
    etag: str

    @classmethod
    def of(cls, body: bytes, media_type: str) -> Self:
        """Return a document with this body."""
        etag = hashlib.sha256(body).hexdigest()[:32]
        return cls(body, gzip.compress(body, mtime=0), media_type, etag)

    @classmethod
    def of_json(cls, content: object) -> Self:
        """Return a JSON document."""
        return cls.of(to_json(content), "application/json")

    def response(self, request: Request) -> Response:
        """Return the document, or 304 if the caller has it already."""
        takes = [part.split(";")[0].strip() for part in request.headers.get("accept-encoding", "").split(",")]
        packed = "gzip" in takes
        etag = f'"{self.etag}-gzip"' if packed else f'"{self.etag}"'
        headers = {"ETag": etag, "Cache-Control": "private, no-cache", "Vary": "Accept-Encoding"}
        if _has(request.headers.get("if-none-match", ""), etag):
            return Response(status_code=304, headers=headers)
        if packed:
            headers["Content-Encoding"] = "gzip"
        return Response(self.packed if packed else self.body, media_type=self.media_type, headers=headers)


def _has(given: str, etag: str) -> bool:
    """Whether a caller's If-None-Match names an ETag (weak comparison, RFC 9110, 13.1.2)."""
    return any(part.strip().removeprefix("W/") in (etag, "*") for part in given.split(","))
