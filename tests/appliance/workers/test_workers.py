"""The processes that judge documents, seen from outside: what happens when one dies, hangs or has done its share."""

import os
import signal
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from served import BATCH, UBL, VALIDATE, assert_problem, serving

from appliance.workers.protocol import Message

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def impatient(tmp_path_factory):
    """A server with one process, which has two seconds for a document, and no more than two requests at once."""
    data = tmp_path_factory.mktemp("impatient") / "data"
    with serving(data, workers=1, queue=1, document_seconds=2, queue_seconds=10, upload_seconds=2) as server:
        yield server


def test_a_killed_worker_costs_at_most_its_own_request(server):
    """Three of them, in the middle of 1,000 requests."""
    url, headers = server.base.join(VALIDATE), dict(server.client.headers)
    done, killed = Counter(), []

    def ask(client, count):
        for _ in range(count):
            done[client.post(url, headers=headers, files={"file": UBL}).status_code] += 1

    def kill():
        while len(killed) < 3:
            time.sleep(0.4)
            workers = server.workers()
            if len(workers) == 2:
                os.kill(workers[0], signal.SIGKILL)
                killed.append(workers[0])

    killer = threading.Thread(target=kill)
    with ThreadPoolExecutor(8) as threads, httpx.Client(timeout=60) as client:
        asking = [threads.submit(ask, client, 125) for _ in range(8)]
        killer.start()
        for it in asking:
            it.result()
    killer.join()
    assert done.keys() <= {200, 503}
    assert done.total() == 1000
    assert done[503] <= len(killed)
    assert server.validate().status_code == 200
    server.wait_until_ready()
    assert not set(killed) & set(server.workers())


def test_the_killed_requests_own_answer(impatient):
    (worker,) = impatient.workers()
    os.kill(worker, signal.SIGSTOP)
    threading.Timer(0.5, os.kill, (worker, signal.SIGKILL)).start()
    answer = impatient.validate()
    assert_problem(answer, 503, "busy")
    assert int(answer.headers["Retry-After"]) > 0
    assert impatient.validate().status_code == 200


def test_a_document_that_takes_too_long(impatient):
    (worker,) = impatient.workers()
    os.kill(worker, signal.SIGSTOP)
    started = time.monotonic()
    assert "2" in assert_problem(impatient.validate(lang="en"), 422, "too_complex").detail
    assert 1.5 < time.monotonic() - started < 6
    assert impatient.validate().status_code == 200
    assert impatient.workers() != [worker]


def test_in_a_batch_it_costs_its_item_alone(impatient):
    (worker,) = impatient.workers()
    os.kill(worker, signal.SIGSTOP)
    items = impatient.batch(("a.xml", UBL), ("b.xml", UBL)).json()["items"]
    assert [item["is_valid"] for item in items] == [False, True]
    assert [error["code"] for error in items[0]["errors"]] == ["FILE-WORK"]
    assert items[0]["filename"] == "a.xml"


def test_more_requests_than_places(impatient):
    (worker,) = impatient.workers()
    os.kill(worker, signal.SIGSTOP)
    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(lambda _: impatient.validate(), range(6)))
    statuses = Counter(answer.status_code for answer in answers)
    assert statuses == {422: 1, 200: 1, 503: 4}
    assert impatient.validate().status_code == 200


def test_an_upload_that_stalls(impatient):
    def body():
        yield b"--b\r\n"
        time.sleep(3)
        yield b"x"

    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    assert_problem(impatient.client.post(VALIDATE, content=body(), headers=headers), 408, "upload_too_slow")


def test_uploads_have_a_bound_together(tmp_path):
    """A batch of eleven times ten megabytes fits; another at the same time does not."""
    with serving(tmp_path / "data", workers=1, upload_megabytes=110) as server:
        big = [("files", ("a.xml", b"<a>" + b" " * 10_000_000)) for _ in range(8)]
        with ThreadPoolExecutor(2) as threads:
            answers = list(threads.map(lambda _: server.client.post(BATCH, files=big).status_code, range(2)))
        assert sorted(answers) in ([200, 503], [200, 200])
        assert server.client.post(BATCH, files=big).status_code == 200


def test_a_worker_is_replaced_after_its_share(tmp_path):
    """It works on until the next one has warmed up."""
    with serving(tmp_path / "data", workers=1, worker_documents=5) as server:
        first, together = set(server.workers()), False
        while first & (there := set(server.workers())):
            together = together or len(there) == 2
            assert server.validate().status_code == 200
            assert server.client.get("/readyz").json()["status"] == "ready"
        assert together


def test_a_stop_lets_requests_end(tmp_path):
    with serving(tmp_path / "data", workers=1, document_seconds=20) as server:
        (worker,) = server.workers()
        os.kill(worker, signal.SIGSTOP)
        threading.Timer(0.5, server.process.send_signal, (signal.SIGTERM,)).start()
        threading.Timer(1.5, os.kill, (worker, signal.SIGCONT)).start()
        assert server.validate().status_code == 200
        assert server.process.wait(10) == 0
        assert not Path(f"/proc/{worker}").exists()


def test_messages_travel():
    message = Message({"job": "ümlaut", "n": 1}, (b"", b"\x00\xff" * 1000, b"x"))
    packed = message.pack()
    assert Message.length(packed) == len(packed)
    assert Message.unpack(packed) == message
