"""Limits of a connection: size of a request head, time to send it, time to take a response, connections per address.

They hold before a key is read. The server has no settings for them, so its protocol class is extended; parsing stays
with httptools.
"""

import asyncio
import http
import ipaddress
import logging
from collections import Counter
from typing import Any, Final, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from appliance.contract.problems import Problem, ProblemType
from appliance.settings import Settings
from appliance.transport.forwarded import is_in
from appliance.transport.joined_writes import JoinedWrites
from appliance.transport.problem_responses import details_response, localized_details

log = logging.getLogger(__name__)

MAX_HEAD_BYTES: Final = 32_768
"""Maximum size of all header fields of a request, and of any other part of it that is not body."""
MAX_HEADER_FIELDS: Final = 100
MAX_URL_BYTES: Final = 8_192
MAX_PIPELINED: Final = 16
"""Maximum number of requests sent ahead on a connection (HTTP pipelining); those before are answered."""
LINGER_SECONDS: Final = 2.0
"""Time to read on after a refusal: closing a connection with unread data discards the response on its way."""

INVALID_REQUEST = ProblemType("invalid_request", 400)
URL_TOO_LONG = ProblemType("url_too_long", 414, example={"limit": MAX_URL_BYTES})
HEADERS_TOO_LARGE = ProblemType(
    "headers_too_large", 431, example={"bytes": MAX_HEAD_BYTES, "fields": MAX_HEADER_FIELDS}
)
TOO_MANY_CONNECTIONS = ProblemType("too_many_connections", 503)
REQUEST_TOO_SLOW = ProblemType("request_too_slow", 408, example={"seconds": 10})


class OpenConnections:
    """Counts the open connections of a server, in total and by client address.

    Attributes:
        count: number of open connections.
        refusals: number of connections and requests refused before the application saw them, by code of the problem.

    Args:
        settings: settings of the service. Trusted proxies have no limit per address: they carry many clients.
    """

    def __init__(self, settings: Settings) -> None:
        self._limit = settings.connections
        self._address_limit = settings.address_connections
        self._trusted = settings.trusted_proxies
        self._by_network: Counter[str] = Counter()
        self.count = 0
        types = (INVALID_REQUEST, URL_TOO_LONG, HEADERS_TOO_LARGE, TOO_MANY_CONNECTIONS, REQUEST_TOO_SLOW)
        self.refusals = Counter({each.code: 0 for each in types})

    def open(self, address: str) -> bool:
        """Count a connection; return whether the limits allow it. It must be closed in either case."""
        network = _network(address)
        self._by_network[network] += 1
        self.count += 1
        if self.count > self._limit:
            return False
        return self._by_network[network] <= self._address_limit or is_in(address, self._trusted)

    def close(self, address: str) -> None:
        """Uncount a connection."""
        network = _network(address)
        self._by_network[network] -= 1
        self.count -= 1
        if not self._by_network[network]:
            del self._by_network[network]


def _network(address: str) -> str:
    """Return the network that counts as one client: an IPv4 address, or an IPv6 network of 64 bits.

    >>> _network("192.0.2.7"), _network("2001:db8::1:2:3:4")
    ('192.0.2.7', '2001:db8::/64')
    """
    if ":" not in address:
        return address
    return str(ipaddress.IPv6Network((address.partition("%")[0], 64), strict=False))


def protocol_class(settings: Settings, connections: OpenConnections) -> type[HttpToolsProtocol]:
    """Return the protocol class for a server with these settings, whose connections are counted."""
    return type("HttpProtocol", (_HttpProtocol,), {"settings": settings, "open_connections": connections})


class _Refused(Exception):  # noqa: N818 (passes through the parser, which reports any exception)
    """Raised in a callback of the parser to stop it; the problem is stored in the protocol."""


