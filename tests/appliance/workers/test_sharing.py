"""Sharing of the worker pool between key holders."""

import asyncio
import contextlib
import os
import select
import signal
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from appliance.workers.schedule import Schedule
from appliance.workers.shares import ACTIVE_SECONDS, Shares
from appliance.workers.worker_time import HALF_LIFE_SECONDS, WorkerTime
from tests.helpers.served import API, UBL, VALIDATE, assert_problem, serving
from tests.helpers.waiting import SECONDS, wait_until


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


async def order_of(workers, *jobs):
    """Return the order in which jobs start, given as holder or, if they render, as "holder PDF"; one runs at a time."""
    schedule, started = Schedule(workers, Clock()), []

    async def run(job):
        async with schedule.turn(job.removesuffix(" PDF"), "pdf" if job.endswith(" PDF") else "validation", 10):
            started.append(job)
            await asyncio.sleep(0.01)

    await asyncio.gather(*map(run, jobs))
    assert not any(schedule.waiting.values())
    return started


def test_holders_take_turns():
    order = asyncio.run(order_of(1, *["a"] * 6, "b", "b", "c"))
    assert order == ["a", "b", "c", "a", "b", "a", "a", "a", "a"]


def test_holder_with_fewest_running_jobs_is_next():
    order = asyncio.run(order_of(4, *["a"] * 8, *["b"] * 3))
    assert order[:4] == ["a"] * 4
    assert order[4:6] == ["b"] * 2  # until both have two running jobs


async def starts(schedule, jobs, clock):
    """Return the holders of jobs of a second each, (holder, number), in the order of their start."""
    started = []

    async def run(holder):
        async with schedule.turn(holder, "validation", SECONDS):
            started.append(holder)
            await asyncio.sleep(0)
            clock.now += 1

    await asyncio.gather(*(run(holder) for holder, number in jobs for _ in range(number)))
    return "".join(started)


def test_holder_with_least_worker_time_is_next():
    """One key has used three seconds with a single document; the others get as much before its next one."""

    async def run():
        clock = Clock()
        schedule = Schedule(1, clock)
        async with schedule.turn("a", "validation", SECONDS):
            waiting = asyncio.create_task(starts(schedule, [("a", 3), ("b", 5)], clock))
            while schedule.waiting["validation"] < 8:
                await asyncio.sleep(0)
            clock.now += 3
        return await waiting

    assert asyncio.run(run()) == "bbbababa"


def test_new_holder_gets_its_share_and_no_more():
    """The others do not wait until a new one has used as much as they have."""

    async def run():
        clock = Clock()
        schedule = Schedule(1, clock)
        async with schedule.turn("a", "validation", SECONDS):
            clock.now += 30
        async with schedule.turn("a", "validation", SECONDS):
            waiting = asyncio.create_task(starts(schedule, [("a", 4), ("b", 4)], clock))
            while schedule.waiting["validation"] < 8:
                await asyncio.sleep(0)
        return await waiting

    assert asyncio.run(run()) == "babababa"


def test_worker_time_is_forgotten():
    clock = Clock()
    times = WorkerTime(clock)
    times.add("a", 8)
    clock.now += 3 * HALF_LIFE_SECONDS
    assert times.recent("a") == pytest.approx(1)


def test_long_jobs_leave_a_worker_free():
    async def run():
        schedule = Schedule(2)
        async with schedule.turn("a", "validation", SECONDS, is_long=True):
            with pytest.raises(TimeoutError):
                async with schedule.turn("b", "validation", 0, is_long=True):
                    pass
            async with schedule.turn("c", "validation", 0):
                pass

    asyncio.run(run())


@pytest.mark.parametrize("later", [False, True])
def test_job_that_takes_longer_than_expected_is_interrupted(monkeypatch, later):
    """Only if a quick job waits; a long one waits on. Its holder is slow from then on."""
    monkeypatch.setattr("appliance.workers.schedule.QUICK_SECONDS", 0)
    monkeypatch.setattr("appliance.workers.schedule.LATE_SECONDS", 0.01)

    async def run():
        schedule, interrupted = Schedule(2), asyncio.Event()
        async with schedule.turn("a", "pdf", SECONDS):
            async with schedule.turn("slow", "validation", SECONDS) as turn:
                turn.interrupt = lambda: not interrupted.set()
                long = asyncio.create_task(schedule.turn("b", "pdf", SECONDS).__aenter__())
                if later:
                    await asyncio.sleep(0.05)
                assert not interrupted.is_set()
                quick = asyncio.create_task(schedule.turn("c", "validation", SECONDS).__aenter__())
                await interrupted.wait()
            await quick
            assert not long.done()
            assert schedule.is_slow("slow")
            assert not schedule.is_slow("a")
            long.cancel()

    asyncio.run(run())


