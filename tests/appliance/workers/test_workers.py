"""Worker processes seen from outside: crashes, time limits, replacement, capacity, shutdown."""

import os
import signal
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from appliance.workers.protocol import Message
from tests.helpers import house_rules
from tests.helpers.house_rules import RULE
from tests.helpers.served import BATCH, UBL, VALIDATE, assert_problem, serving
from tests.helpers.waiting import SECONDS, wait_until

#: The rule, so that the sample satisfies it.
RULE_OF_SAMPLE = RULE.replace("^4500[0-9]{6}$", "^B-26/0417$")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def limited(tmp_path_factory):
    """A server with one worker, time limits of two seconds, and capacity for two requests."""
    data = tmp_path_factory.mktemp("limited") / "data"
    limits = {"queue": 1, "document_seconds": 2, "queue_seconds": SECONDS, "upload_seconds": 2}
    with serving(data, workers=1, metrics=1, **limits) as server:
        yield server


def test_crashed_workers_affect_no_request(server):
    """Kill three workers during at least 1,000 requests, but not two under the same request."""
    url, headers = server.base.join(VALIDATE), dict(server.client.headers)
    statuses, killed, all_killed = [Counter() for _ in range(8)], [], threading.Event()

    def send(client, done):
        while done.total() < 125 or not all_killed.is_set():
            done[client.post(url, headers=headers, files={"file": UBL}).status_code] += 1

    def wait_for_responses():
        """Wait until each request that may have lost its worker has a response."""
        before = [done.total() for done in statuses]
        wait_until(lambda: all(done.total() > count for done, count in zip(statuses, before, strict=True)))

    def kill():
        try:
            for _ in range(3):
                server.wait_for_metric("einvoice_workers_ready 2.0")
                time.sleep(0.4)
                worker = server.workers()[0]
                os.kill(worker, signal.SIGKILL)
                killed.append(worker)
                wait_until(lambda worker=worker: worker not in server.workers())
                wait_for_responses()
        finally:
            all_killed.set()

    with ThreadPoolExecutor(9) as threads, httpx.Client(timeout=60) as client:
        killer = threads.submit(kill)
        for future in [*(threads.submit(send, client, done) for done in statuses), killer]:
            future.result()
    done = sum(statuses, Counter())
    assert set(done) == {200}
    assert done.total() >= 1000
    assert len(set(killed)) == 3
    assert server.validate().status_code == 200
    server.wait_until_ready()
    assert not set(killed) & set(server.workers())


def test_job_of_a_crashed_worker_runs_again(limited):
    (worker,) = limited.workers()
    os.kill(worker, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as threads:
        request = threads.submit(limited.validate)
        limited.wait_until_running()
        os.kill(worker, signal.SIGKILL)
        assert request.result().status_code == 200


def test_document_exceeding_the_time_limit(limited):
    (worker,) = limited.workers()
    os.kill(worker, signal.SIGSTOP)
    started = time.monotonic()
    assert "2 seconds" in assert_problem(limited.validate(lang="en"), 422, "too_complex").detail
    assert time.monotonic() - started > 1.5
    assert limited.validate().status_code == 200
    assert limited.workers() != [worker]


def test_time_limit_in_a_batch_affects_one_item(limited):
    (worker,) = limited.workers()
    os.kill(worker, signal.SIGSTOP)
    items = limited.batch(("a.xml", UBL), ("b.xml", UBL)).json()["items"]
    assert [item["is_valid"] for item in items] == [False, True]
    assert [error["code"] for error in items[0]["errors"]] == ["FILE-WORK"]
    assert items[0]["filename"] == "a.xml"


def test_more_requests_than_capacity(limited):
    (worker,) = limited.workers()
    os.kill(worker, signal.SIGSTOP)
    with ThreadPoolExecutor(6) as threads:
        responses = list(threads.map(lambda _: limited.validate(), range(6)))
    statuses = Counter(response.status_code for response in responses)
    assert statuses == {422: 1, 200: 1, 503: 4}
    assert limited.validate().status_code == 200


def test_stalled_upload(limited):
    def body():
        yield b"--b\r\n"
        time.sleep(3)
        yield b"x"

    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    assert_problem(limited.client.post(VALIDATE, content=body(), headers=headers), 408, "upload_too_slow")


def test_upload_memory_is_limited(tmp_path):
    """Two batches of eighty megabytes each do not fit at the same time: a key gets three quarters."""
    with serving(tmp_path / "data", workers=1, upload_megabytes=136) as server:
        big = [("files", ("a.xml", b"<a>" + b" " * 10_000_000)) for _ in range(8)]
        with ThreadPoolExecutor(2) as threads:
            responses = list(threads.map(lambda _: server.client.post(BATCH, files=big).status_code, range(2)))
        assert sorted(responses) in ([200, 503], [200, 200])
        assert server.client.post(BATCH, files=big).status_code == 200


def test_worker_is_replaced_at_its_job_limit_and_shutdown_waits_for_requests(tmp_path):
    """The worker keeps serving until its replacement is ready."""
    with serving(tmp_path / "data", workers=1, metrics=1, document_seconds=SECONDS, worker_documents=5) as server:
        first, together = set(server.workers()), False
        while first & (pids := set(server.workers())):
            together = together or len(pids) == 2
            assert server.validate().status_code == 200
            assert server.client.get("/readyz").json()["status"] == "ready"
        assert together
        (worker,) = server.workers()
        os.kill(worker, signal.SIGSTOP)
        with ThreadPoolExecutor(1) as threads:
            request = threads.submit(server.validate)
            server.wait_until_running()
            server.process.send_signal(signal.SIGTERM)
            time.sleep(1)  # it would end meanwhile
            os.kill(worker, signal.SIGCONT)
            assert request.result().status_code == 200
        assert server.process.wait(SECONDS) == 0
        assert not Path(f"/proc/{worker}").exists()


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    return house_rules.write(tmp_path_factory.mktemp("added") / "rules")


@pytest.fixture(scope="module")
def with_rules(rules, tmp_path_factory):
    """A server with added rules that replaces its worker after every second document."""
    data = tmp_path_factory.mktemp("with-rules") / "data"
    with serving(data, workers=1, worker_documents=2, rules_dir=rules) as server:
        yield server


@pytest.mark.parametrize(
    "rule",
    [RULE.replace("terms ", "term "), RULE.replace('["BT-13"]', "[" + '"BT-13", ' * 200_000 + "]"), RULE_OF_SAMPLE],
    ids=["wrong key", "endless list", "satisfied"],
)
def test_new_worker_applies_the_rules_of_the_start(with_rules, rules, rule):
    """A service changes its rules only at its start, also if the files were changed or are invalid meanwhile."""
    with_rules.wait_until_ready()
    first = set(with_rules.workers())
    house_rules.write(rules, **{"ACME-01.toml": rule})
    while first & set(with_rules.workers()):
        assert with_rules.validate(UBL).status_code == 200
    (error,) = with_rules.validate(UBL).json()["errors"]
    assert error["code"] == "ACME-01"


def test_message_round_trip():
    message = Message({"job": "ümlaut", "n": 1}, (b"", b"\x00\xff" * 1000, b"x"))
    packed = message.pack()
    assert Message.length(packed) == len(packed)
    assert Message.unpack(packed) == message
