"""`einvoice watch`: where invoices end, what is beside them, and that none is lost or sorted twice."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from einvoice.cli import main
from einvoice.watch import Inbox, Outbox, watch
from einvoice.watch import outbox as outbox_module
from tests.helpers.paths import SAMPLES

VALID = (SAMPLES / "ubl-invoice.xml").read_bytes()
INVALID = VALID.replace(b">415.33<", b">415.34<")


@pytest.fixture
def folders(tmp_path):
    inbox, out = tmp_path / "in", tmp_path / "out"
    inbox.mkdir()
    return inbox, out


def arrive(folder: Path, **files: bytes) -> None:
    for name, content in files.items():
        (folder / f"{name}.xml").write_bytes(content)


def once(inbox: Path, out: Path, *options: str) -> int:
    return main(["watch", str(inbox), str(out), "--once", "--settle", "0", "--lang", "en", *options])


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_invoices_are_sorted_with_result_and_report(folders, capsys):
    inbox, out = folders
    arrive(inbox, good=VALID, bad=INVALID, scrap=b"no invoice")
    assert once(inbox, out) == 0
    assert names(out) == {
        *("valid/good.xml", "valid/good.xml.json", "valid/good.xml.html"),
        *("invalid/bad.xml", "invalid/bad.xml.json", "invalid/bad.xml.html"),
        *("unreadable/scrap.xml", "unreadable/scrap.xml.json"),
    }
    assert names(inbox) == set()
    result = json.loads((out / "invalid/bad.xml.json").read_bytes())
    assert (result["file"], result["is_valid"]) == ("bad.xml", False)
    assert json.loads((out / "unreadable/scrap.xml.json").read_bytes())["problem"]["code"] == "FILE-FORMAT"
    assert b"BR-CO-15" in (out / "invalid/bad.xml.html").read_bytes()
    assert sorted(line.split(" ", 1)[1] for line in capsys.readouterr().out.splitlines()) == [
        "invalid: bad.xml",
        "unreadable: scrap.xml",
        "valid: good.xml",
    ]


def test_what_is_still_written_stays(folders):
    inbox, out = folders
    arrive(inbox, good=VALID)
    (inbox / "later.xml.part").write_bytes(VALID)
    (inbox / ".hidden.xml").write_bytes(VALID)
    (inbox / "folder").mkdir()
    (inbox / "link.xml").symlink_to(SAMPLES / "ubl-invoice.xml")
    assert main(["watch", str(inbox), str(out), "--once", "--settle", "3600"]) == 0
    assert names(out) == set()
    assert once(inbox, out, "--report", "none") == 0
    assert names(out) == {"valid/good.xml", "valid/good.xml.json"}
    assert {it.name for it in inbox.iterdir()} == {"later.xml.part", ".hidden.xml", "folder", "link.xml", ".einvoice"}


def test_the_same_invoice_again_changes_nothing_and_another_one_gets_a_name(folders):
    inbox, out = folders
    for content in (VALID, VALID, VALID.replace(b"LG-2026-0417", b"LG-2026-0418")):
        arrive(inbox, a=content)
        assert once(inbox, out, "--report", "none") == 0
    found = names(out)
    assert len(found) == 4
    assert {"valid/a.xml", "valid/a.xml.json"} < found
    assert (out / "valid/a.xml").read_bytes() == VALID


def test_a_full_disk_loses_nothing(folders, monkeypatch):
    inbox, out = folders
    arrive(inbox, a=VALID, b=INVALID)
    full = OSError(errno.ENOSPC, "No space left on device")
    told = []

    def refuse(path: Path, content: bytes) -> None:
        raise full

    def sort() -> list[str]:
        options = {"interval": 0, "is_stopped": lambda: False, "once": True}
        with Inbox(inbox, 0) as opened:
            box = Outbox(out, lang="de", report="none")
            return [it.name for it, _ in watch(opened, box, failed=lambda name, error: told.append(error), **options)]

    with monkeypatch.context() as patched:
        patched.setattr(outbox_module, "_write", refuse)
        assert sort() == []
    assert told == [full, full]
    assert names(inbox) == {"a.xml", "b.xml"}
    assert sorted(sort()) == ["a.xml", "b.xml"]


def test_files_of_a_killed_watcher_are_taken_over(folders):
    inbox, out = folders
    arrive(inbox, a=VALID)
    code = "import sys, time; from pathlib import Path; from einvoice.watch import Inbox\n"
    code += "box = Inbox(Path(sys.argv[1]), 0).__enter__(); next(box.claims(print)); print('claimed', flush=True)\n"
    code += "time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", code, str(inbox)], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "claimed\n"
        assert once(inbox, out) == 0
        assert names(out) == set()  # the other one still works on it
        other.kill()
    assert once(inbox, out) == 0
    assert "valid/a.xml" in names(out)
    assert names(inbox) == set()


def test_sigterm_ends_it(folders):
    inbox, out = folders
    arrive(inbox, a=VALID)
    command = [sys.executable, "-m", "einvoice.cli", "watch", str(inbox), str(out), "--settle", "0", "--lang", "en"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert "valid: a.xml" in process.stdout.readline()
        process.terminate()
        assert process.wait(60) == 0
    assert names(inbox) == set()


def test_a_file_with_the_name_of_a_result_is_not_overwritten(folders):
    inbox, out = folders
    (inbox / "a.xml.json").write_bytes(b"no invoice")
    assert once(inbox, out) == 0
    arrive(inbox, a=b"none either")
    assert once(inbox, out) == 0
    assert (out / "unreadable/a.xml.json").read_bytes() == b"no invoice"
    assert sum(it.read_bytes() == b"none either" for it in (out / "unreadable").iterdir()) == 1


def test_odd_names_and_what_cannot_be_sorted_do_not_stop_the_others(folders):
    inbox, out = folders
    arrive(inbox, **{"x" * 240: VALID})
    (inbox / os.fsdecode(b"a\xff.xml")).write_bytes(VALID)
    assert once(inbox, out) == 0
    assert len(list((out / "valid").glob("*.xml"))) == 2
    (out / "valid" / "b.xml").mkdir()
    arrive(inbox, b=VALID, c=VALID)
    assert once(inbox, out) == 2
    assert (out / "valid" / "c.xml").exists()
    assert names(inbox) == {"b.xml"}


@pytest.mark.parametrize(("first", "second"), [("nothing", "out"), ("in", "in"), ("in", ".")])
def test_folders_must_exist_and_differ(folders, capsys, first, second):
    root = folders[0].parent
    with pytest.raises(SystemExit):
        main(["watch", str(root / first), str(root / second)])
    assert "folder" in capsys.readouterr().err


@pytest.mark.slow
def test_two_watchers_and_kills_sort_each_file_once(folders):
    inbox, out = folders
    count = 300
    for number in range(count):
        content = VALID if number % 3 else INVALID
        arrive(inbox, **{f"n{number}": content.replace(b"LG-2026-0417", b"LG-%d" % number)})
    command = [sys.executable, "-m", "einvoice.cli", "watch", str(inbox), str(out), "--settle", "0", "--report", "none"]

    def start() -> subprocess.Popen:
        return subprocess.Popen(command, stdout=subprocess.DEVNULL)

    def is_done() -> bool:
        return sum(1 for it in out.rglob("*.xml")) == count

    running = [start(), start()]
    kills = 0
    try:
        while not is_done():
            before = sum(1 for _ in out.rglob("*.xml"))
            while not is_done() and sum(1 for _ in out.rglob("*.xml")) < before + 40:
                time.sleep(0.01)
            os.kill(running[0].pid, signal.SIGKILL)
            running[0].wait()
            running = [running[1], start()]
            kills += 1
    finally:
        for process in running:
            process.terminate()
            process.wait()
    assert kills >= 5
    assert len(list((out / "invalid").glob("*.xml"))) == count / 3
    assert len(list(out.rglob("*.json"))) == count
    assert list(inbox.rglob("*.xml")) == []


def sort(inbox, out):
    """Sort what is complete, once; return the verdicts by name."""
    with Inbox(inbox, 0) as opened:
        box = Outbox(out, lang="en", report="html")
        options = {"interval": 0, "is_stopped": lambda: False, "failed": lambda name, error: None, "once": True}
        return {claim.name: it.verdict for claim, it in watch(opened, box, **options)}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells which files are open")
def test_a_writer_that_pauses_keeps_its_file(folders):
    """However long it pauses: the file is open for writing."""
    inbox, out = folders
    arrive(inbox, other=INVALID)
    with (inbox / "slow.xml").open("wb", buffering=0) as writer:
        writer.write(VALID[:1000])
        assert sort(inbox, out) == {"other.xml": "invalid"}
        assert (inbox / "slow.xml").exists()
        writer.write(VALID[1000:])
        assert sort(inbox, out) == {}
    assert sort(inbox, out) == {"slow.xml": "valid"}
    assert (out / "valid/slow.xml").read_bytes() == VALID


@pytest.mark.parametrize("step", ["_judged", "_target", "_write"])
def test_a_file_that_changes_meanwhile_is_validated_again(folders, monkeypatch, step):
    """A writer that opens the file again appends to it: while it is validated, or while its result is written."""
    inbox, out = folders
    arrive(inbox, slow=VALID[:1000])
    owner = outbox_module if step == "_write" else Outbox
    original = getattr(owner, step)

    def during(*args):
        for path in inbox.rglob("slow.xml"):
            with path.open("ab") as writer:
                writer.write(VALID[path.stat().st_size :])
        return original(*args)

    with monkeypatch.context() as patched:
        patched.setattr(owner, step, during)
        assert sort(inbox, out) == {}
    assert names(inbox) == {"slow.xml"}
    assert names(out) == set()
    assert sort(inbox, out) == {"slow.xml": "valid"}
    assert names(out) == {"valid/slow.xml", "valid/slow.xml.json", "valid/slow.xml.html"}


def test_a_file_that_changes_while_it_is_copied_is_validated_again(folders, monkeypatch):
    """To another file system."""
    inbox, out = folders
    arrive(inbox, slow=VALID[:1000])
    original = outbox_module.shutil.copy2

    def refuse(source, target):
        if source.parent.parent.name == ".einvoice":
            raise OSError(errno.EXDEV, "another file system")
        return os.replace(source, target)  # noqa: PTH105 (the other one is patched)

    def copied(source, target):
        original(source, target)
        with source.open("ab") as writer:
            writer.write(VALID[1000:])

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", refuse)
        patched.setattr(outbox_module.shutil, "copy2", copied)
        assert sort(inbox, out) == {}
    assert names(out) == set()
    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", refuse)
        assert sort(inbox, out) == {"slow.xml": "valid"}
    assert (out / "valid/slow.xml").read_bytes() == VALID


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells which files are open")
def test_opening_a_file_meanwhile_does_not_end_the_watcher(folders):
    """The system signals who has a lease on a file that is opened for writing."""
    inbox, _ = folders
    arrive(inbox, a=VALID)
    code = "import sys; from pathlib import Path; from einvoice.watch.writers import is_open\n"
    code += "path = Path(sys.argv[1])\nfor _ in range(20_000): is_open(path)\nprint('alive')"
    command = [sys.executable, "-c", code, str(inbox / "a.xml")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as watcher:
        while watcher.poll() is None:
            with (inbox / "a.xml").open("ab"):
                pass
        assert (watcher.returncode, watcher.stdout.read()) == (0, "alive\n")


def test_where_leases_are_not_known_the_time_decides(folders, monkeypatch):
    inbox, out = folders
    monkeypatch.setattr("einvoice.watch.inbox.can_tell", lambda folder: False)
    with (inbox / "open.xml").open("wb", buffering=0) as writer:
        writer.write(VALID)
        assert sort(inbox, out) == {"open.xml": "valid"}