def test_rendering_leaves_a_worker_free():
    assert asyncio.run(order_of(3, "a PDF", "b PDF", "c PDF", "d PDF", "e"))[:3] == ["a PDF", "b PDF", "e"]
    assert asyncio.run(order_of(1, "a PDF", "a PDF", "b"))[:2] == ["a PDF", "b"]


def test_jobs_are_counted_by_kind():
    async def run():
        schedule = Schedule(2)
        async with schedule.turn("a", "pdf", 1):
            second = asyncio.create_task(schedule.turn("b", "generation", 1).__aenter__())
            await asyncio.sleep(0)
            async with schedule.turn("b", "validation", 1):
                counts = schedule.waiting, schedule.running
            second.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await second
        return *counts, schedule.waiting, schedule.running

    none = {"validation": 0, "reference": 0, "causes": 0, "pdf": 0, "generation": 0}
    one_each = {**none, "validation": 1, "pdf": 1}
    assert asyncio.run(run()) == ({**none, "generation": 1}, one_each, none, none)


def test_wait_is_limited():
    async def run():
        schedule = Schedule(1)
        async with schedule.turn("a", "validation", 1):
            with pytest.raises(TimeoutError):
                async with schedule.turn("b", "validation", 0.01):
                    pass
            assert not any(schedule.waiting.values())
            cancelled = asyncio.create_task(schedule.turn("c", "validation", 1).__aenter__())
            await asyncio.sleep(0)
            cancelled.cancel()  # it does not run again before the worker is free
        with contextlib.suppress(asyncio.CancelledError):
            await cancelled
        async with schedule.turn("d", "validation", 0):
            assert not any(schedule.waiting.values())

    asyncio.run(run())


def test_single_holder_may_use_all():
    shares = Shares(10)
    assert shares.take("a", 10)
    assert not shares.take("a", 1)
    shares.release("a", 10)
    assert shares.free == 10


def test_holder_gets_a_share_although_another_has_all():
    shares = Shares(10)
    assert shares.take("a", 10)
    assert shares.take("b", 5)
    assert not shares.take("b", 1)
    assert not shares.take("c", 1)  # two halves are taken
    shares.release("a", 6)
    assert shares.take("a", 1)
    assert not shares.take("a", 1)


def test_holder_may_use_all_again_when_the_others_are_gone():
    clock = Clock()
    shares = Shares(10, clock)
    assert shares.take("b", 1)
    shares.release("b", 1)
    assert not shares.take("a", 6)
    clock.now += ACTIVE_SECONDS + 1
    assert shares.take("a", 6)


def test_strict_share_is_not_exceeded():
    """A single holder leaves a quarter; the others get it although the first has all the rest."""
    shares = Shares(12, is_strict=True)
    assert not shares.take("a", 10)
    assert shares.take("a", 9)
    assert shares.take("b", 3)
    assert not shares.take("c", 1)
    shares.release("a", 4)
    assert shares.take("c", 4)
    assert shares.free == 0


def test_one_of_several_can_take_the_least_quantity():
    shares = Shares(12, is_strict=True, least=8)
    assert shares.take("a", 1)
    assert shares.take("b", 8)
    assert not shares.take("a", 4)


@pytest.fixture(scope="module")
def single(tmp_path_factory):
    """A server with one worker, and time for what waits."""
    limits = {"queue": 32, "upload_seconds": SECONDS, "document_seconds": SECONDS}
    with serving(tmp_path_factory.mktemp("single") / "data", workers=1, metrics=1, **limits) as server:
        yield server


@pytest.mark.slow
def test_slow_uploads_do_not_shut_out_others(single):
    """One key sends 40 uploads that never end; 1 + 32 of them are admitted."""
    with contextlib.ExitStack() as open_sockets:
        head = f"POST {VALIDATE} HTTP/1.1\r\nHost: x\r\nX-API-Key: {single.client.headers['X-API-Key']}\r\n"
        head += "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000\r\n\r\n--b\r\n"
        address = single.base.host, single.base.port
        connections = [open_sockets.enter_context(socket.create_connection(address)) for _ in range(40)]
        for connection in connections:
            connection.sendall(head.encode())
        wait_until(lambda: len(select.select(connections, [], [], 0)[0]) == 7)  # refused, the others wait
        assert single.validate().status_code == 503
        other = single.add_key("other")
        assert single.client.post(VALIDATE, files={"file": UBL}, headers=other).status_code == 200


