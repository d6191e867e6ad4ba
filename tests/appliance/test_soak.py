"""Load with hostile documents and faults: `EINVOICE_TEST_SOAK_SECONDS=1200 pytest -m soak -s`.

Without the variable the tests run for three minutes each.
"""

import os
import threading
import time

import pytest

from tests.helpers.served import serving
from tests.helpers.soak import KILL_SECONDS, Load, MemoryLog, at, keep_full, kill_worker, small_volume

pytestmark = pytest.mark.soak

SECONDS = float(os.environ.get("EINVOICE_TEST_SOAK_SECONDS", "180"))
ARTIFACT_SECONDS = 20
"""Short, so that the stores of a few megabytes are full only for a while."""
GROWTH = 1.1
"""Maximum memory at the end, compared to that after `WARM` seconds."""
WARM = min(120, SECONDS / 3)
WINDOW = min(60, SECONDS / 3)
"""Seconds over which memory is compared."""


@pytest.fixture(autouse=True)
def _only_if_requested(request):
    if "soak" not in request.config.getoption("-m"):
        pytest.skip("takes minutes: pytest -m soak")


def _run(server, faults):
    """Run load and faults; faults are pairs of a start, as a fraction of the time, and a function."""
    started = time.monotonic()
    kills = [(at_second / SECONDS, lambda: kill_worker(server)) for at_second in _range(KILL_SECONDS)]
    events = [*kills, *faults]
    threads = [threading.Thread(target=_later, args=(started + part * SECONDS, call)) for part, call in events]
    with Load(server) as load, MemoryLog(server) as memory:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        at(SECONDS, started)
    server.wait_until_ready()
    first, last = memory.median(WARM, WARM + WINDOW), memory.median(SECONDS - WINDOW, SECONDS)
    _print(load, memory, f"memory {first:.0f} MB, {last:.0f} MB")
    assert not load.wrong
    assert not load.lost
    assert load.statuses["good", 200] > 100
    assert {status for kind, status in load.statuses} <= {200, 422, 503}
    assert last < first * GROWTH
    assert _has_links(server)


def _print(load, memory, growth):
    for moment, of_server, of_workers in memory.samples[::10]:
        print(f"{moment:5.0f} s: server {of_server:4.0f} MB, workers {of_workers:4.0f} MB")
    print(f"{dict(load.statuses)}\nwrong {len(load.wrong)}, lost {len(load.lost)}, {growth}\n{load.wrong}\n{load.lost}")


def _has_links(server):
    """Return whether links to PDFs are available, at the latest when stored content has expired."""
    for _ in range(2 * ARTIFACT_SECONDS):
        if server.validate().json()["artifacts"]["validation_report_pdf"]["available"]:
            return True
        time.sleep(1)
    return False


def _range(step):
    return [step * number for number in range(1, int(SECONDS // step) + 1) if step * number < SECONDS - 5]


def _later(moment, call):
    time.sleep(max(0, moment - time.monotonic()))
    call()


def test_redis_stops_and_starts(tmp_path, own_redis):
    def stop():
        own_redis.stop()
        time.sleep(min(30, SECONDS / 6))
        own_redis.start()

    with serving(tmp_path / "data", workers=2, artifacts=own_redis.url, artifact_seconds=ARTIFACT_SECONDS) as server:
        _run(server, [(0.4, stop)])


def test_volume_is_full_for_a_while(tmp_path):
    def fill():
        keep_full(tmp_path / "data", min(120, SECONDS / 3))

    with small_volume(tmp_path / "data") as mounted:
        if not mounted:
            pytest.skip("no permission to mount a small file system")
        with serving(tmp_path / "data", workers=2, artifact_megabytes=32, artifact_seconds=ARTIFACT_SECONDS) as server:
            _run(server, [(0.3, fill)])
