"""Writes of a response are joined, and neither reordered nor lost."""

import asyncio
from typing import Any
from unittest import mock

import pytest

from appliance.transport.joined_writes import JoinedWrites


def calls_of(write: Any, closing: bool = False) -> list[Any]:
    """Return what the transport was told to do, up to the next iteration of the event loop."""

    async def run() -> list[Any]:
        transport = mock.Mock(spec=asyncio.Transport)
        transport.is_closing.return_value = False
        write(JoinedWrites(transport, asyncio.get_running_loop()))
        transport.is_closing.return_value = closing
        await asyncio.sleep(0)
        return [call for call in transport.method_calls if call != mock.call.is_closing()]

    return asyncio.run(run())


def test_head_and_body_are_sent_together() -> None:
    def write(transport: JoinedWrites) -> None:
        transport.write(b"head")
        transport.write(b"body")
        transport.write(b"")

    assert calls_of(write) == [mock.call.writelines([b"head", b"body"])]


def test_large_data_is_passed_on_at_once() -> None:
    large = bytes(1 << 20)

    def write(transport: JoinedWrites) -> None:
        transport.write(b"head")
        transport.write(large)
        transport.pause_reading()
        transport.write(b"end")

    expected = [mock.call.writelines([b"head", large]), mock.call.pause_reading(), mock.call.writelines([b"end"])]
    assert calls_of(write) == expected


def test_nothing_is_sent_after_the_client_has_disconnected() -> None:
    assert calls_of(lambda transport: transport.write(b"late"), closing=True) == []


@pytest.mark.parametrize("method", ["close", "write_eof"])
def test_closing_sends_what_was_written(method: str) -> None:
    def write(transport: JoinedWrites) -> None:
        transport.write(b"end")
        getattr(transport, method)()

    assert calls_of(write) == [mock.call.writelines([b"end"]), getattr(mock.call, method)()]


def test_aborting_sends_nothing() -> None:
    def write(transport: JoinedWrites) -> None:
        transport.write(b"end")
        transport.abort()

    assert calls_of(write) == [mock.call.abort()]
