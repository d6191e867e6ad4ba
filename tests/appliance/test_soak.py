"""Hours of load with hostile documents and faults: `EINVOICE_SOAK_SECONDS=28800 pytest -m soak -s`.

Without the variable the tests run for three minutes each.
"""

import os
import threading
import time

import pytest
from served import serving
from soak import KILL_SECONDS, Load, at, full, kill_worker, memory, small_volume, stopped

pytestmark = pytest.mark.soak

SECONDS = float(os.environ.get("EINVOICE_SOAK_SECONDS", "180"))
ARTIFACT_SECONDS = 20
"""Short, so that the stores of a few megabytes are full only for a while."""
GROWTH = 1.5
"""Maximum memory at the end, compared to that after two minutes or a third of the time."""


@pytest.fixture(autouse=True)
def _only_if_requested(request):
    if "soak" not in request.config.getoption("-m"):
        pytest.skip("takes minutes: pytest -m soak")


def _run(server, faults):
    """Run load and faults; faults are pairs of a start, as a fraction of the time, and a function."""
    started = time.monotonic()
    warm = min(120, SECONDS / 3)
    kills = [(at_second / SECONDS, lambda: kill_worker(server)) for at_second in _range(KILL_SECONDS)]
    events = [*kills, *faults]
    threads = [threading.Thread(target=_later, args=(started + part * SECONDS, call)) for part, call in events]
    with Load(server) as load:
        for thread in threads:
            thread.start()
        at(warm, started)
        first = memory(server)
        at(SECONDS, started)
        for thread in threads:
            thread.join()
    server.wait_until_ready()
    time.sleep(3)
    last = memory(server)
    print(f"\n{dict(load.statuses)}\nmemory {first} MB, {last} MB; wrong {len(load.wrong)}, lost {load.lost}")
    assert not load.wrong
    assert not load.lost
    assert load.statuses["good", 200] > 100
    assert {status for kind, status in load.statuses} <= {200, 422, 503}
    assert last < first * GROWTH
    assert _has_links(server)


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
        with stopped(own_redis.process):
            time.sleep(min(30, SECONDS / 6))

    with serving(tmp_path / "data", workers=2, artifacts=own_redis.url, artifact_seconds=ARTIFACT_SECONDS) as server:
        _run(server, [(0.4, stop)])


def test_volume_is_full_for_a_while(tmp_path):
    def fill():
        with full(tmp_path / "data"):
            time.sleep(min(120, SECONDS / 3))

    with small_volume(tmp_path / "data") as mounted:
        if not mounted:
            pytest.skip("no permission to mount a small file system")
        with serving(tmp_path / "data", workers=2, artifact_megabytes=32, artifact_seconds=ARTIFACT_SECONDS) as server:
            _run(server, [(0.3, fill)])
