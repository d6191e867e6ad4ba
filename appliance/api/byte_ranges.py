"""Downloads that can be resumed (RFC 9110, 14): of content that is stored in blocks."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from appliance.contract.problems import Problem, ProblemType

RANGE_NOT_SATISFIABLE = ProblemType("range_not_satisfiable", 416, example={"size": 12345})

_RANGE: Final = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def download(
    request: Request,
    sizes: Sequence[int],
    block: Callable[[int], Awaitable[bytes]],
    etag: str,
    media_type: str,
    filename: str,
) -> Response:
    """Return the response with the content, or with the part that `Range` asks for.

    Args:
        request: the request.
        sizes: size of each block in bytes.
        block: returns the block with this number.
        etag: entity tag, with quotation marks; the content does not change while it is the same.
        media_type: type of the content.
        filename: name under which it is saved.

    Raises:
        Problem: there is no such part.
    """
    total = sum(sizes)
    headers = {
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, no-store",
        "Content-Disposition": f'attachment; filename="{filename}"',
        "ETag": etag,
    }
    first, last = _requested(request, total, etag) or (0, total - 1)
    is_part = (first, last) != (0, total - 1)
    headers["Content-Length"] = str(last + 1 - first)
    if is_part:
        headers["Content-Range"] = f"bytes {first}-{last}/{total}"
    status = 206 if is_part else 200
    if request.method == "HEAD":
        return Response(status_code=status, headers=headers, media_type=media_type)
    return StreamingResponse(_content(sizes, block, first, last + 1), status, headers, media_type)


def _requested(request: Request, total: int, etag: str) -> tuple[int, int] | None:
    """Return the first and the last byte that are asked for; None for all. Several ranges are answered with all."""
    match = _RANGE.fullmatch(request.headers.get("range", "").replace(" ", ""))
    if match is None or not any(match.groups()) or request.headers.get("if-range", etag) != etag:
        return None
    start, end = (int(it) if it else None for it in match.groups())
    if start is not None and end is not None and end < start:
        return None
    if start is None:
        first, last = max(0, total - (end or 0)), total - 1
    else:
        first, last = start, total - 1 if end is None else min(end, total - 1)
    if first >= total or first > last:
        raise Problem(RANGE_NOT_SATISFIABLE, headers={"Content-Range": f"bytes */{total}"}, size=total)
    return first, last


async def _content(
    sizes: Sequence[int], block: Callable[[int], Awaitable[bytes]], start: int, end: int
) -> AsyncIterator[bytes]:
    """Yield the bytes from `start` to before `end`."""
    position = 0
    for number, size in enumerate(sizes):
        if position < end and position + size > start:
            content = await block(number)
            yield content[max(0, start - position) : end - position]
        position += size
