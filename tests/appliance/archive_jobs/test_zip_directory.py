"""Reading of ZIP archives, compared with the standard library."""

import contextlib
import io
import struct
import zipfile
from random import Random

import pytest

from appliance.archive_jobs import zip_directory
from appliance.archive_jobs.zip_directory import ArchiveError, MemberError, MemberTooLarge, TooManyFiles
from tests.helpers.archives import archive

FILES = [("a.xml", b"<a/>" * 1000), ("folder/ä.xml", b"b"), ("empty.xml", b""), ("../up.xml", bytes(range(256)))]
LISTED = b"PK\1\2"
"""Begins an entry of the list."""


def reader(content):
    return lambda offset, size: content[offset : offset + size]


def entries(content, max_files=100):
    return list(zip_directory.entries(reader(content), len(content), max_files))


def contents(content, max_bytes=10_000):
    return {it.name: zip_directory.content(reader(content), it, max_bytes) for it in entries(content)}


def patched(content, offset, layout, *values, at=LISTED):
    """Return an archive with other values in the first entry of its list."""
    changed = bytearray(content)
    struct.pack_into(layout, changed, content.index(at) + offset, *values)
    return bytes(changed)


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_names_and_contents(compression):
    content = archive(FILES, compression)
    expected = zipfile.ZipFile(io.BytesIO(content))
    assert contents(content) == {name: expected.read(name) for name in expected.namelist()} == dict(FILES)


def test_archive_of_a_stream():
    """Sizes follow the content of each file, and are in a record of their own (ZIP64)."""

    class Stream(io.BytesIO):
        def seekable(self):
            return False

        def tell(self):
            raise io.UnsupportedOperation

    target = Stream()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as written:
        for name, content in FILES:
            with written.open(name, "w", force_zip64=True) as file:
                file.write(content)
    assert contents(target.getvalue()) == dict(FILES)


def test_list_of_more_than_65535_files():
    content = archive(((f"{number}.xml", b"") for number in range(65_537)), zipfile.ZIP_STORED)
    assert content.count(b"PK\6\6") == 1, "a ZIP64 archive"
    names = [it.name for it in entries(content, 65_537)]
    assert names == zipfile.ZipFile(io.BytesIO(content)).namelist()


def test_sizes_beyond_4_gb():
    info = zipfile.ZipInfo("large.xml")
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as written:
        written.writestr(info, b"x")
        info.file_size = info.compress_size = 5 << 30  # only in the list
        info.header_offset = 0
    with pytest.raises(ArchiveError):
        entries(target.getvalue())


def test_archive_behind_a_program():
    content = b"#!program" + archive(FILES)
    assert contents(content) == dict(FILES)


def test_folders_and_hidden_files_are_left_out():
    files = [("folder/", b""), (".DS_Store", b""), ("__MACOSX/a.xml", b""), ("a/.b/c.xml", b""), ("a/b.xml", b"")]
    assert [it.name for it in entries(archive(files))] == ["a/b.xml"]


def test_too_many_entries():
    with pytest.raises(TooManyFiles):
        entries(archive(FILES), max_files=3)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: b"no archive" * 100,
        lambda content: content[:-30],
        lambda content: content[:200] + content[-22:],
        lambda content: content.replace(LISTED, b"PK\1\3", 1),
        lambda content: patched(content, 42, "<L", len(content)),
        lambda content: patched(content, 12, "<L", 100, at=b"PK\5\6"),
        lambda content: patched(content, 10, "<H", 9, at=b"PK\5\6"),
        lambda content: patched(content, 4, "<H", 1, at=b"PK\5\6"),
    ],
)
def test_damaged_list(damage):
    with pytest.raises(ArchiveError):
        entries(damage(archive(FILES)))


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda content: patched(content, 8, "<H", 1), "encrypted"),
        (lambda content: patched(content, 10, "<H", 12), "compression method 12 is not supported"),
        (lambda content: patched(content, 16, "<L", 1), "damaged"),
        (lambda content: patched(content, 24, "<L", 3999), "damaged"),
        (lambda content: patched(content, 24, "<L", 4001), "damaged"),
        (lambda content: patched(content, 20, "<L", 5), "damaged"),
        (lambda content: content.replace(b"PK\3\4", b"PK\3\5", 1), "damaged"),
    ],
)
def test_damaged_file(damage, reason):
    content = damage(archive(FILES))
    first, second = entries(content)[:2]
    with pytest.raises(MemberError, match=reason):
        zip_directory.content(reader(content), first, 10_000)
    assert zip_directory.content(reader(content), second, 10_000) == b"b"


def test_file_that_is_too_large():
    content = archive([("a.xml", bytes(1001))])
    (entry,) = entries(content)
    assert zip_directory.content(reader(content), entry, 1001) == bytes(1001)
    with pytest.raises(MemberTooLarge):
        zip_directory.content(reader(content), entry, 1000)


def test_file_is_unpacked_up_to_its_stated_size_only():
    """The list says that ten million bytes are ten."""
    content = patched(archive([("a.xml", bytes(10_000_000))]), 24, "<L", 10)
    (entry,) = entries(content)
    with pytest.raises(MemberError, match="damaged"):
        zip_directory.content(reader(content), entry, 100)


@pytest.mark.parametrize("seed", range(4))
def test_damaged_archives_have_no_other_errors(seed):
    random = Random(seed)
    whole = archive(FILES)
    for _ in range(500):
        damaged = bytearray(whole)
        for _ in range(random.randint(1, 4)):
            damaged[random.randrange(len(damaged))] = random.randrange(256)
        with contextlib.suppress(ArchiveError, TooManyFiles):
            for entry in entries(bytes(damaged)):
                with contextlib.suppress(MemberError, MemberTooLarge):
                    zip_directory.content(reader(bytes(damaged)), entry, 10_000)
