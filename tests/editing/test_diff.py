"""Unified diffs: `patch` makes one document of the other."""

import shutil
import subprocess
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from einvoice.editing.diff import unified

LINES = st.lists(st.sampled_from(["<a>", "<b>ü</b>", "</a>", "<c/>\r"]), max_size=30)


def patched(before, diff):
    """Apply a unified diff by its definition."""
    lines, result, position = before.split("\n"), [], 0
    hunks = diff.split("\n@@ -")[1:]
    for hunk in hunks:
        head, *content = hunk.removesuffix("\n").split("\n")
        start, _, count = head.split(" ")[0].partition(",")
        start = int(start) - (count != "0")
        result += lines[position:start]
        position = start
        for line in content:
            if line[0] in " -":
                assert lines[position] == line[1:]
                position += 1
            if line[0] in " +":
                result.append(line[1:])
    return "\n".join([*result, *lines[position:]])


@given(LINES, LINES)
def test_diff_leads_from_one_document_to_the_other(first, second):
    before, after = ("\n".join(["<x>", *lines, "</x>", ""]) for lines in (first, second))
    diff = unified(before.encode(), after.encode(), "a", "b")
    assert patched(before, diff) == after
    assert (diff == "") == (before == after)


@pytest.mark.skipif(shutil.which("patch") is None, reason="patch is not installed")
@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("break_", ["\n", "\r\n"])
def test_patch_applies_a_diff(tmp_path, end, break_):
    before = break_.join(["<?xml version='1.0'?>", "<a>", *(f"<b>{n}</b>" for n in range(30)), "</a>"]) + end
    after = before.replace("<b>3</b>", "<b>3</b>\n<c/>").replace("<b>20</b>\n", "").replace("29", "ü") + "\n"
    (tmp_path / "a.xml").write_bytes(before.encode())
    (tmp_path / "a.diff").write_bytes(unified(before.encode(), after.encode(), "a.xml", "a.xml").encode())
    subprocess.run(["patch", "--binary", "a.xml", "a.diff"], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "a.xml").read_bytes() == after.encode()


def test_context_and_header():
    lines = [f"<b>{n}</b>" for n in range(9)]
    before = "\n".join(["<a>", *lines, "</a>", ""])
    after = before.replace("<b>4</b>", "<b>5</b>")
    assert unified(before.encode("utf-16"), after.encode(), "old.xml", "new.xml").splitlines() == [
        "--- old.xml", "+++ new.xml", "@@ -3,7 +3,7 @@",
        " <b>1</b>", " <b>2</b>", " <b>3</b>", "-<b>4</b>", "+<b>5</b>", " <b>5</b>", " <b>6</b>", " <b>7</b>",
    ]  # fmt: skip


def test_large_documents_take_linear_time():
    before = "\n".join("<y/>" if n % 3 else f"<x>{n}</x>" for n in range(300_000))
    after = before.replace("000</x>", "000</x><new/>")
    started = time.process_time()
    assert unified(before.encode(), after.encode(), "a", "b").count("\n+") == before.count("000</x>") + 1
    assert time.process_time() - started < 10
