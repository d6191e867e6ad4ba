"""Limits that apply without a key: large, slow and malformed requests, many connections, unread responses."""

import contextlib
import json
import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from appliance.contract.schemas import ProblemDetails
from tests.helpers.served import UBL, VALIDATE, http, serving
from tests.helpers.waiting import SECONDS, wait_until

pytestmark = pytest.mark.slow

PROXY = "127.0.0.30"
HEAD = b"GET /healthz?lang=en HTTP/1.1\r\nHost: x\r\n"


@pytest.fixture(scope="module")
def strict(tmp_path_factory):
    """A server with short time limits."""
    data = tmp_path_factory.mktemp("strict") / "data"
    with serving(data, workers=1, head_seconds=1, response_seconds=1) as server:
        yield server


@pytest.fixture(scope="module")
def narrow(tmp_path_factory):
    """A server with few connections, and time to open them on a busy machine."""
    limits = {"head_seconds": 5, "address_connections": 5, "connections": 8, "trusted_proxies": PROXY}
    with serving(tmp_path_factory.mktemp("narrow") / "data", workers=1, **limits) as server:
        server.client.close()  # its idle connection would count
        yield server


@contextlib.contextmanager
def connected(server, sent=b"", source="127.0.0.1"):
    address = (server.base.host, server.base.port)
    with socket.create_connection(address, timeout=SECONDS, source_address=(source, 0)) as connection:
        connection.sendall(sent)
        yield connection


def read(connection):
    """Read until the server closes the connection; return status, headers and body."""
    received = b""
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(65_536):
            received += part
    head, _, body = received.partition(b"\r\n\r\n")
    status_line, *lines = head.decode("ascii").split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    return int(status_line.split()[1]), headers, body


def assert_refused(response, status, code):
    actual, headers, body = response
    problem = ProblemDetails.model_validate(json.loads(body))
    assert (actual, problem.status, problem.code) == (status, status, code)
    assert headers["content-type"] == "application/problem+json"
    assert headers["connection"] == "close"
    assert int(headers["content-length"]) == len(body)
    return problem


@pytest.fixture(scope="module")
def warm(server):
    """The server, after what it loads on first use."""
    for lang in ("de", "en"):
        server.client.get("/api/external/errors/catalog", params={"lang": lang})
    server.client.get("/openapi.json")
    return server


def memory(server):
    """Return the peak memory of the server process in MB."""
    status = Path(f"/proc/{server.process.pid}/status").read_text("ascii")
    return int(re.search(r"VmHWM:\s*(\d+)", status)[1]) / 1024


# ---------------------------------------------------------------- size


def test_header_of_forty_megabytes(warm):
    """It is refused at once: the warm neither stores it nor keeps others waiting."""
    before = memory(warm)

    def send():
        with connected(warm, HEAD + b"X-Long: ") as connection, contextlib.suppress(ConnectionError):
            for _ in range(40):
                connection.sendall(b"a" * 1_000_000)

    with ThreadPoolExecutor(3) as threads:
        done = [threads.submit(send) for _ in range(3)]
        assert http.get(warm.base.join("/healthz")).status_code == 200
        for each in done:
            each.result()
    assert memory(warm) - before < 20


@pytest.mark.parametrize(
    ("request_bytes", "status", "code"),
    [
        (HEAD + b"X-Long: " + b"a" * 40_000 + b"\r\n\r\n", 431, "headers_too_large"),
        (HEAD + b"X-Long: " + b"a" * 400_000, 431, "headers_too_large"),
        (HEAD + b"A: b\r\n" * 101 + b"\r\n", 431, "headers_too_large"),
        (b"GET /" + b"a" * 9_000 + b"?lang=en HTTP/1.1\r\nHost: x\r\n\r\n", 414, "url_too_long"),
        (b"\r\n" * 200_000, 431, "headers_too_large"),
    ],
    ids=["long", "incomplete", "many", "url", "blank lines"],
)
def test_large_heads(server, request_bytes, status, code):
    with connected(server, request_bytes) as connection:
        assert_refused(read(connection), status, code)


def test_trailers_are_limited_and_ignored(warm):
    """A key in a trailer does not authorize the request that precedes it."""
    post = f"POST {VALIDATE} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n".encode()
    key = f"X-API-Key: {warm.client.headers['X-API-Key']}\r\n".encode()
    with connected(warm, post + key + b"Connection: close\r\n\r\n") as connection:
        assert read(connection)[0] == 401
    before = memory(warm)
    with connected(warm, post) as connection, contextlib.suppress(ConnectionError):
        for number in range(2_000):
            connection.sendall(b"X-%d: %b\r\n" % (number, b"a" * 10_000))
    assert memory(warm) - before < 10


def test_many_requests_sent_ahead(warm):
    before = memory(warm)
    for _ in range(5):
        with connected(warm) as connection, contextlib.suppress(ConnectionError):
            connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 14_000)
            connection.recv(1)
    assert memory(warm) - before < 20


# ---------------------------------------------------------------- time


@pytest.mark.parametrize("sent", [b"GET /", HEAD, HEAD + b"X-Long: a"])
def test_head_that_stays_incomplete(strict, sent):
    with connected(strict, sent) as connection:
        problem = assert_refused(read(connection), 408, "request_too_slow")
    assert problem.title == ("Anfrage zu langsam" if sent == b"GET /" else "Request too slow")


def test_head_that_trickles(strict):
    """The time limit is for the whole head, not for each byte."""
    with connected(strict, b"G") as connection, pytest.raises(ConnectionError):
        send_slowly(connection, b"E")


def send_slowly(connection, byte):
    """Send the same byte again and again."""
    for _ in range(5 * SECONDS):
        time.sleep(0.2)
        connection.sendall(byte)


