"""Memory limits of the container, and what the settings derive from them."""

import pytest

from appliance import capacity
from appliance.settings import Settings
from tests.helpers.served import DRAFT, GENERATE, assert_problem

MEMORY_INFO = "MemTotal:        8388608 kB\nMemFree: 1 kB\n"  # 8 GB


def mounted(folder, group, files):
    """Write the files of proc and of control groups, and return where they are mounted."""
    proc, groups = folder / "proc", folder / "cgroup"
    (proc / "self").mkdir(parents=True)
    (proc / "meminfo").write_text(MEMORY_INFO)
    (proc / "self" / "cgroup").write_text(group)
    for name, content in files.items():
        (groups / name).parent.mkdir(parents=True, exist_ok=True)
        (groups / name).write_text(content)
    return proc, groups


@pytest.mark.parametrize(
    ("group", "files", "megabytes"),
    [
        ("0::/\n", {"memory.max": "536870912\n"}, 512),
        ("0::/\n", {"memory.max": "max\n"}, 8192),
        ("0::/a/b\n", {"a/b/memory.max": "max\n", "a/memory.max": "1073741824\n"}, 1024),
        ("0::/outside/the/container\n", {"memory.max": "536870912\n"}, 512),
        ("5:cpu:/\n4:memory:/docker/1\n", {"memory/memory.limit_in_bytes": "2147483648\n"}, 2048),
        ("4:memory:/\n0::/\n", {"memory/memory.limit_in_bytes": "9223372036854771712\n"}, 8192),
        ("", {}, 8192),
    ],
)
def test_memory_of_the_container(tmp_path, group, files, megabytes):
    assert capacity.memory(*mounted(tmp_path, group, files)) == megabytes


@pytest.mark.parametrize(
    ("group", "name", "content"),
    [
        ("0::/\n", "memory.events", "low 0\noom 7\noom_kill 3\noom_group_kill 0\n"),
        ("4:memory:/\n", "memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"),
    ],
)
def test_number_of_processes_killed_for_lack_of_memory(tmp_path, group, name, content):
    assert capacity.oom_kills(*mounted(tmp_path, group, {name: content})) == 3


@pytest.mark.parametrize("megabytes", [448, 512, 768, 1024, 2048, 3000, 65_536])
def test_defaults_fit(monkeypatch, tmp_path, megabytes):
    monkeypatch.setattr(capacity, "memory", lambda: megabytes)
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: range(8), raising=False)
    settings = Settings(data=tmp_path)
    settings.check_capacity()
    assert (settings.workers == 1) == (megabytes < 700)
    assert settings.worker_megabytes >= capacity.MIN_WORKER


def test_memory_of_a_worker_follows_other_settings(monkeypatch, tmp_path):
    monkeypatch.setattr(capacity, "memory", lambda: 2048)
    few, many = (Settings(data=tmp_path, workers=workers).worker_megabytes for workers in (2, 5))
    assert few > many
    assert Settings(data=tmp_path, workers=2, upload_megabytes=512).worker_megabytes < few


@pytest.mark.parametrize(
    "given", [{"worker_megabytes": 2048}, {"upload_megabytes": 2000}, {"workers": 20}, {"workers": 9, "queue": 1}]
)
def test_settings_that_do_not_fit_are_refused(monkeypatch, tmp_path, given):
    monkeypatch.setattr(capacity, "memory", lambda: 1024)
    settings = Settings(data=tmp_path, **given)
    with pytest.raises(ValueError, match=r"there are 1024 MB: lower EINVOICE_WORKERS .*EINVOICE_UPLOAD_MEGABYTES"):
        settings.check_capacity()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draft", "code"),
    [
        ({**DRAFT, "lines": [0] * 300_000}, "invalid_draft"),
        ({**DRAFT, "lines": [0] * 4_000_000}, "invalid_draft"),
        ({**DRAFT, "format": "ZUGFERD", "seller": {**DRAFT["seller"], "name": "x y " * 3_000}}, "too_complex"),
    ],
    ids=["wide", "10 MB of zeros", "long name"],
)
def test_draft_that_takes_too_much_is_refused_before_it_is_built(server, draft, code):
    workers = server.workers()
    assert_problem(server.client.post(GENERATE, json=draft), 422, code)
    assert server.workers() == workers