class _HttpProtocol(HttpToolsProtocol):
    """HTTP/1.1 with limits. A connection that exceeds one is answered with a problem and closed.

    Between two parts of a request that make progress (a complete head, content, the end), at most `MAX_HEAD_BYTES` and
    one read are accepted: this limits incomplete header fields, trailers and chunk extensions as well.

    What follows complete requests on the same connection does not keep them from being answered: neither a request
    that is refused, nor the end of what the client sends. The connection is then closed after the last answer.
    """

    settings: Settings
    open_connections: OpenConnections

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._address = ""
        self._head_timer: asyncio.TimerHandle | None = None
        self._abort_timer: asyncio.TimerHandle | None = None
        self._problem: Problem | None = None
        self._refused = False
        self._in_head = False
        self._in_body = False
        self._ends = False  # nothing more is read; the connection is closed after the last answer
        self._head_bytes = 0
        self._idle_bytes = 0  # received since the last progress

    # ---------------------------------------------------------------- connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection, or refuse it if there are too many."""
        super().connection_made(cast("asyncio.Transport", JoinedWrites(transport, self.loop)))
        self._address = self.client[0] if self.client else ""
        if self.open_connections.open(self._address):
            self._start_head_timer()
        else:
            self._refuse(Problem(TOO_MANY_CONNECTIONS, headers={"Retry-After": "2"}))

    def connection_lost(self, exc: Exception | None) -> None:
        """Release what belongs to the connection."""
        super().connection_lost(exc)
        self.open_connections.close(self._address)
        self._stop_head_timer()
        if self._abort_timer is not None:
            self._abort_timer.cancel()

    def data_received(self, data: bytes) -> None:
        """Parse data; after a refusal, discard it."""
        if self._refused or self._ends:
            return
        self._idle_bytes += len(data)
        super().data_received(data)
        if self._refused or self._ends or self.transport.is_closing():
            return
        if self._idle_bytes > MAX_HEAD_BYTES:
            self._refuse(_headers_too_large())
        elif self._head_timer is None and (self.cycle is None or self.cycle.response_complete):
            self._start_head_timer()

    # ---------------------------------------------------------------- parser callbacks

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self._in_head, self._head_bytes = True, 0

    def on_url(self, url: bytes) -> None:
        """Take a part of the address."""
        super().on_url(url)
        if len(self.url) > MAX_URL_BYTES:
            self._stop(Problem(URL_TOO_LONG, limit=MAX_URL_BYTES))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header field. Trailers are ignored: they arrive after the request has been authorized."""
        if not self._in_head:
            return
        super().on_header(name, value)
        self._head_bytes += len(name) + len(value)
        if self._head_bytes > MAX_HEAD_BYTES or len(self.headers) > MAX_HEADER_FIELDS:
            self._stop(_headers_too_large())

    def on_headers_complete(self) -> None:
        """Start the request."""
        self._in_head = False
        self._idle_bytes = 0
        self._stop_head_timer()
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts > 1 or (not hosts and self.parser.get_http_version() == "1.1"):  # RFC 9112, 3.2
            self._stop(Problem(INVALID_REQUEST))
        if len(self.pipeline) >= MAX_PIPELINED:
            self._stop(Problem(INVALID_REQUEST))
        super().on_headers_complete()
        self._in_body = True

    def on_body(self, body: bytes) -> None:
        """Take content."""
        self._idle_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End the request."""
        self._idle_bytes = 0
        self._in_body = False
        super().on_message_complete()

    def _stop(self, problem: Problem) -> None:
        """Stop the parser, which makes the server call `send_400_response`."""
        self._problem = problem
        raise _Refused

    # ---------------------------------------------------------------- refusals and timers

    def send_400_response(self, msg: str) -> None:
        """Refuse the request."""
        self._refuse(self._problem or Problem(INVALID_REQUEST))

    def _refuse(self, problem: Problem) -> None:
        """Answer with a problem, then close the connection."""
        log.info("A connection was refused", extra={"fields": {"code": problem.type.code, "client": self._address}})
        self.open_connections.refusals[problem.type.code] += 1
        self._stop_head_timer()
        if self._is_waiting():
            self._ends = True
            return
        self._refused = True
        if self.pipeline or (self.cycle is not None and self.cycle.response_started != self.cycle.response_complete):
            self.transport.abort()  # the problem would be taken for a part of the response to an earlier request
            return
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.write(self._refusal(problem))
        self._end()

    def _is_waiting(self) -> bool:
        """Return whether the last request is complete and not answered yet."""
        return self.cycle is not None and not self._in_body and not self.cycle.response_complete

    def eof_received(self) -> bool:  # type: ignore[override]
        """Return whether to keep the connection, although the client sends no more: for answers that it waits for."""
        self._ends = self._ends or self._is_waiting()
        return self._ends

    def _refusal(self, problem: Problem) -> bytes:
        scope = {"type": "http", "headers": [], "query_string": self._query()}
        details = localized_details(problem, scope, self.settings.languages)
        response = details_response(details, problem.headers)
        status = http.HTTPStatus(response.status_code)
        headers = [*self.server_state.default_headers, *response.raw_headers, (b"connection", b"close")]
        lines = [b"HTTP/1.1 %d %b" % (status, status.phrase.encode()), *(b"%b: %b" % header for header in headers)]
        return b"\r\n".join([*lines, b"", bytes(response.body)])

    def _query(self) -> bytes:
        """Return the query of the address, as far as it has been received."""
        return getattr(self, "url", b"").partition(b"?")[2]

    def _start_head_timer(self) -> None:
        self._head_timer = self.loop.call_later(self.settings.head_seconds, self._on_slow_head)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _on_slow_head(self) -> None:
        if self._idle_bytes:
            self._refuse(Problem(REQUEST_TOO_SLOW, seconds=round(self.settings.head_seconds)))
        else:
            self.transport.close()

    def pause_writing(self) -> None:
        """Wait until the client takes the response, but not for ever."""
        super().pause_writing()
        self._abort_after(self.settings.response_seconds)

    def resume_writing(self) -> None:
        """The client took the response."""
        super().resume_writing()
        if self._abort_timer is not None and not self.transport.is_closing():
            self._abort_timer.cancel()
            self._abort_timer = None

    def on_response_complete(self) -> None:
        """End a request; if the connection is being closed, the rest of the response must be taken in time."""
        super().on_response_complete()
        if self.transport.is_closing():
            self._abort_after(self.settings.response_seconds)
        elif self._ends and self.cycle.response_complete:
            self._end()

    def _end(self) -> None:
        """Close the connection after the last answer; read on until then, so that the answer is not discarded."""
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._abort_after(LINGER_SECONDS)

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection."""
        super().timeout_keep_alive_handler()
        self._abort_after(self.settings.response_seconds)

    def _abort_after(self, seconds: float) -> None:
        if self._abort_timer is None:
            self._abort_timer = self.loop.call_later(seconds, self.transport.abort)


def _headers_too_large() -> Problem:
    return Problem(HEADERS_TOO_LARGE, bytes=MAX_HEAD_BYTES, fields=MAX_HEADER_FIELDS)