def test_connection_without_a_request_is_closed(strict):
    with connected(strict) as connection:
        assert connection.recv(1) == b""


def test_second_request_of_a_connection_is_limited_too(strict):
    with connected(strict, HEAD + b"\r\n") as connection:
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200 ")
        connection.sendall(HEAD)
        assert_refused(read(connection), 408, "request_too_slow")


def test_body_after_the_response_is_not_read_for_ever(strict):
    head = b"OPTIONS / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"
    with connected(strict, head) as connection, pytest.raises(ConnectionError):
        send_slowly(connection, b"x")


def test_response_that_is_not_read(strict):
    """The server ends the connection; the rest of the response is lost."""
    path = "/api/external/errors/catalog"
    size = len(strict.client.get(path).content)
    count = 40  # more than the buffers of both ends hold
    request = f"GET {path} HTTP/1.1\r\nHost: x\r\nX-API-Key: {strict.client.headers['X-API-Key']}\r\n\r\n".encode()
    with connected(strict, request * count) as connection:
        wait_until(lambda: not is_held(connection))
        received = 0
        with contextlib.suppress(ConnectionResetError):
            while received < count * size and (part := connection.recv(65_536)):
                received += len(part)
    assert size > 1_000_000
    assert received < count * size


def is_held(connection):
    """Return whether the server has not closed the connection yet: its end belongs to a process."""
    port = f":{connection.getsockname()[1]:04X}"
    rows = [line.split() for line in Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]]
    return any(row[2].endswith(port) and row[9] != "0" for row in rows)


# ---------------------------------------------------------------- number


def test_many_half_open_connections_lock_nobody_out(narrow):
    with contextlib.ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(connected(narrow, HEAD))
        refused = stack.enter_context(connected(narrow))
        status, headers, _ = read(refused)
        assert (status, headers["retry-after"]) == (503, "2")
        other = stack.enter_context(connected(narrow, HEAD + b"Connection: close\r\n\r\n", source="127.0.0.2"))
        assert read(other)[0] == 200
        wait_until(lambda: http.get(narrow.base.join("/healthz")).status_code == 200)


def test_connections_in_total(narrow):
    with contextlib.ExitStack() as stack:
        for number in range(8):
            stack.enter_context(connected(narrow, source=f"127.0.0.{number + 2}"))
        refused = stack.enter_context(connected(narrow, source="127.0.0.20"))
        assert_refused(read(refused), 503, "too_many_connections")


def test_closed_connections_do_not_count(narrow):
    for _ in range(20):
        with connected(narrow, HEAD + b"Connection: close\r\n\r\n") as connection:
            assert read(connection)[0] == 200


def test_trusted_proxies_have_no_limit_per_address(narrow):
    with contextlib.ExitStack() as stack:
        for _ in range(7):
            stack.enter_context(connected(narrow, source=PROXY))
        last = stack.enter_context(connected(narrow, HEAD + b"Connection: close\r\n\r\n", source=PROXY))
        assert read(last)[0] == 200


# ---------------------------------------------------------------- malformed requests


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\xc3\xbc HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GE T / HTTP/1.1\r\nHost: x\r\n\r\n",
        HEAD + b"Host: y\r\n\r\n",
        HEAD + b"Host: x\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n",
        HEAD + b"No colon\r\n\r\n",
        HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
        HEAD + b"Content-Length: -1\r\n\r\n",
        HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"X-Nul: a\x00b\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n",
    ],
)
def test_malformed_requests(server, request_bytes):
    with connected(server, request_bytes) as connection:
        status, headers, body = read(connection)
    assert status == 400
    assert_refused((status, headers, body), 400, "invalid_request")


def statuses(connection):
    """Read until the server closes the connection cleanly; return the statuses of the answers."""
    received = b""
    while part := connection.recv(65_536):  # raises ConnectionResetError otherwise
        received += part
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+) ", received)]


MISSING = b"GET /none HTTP/1.1\r\nHost: x\r\n\r\n"
HEALTH = HEAD + b"\r\n"


def upload(server):
    form = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n%b\r\n--b--\r\n' % UBL
    head = f"POST {VALIDATE} HTTP/1.1\r\nHost: x\r\nX-API-Key: {server.client.headers['X-API-Key']}\r\n"
    head += f"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {len(form)}\r\n\r\n"
    return head.encode() + form


@pytest.mark.parametrize("ends", [b"Connection: close", b""], ids=["close", "shutdown"])
def test_requests_sent_ahead_are_answered_in_order(server, ends):
    last = HEAD + ends + b"\r\n\r\n" if ends else HEALTH
    with connected(server, upload(server) + HEALTH + upload(server) + MISSING + last) as connection:
        if not ends:
            connection.shutdown(socket.SHUT_WR)
        assert statuses(connection) == [200, 200, 200, 404, 200]


@pytest.mark.parametrize(
    "after", [b"\x16\x03\x01", HEAD + b"Host: y\r\n\r\n", HEALTH * 30, b"POST / HTTP/1.1\r\n" * 9_000]
)
def test_requests_before_a_refused_one_are_answered(server, after):
    with connected(server, upload(server) + HEALTH + after) as connection:
        answered = statuses(connection)
    assert answered[:2] == [200, 200]
    assert set(answered) == {200}
    assert len(answered) <= 17


def test_upload_that_ends_early_is_not_answered(server):
    with connected(server, upload(server)[:-10]) as connection:
        connection.shutdown(socket.SHUT_WR)
        assert statuses(connection) == []


def test_upgrade_is_declined(server):
    with connected(server, HEAD + b"Connection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n") as connection:
        assert read(connection)[0] == 200


def test_refusals_leave_the_server_working(server):
    assert server.validate(UBL).json()["is_valid"]
