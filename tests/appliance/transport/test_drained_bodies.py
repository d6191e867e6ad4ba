"""Uploads that are refused before they end: the answer is sent at once, and the rest of the body is read."""

import anyio
import pytest
from starlette.responses import PlainTextResponse

from appliance.transport.middleware import DrainBody

pytestmark = pytest.mark.anyio
PIECE = 1 << 20
SCOPE = {"type": "http", "headers": [(b"content-length", b"41943040")]}


async def answered(pieces, *, max_bytes=64 * PIECE, seconds=60.0, silent=False):
    """Refuse an upload before its body is read; return the messages of the answer, and how many pieces were read."""
    sent, read = [], 0

    async def receive():
        nonlocal read
        if read == pieces and silent:
            await anyio.sleep_forever()
        read += 1
        return {"type": "http.request", "body": bytes(PIECE), "more_body": read < pieces or silent}

    async def send(message):
        sent.append((message, read))

    await DrainBody(PlainTextResponse("refused", 422), seconds, max_bytes)(SCOPE, receive, send)
    return sent, read


async def test_the_whole_body_is_read():
    sent, read = await answered(40)
    assert read == 40
    assert [read for _, read in sent] == [0, 0, 40]
    assert [message.get("more_body", False) for message, _ in sent] == [False, True, False]
    assert (b"connection", b"close") in sent[0][0]["headers"]
    assert sent[1][0]["body"] == b"refused"


async def test_at_most_the_largest_request_is_read():
    sent, read = await answered(40, max_bytes=8 * PIECE)
    assert read == 8
    assert sent[-1][0] == {"type": "http.response.body"}


async def test_a_body_that_does_not_end():
    sent, read = await answered(2, seconds=0.01, silent=True)
    assert read == 2
    assert sent[-1][0] == {"type": "http.response.body"}