@pytest.mark.slow
def test_slow_pdfs_do_not_shut_out_validations(tmp_path):
    """One key fetches more PDFs than there are workers, and none gets finished: the first is killed at its limit."""
    line = UBL[UBL.index(b"<cac:InvoiceLine>") : UBL.index(b"</cac:InvoiceLine>") + len(b"</cac:InvoiceLine>")]
    large = UBL.replace(line, line * 1_500)  # validated in less than the limit, rendered in much more
    settings = {"workers": 2, "queue": 2, "queue_seconds": 1, "document_seconds": 4, "pdf_lines": 5_000}
    with serving(tmp_path / "data", metrics=1, **settings) as server:
        artifacts = [server.validate(document).json()["artifacts"] for document in (large, UBL, UBL, UBL)]
        urls = [links["readable_invoice_pdf"]["url"] for links in artifacts]
        other = server.add_key("other")
        with ThreadPoolExecutor(4) as threads:
            first = threads.submit(server.client.get, urls[0])
            server.wait_until_running("pdf")
            pdfs = [threads.submit(server.client.get, url) for url in urls[1:]]
            validated = server.client.post(VALIDATE, files={"file": UBL}, headers=other)
            assert not first.done()
            assert {pdf.result().status_code for pdf in pdfs} == {503}
            assert first.result().status_code == 422
        assert validated.status_code == 200


@pytest.mark.slow
def test_worker_that_exits_during_a_batch_does_not_affect_it(single):
    with ThreadPoolExecutor(1) as threads:
        (worker,) = single.workers()
        os.kill(worker, signal.SIGSTOP)
        batch = threads.submit(single.batch, ("a.xml", UBL), ("b.xml", UBL))
        single.wait_until_running()
        os.kill(worker, signal.SIGKILL)
        items = batch.result().json()["items"]
        assert [item["is_valid"] for item in items] == [True, True]


def kill_workers_twice(server):
    """Kill the worker of a running job, and the one that runs it again."""
    killed = set[int]()
    for _ in range(2):
        wait_until(lambda: set(server.workers()) - killed)  # the server knows that the one before has ended
        server.wait_until_ready()
        server.wait_until_running()
        (worker,) = set(server.workers()) - killed
        os.kill(worker, signal.SIGKILL)
        killed.add(worker)


@pytest.mark.slow
def test_file_that_ends_its_worker_twice_gets_an_error(single):
    """The worker is killed twice while it validates a large file: in a batch, then alone."""
    line = UBL[UBL.index(b"<cac:InvoiceLine>") : UBL.index(b"</cac:InvoiceLine>") + len(b"</cac:InvoiceLine>")]
    large = UBL.replace(line, line * 7_000)
    with ThreadPoolExecutor(1) as threads:
        batch = threads.submit(single.batch, ("large.xml", large), ("b.xml", UBL))
        kill_workers_twice(single)
        items = batch.result().json()["items"]
        assert [error["code"] for error in items[0]["errors"]] == ["FILE-WORKER"]
        assert items[0]["filename"] == "large.xml"
        assert items[1]["is_valid"]
        request = threads.submit(single.validate, large)
        kill_workers_twice(single)
        assert_problem(request.result(), 503, "busy")
        assert int(request.result().headers["Retry-After"]) > 0


@pytest.mark.slow
def test_limits_of_a_plan(single):
    single.wait_until_ready()
    single.add_plan("EINVOICE_PLAN_SLOW=can_use_api,requests_per_minute=2")
    single.add_plan("EINVOICE_PLAN_ONE=can_use_api,concurrent_requests=1")
    slow, one = single.add_key("slow", "slow"), single.add_key("one", "one")
    responses = [single.client.get(f"{API}/capabilities", headers=slow) for _ in range(3)]
    assert [response.status_code for response in responses] == [200, 200, 429]
    assert "requests_per_minute" not in responses[0].json()["entitlements"]
    assert_problem(responses[2], 429, "rate_limit")
    assert 0 < int(responses[2].headers["Retry-After"]) <= 30
    os.kill(single.workers()[0], signal.SIGSTOP)
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(single.client.post, VALIDATE, files={"file": UBL}, headers=one)
        single.wait_until_running()
        second = single.client.get(f"{API}/capabilities", headers=one)
        assert_problem(second, 429, "concurrency_limit")
        assert int(second.headers["Retry-After"]) > 0
        os.kill(single.workers()[0], signal.SIGCONT)
        assert first.result().status_code == 200
    assert single.client.get(f"{API}/capabilities", headers=one).status_code == 200
