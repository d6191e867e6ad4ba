"""Sources of files: folders, patterns, lists, archives and iterators."""

import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

import pandas as pd
import pytest

import einvoice
from einvoice.bulk import ResultSet
from tests.helpers.corpora import CII, UBL, make_corpus, numbered, validate_serially, with_error, write_files

FILES, CODES = make_corpus(30)


def names(results):
    return [file.file for file in results]


def test_folder_is_searched_recursively(tmp_path):
    write_files(tmp_path, FILES | {"0/readme.txt": b"x", ".git/a.xml": b"x", "0/.b.xml": b"x", "Z.XML": UBL})
    results = validate_serially(tmp_path)
    assert names(results) == ["Z.XML", *sorted(FILES)]
    assert names(validate_serially(str(tmp_path / "1"))) == [
        name[2:] for name in sorted(FILES) if name.startswith("1/")
    ]


def test_glob_patterns(tmp_path, monkeypatch):
    write_files(tmp_path, FILES)
    assert names(validate_serially(f"{tmp_path}/[01]/*.xml")) == [name for name in sorted(FILES) if name[0] in "01"]
    assert names(validate_serially(f"{tmp_path}/**/*.xml")) == sorted(FILES)
    monkeypatch.chdir(tmp_path)
    assert names(validate_serially("2/0*.xml")) == [name[2:] for name in sorted(FILES) if name[0] == "2"]
    with pytest.raises(FileNotFoundError, match=r"no files to validate in '.*\*\.pdf'"):
        validate_serially("2/*.pdf")
    assert len(validate_serially("2/*.pdf", allow_empty=True)) == 0


def test_source_without_files_is_rejected(tmp_path):
    folder = write_files(tmp_path / "in", {"readme.txt": b"x"})
    archives = zipped(tmp_path / "a.zip", IGNORED_FILES), tarred(tmp_path / "a.tgz", IGNORED_FILES, "w:gz")
    for source in (folder, str(folder), *archives, [], {}, (), iter([]), folder.rglob("*.xml"), pd.Series([])):
        with pytest.raises(FileNotFoundError, match="no files to validate"):
            validate_serially(source)
    for source in (folder, *archives, [], folder.rglob("*.xml")):
        results = validate_serially(source, allow_empty=True)
        assert (len(results), results.complete, results.is_valid) == (0, True, False)


def test_list_of_paths_keeps_order_and_relative_names(tmp_path):
    write_files(tmp_path, FILES)
    selected = list(FILES)[7:0:-1]
    paths = [tmp_path / name for name in selected]
    assert names(validate_serially(paths)) == selected
    assert names(validate_serially(pd.Series(map(str, paths), index=range(5, 12)))) == selected
    assert names(validate_serially(paths[0])) == [Path(selected[0]).name]


def ways_to_pass(folder, monkeypatch):
    """Return the same files as folder, patterns, iterators and lists."""
    monkeypatch.chdir(folder)
    absolute = sorted(folder.rglob("*.xml"))
    relative = [Path("..", folder.name, path.relative_to(folder)) for path in absolute]
    return {
        "folder": folder,
        "pattern": f"{folder}/**/*.xml",
        "iterator": folder.rglob("*.xml"),
        "iterator of texts": map(str, absolute),
        "list": absolute,
        "relative list": relative,
        "mixed list": [absolute[0], *relative[1:]],
        "column": pd.Series([str(path) for path in absolute]),
        "archive": zipped(folder.parent / "a.zip", {path.relative_to(folder).as_posix(): UBL for path in absolute}),
    }


def test_names_do_not_depend_on_how_files_are_passed(tmp_path, monkeypatch):
    files = {f"{seller}/{number}.xml": UBL for seller in ("a", "b") for number in (1, 2)}
    folder = write_files(tmp_path / "in", files)
    for way, source in ways_to_pass(folder, monkeypatch).items():
        assert sorted(names(validate_serially(source))) == sorted(files), way


def test_same_files_passed_differently_match(tmp_path, monkeypatch):
    data = with_error("BR-CO-10", UBL)
    folder = write_files(tmp_path / "in", {"2026/a/1.xml": data, "2026/a/2.xml": UBL})
    whole = validate_serially(folder)
    assert names(whole) == ["2026/a/1.xml", "2026/a/2.xml"]
    for source in ([*folder.rglob("*.xml")], folder.rglob("*.xml"), folder / "2026", f"{folder}/2026/a/*.xml"):
        part = validate_serially(source)
        for comparison in (whole.compare(part), part.compare(whole)):
            assert not comparison
            assert [it.finding.code for it in comparison.unchanged] == ["BR-CO-10"]
        whole.assert_matches(part)
    more = validate_serially({"2026/a/1.xml": data, "2026/b/1.xml": data})
    assert more.compare(whole).added == ("2026/b/1.xml",)
    assert more.compare(validate_serially({"a/1.xml": data})).added == ("2026/b/1.xml",)
    assert not validate_serially({"x/1.xml": data}).compare(validate_serially({"x/1.xml": data}))
    assert validate_serially({"x/1.xml": data}).compare(validate_serially({"y/1.xml": data})).added == ("x/1.xml",)


@pytest.mark.parametrize("kind", ["paths", "pairs", "column"])
def test_two_files_with_one_name_are_rejected(tmp_path, kind):
    path = write_files(tmp_path, {"a.xml": UBL}) / "a.xml"
    source = {
        "paths": [path, str(path)],
        "pairs": [("a.xml", UBL), ("a.xml", CII)],
        "column": pd.Series([UBL, CII], index=["a.xml", "a.xml"]),
    }[kind]
    with pytest.raises(ValueError, match=r"two files have the name 'a\.xml'"):
        validate_serially(source)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_repeated_names_of_archives_and_iterators_are_numbered(tmp_path):
    pairs = [("a.xml", UBL), ("a.xml (2)", UBL), ("a.xml", CII), ("a.xml", b"")]
    results = validate_serially(iter(pairs))
    assert names(results) == ["a.xml", "a.xml (2)", "a.xml (3)", "a.xml (4)"]
    assert results["a.xml (4)"].verdict == "unreadable"
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.xml", UBL)
        archive.writestr("a.xml", CII)
    packed = validate_serially(tmp_path / "a.zip")
    assert names(packed) == ["a.xml", "a.xml (2)"]
    assert packed.result("a.xml (2)").identity.syntax == "CII"


def test_loaded_results_find_their_files(tmp_path):
    data = with_error("BR-CO-10", UBL)
    folder = write_files(tmp_path / "in", {"2026/a.xml": data, "2026/b.xml": UBL})
    for source in (folder, folder / "2026"):
        validate_serially(source).save(tmp_path / "a.jsonl")
        stored = zipped(tmp_path / "a.zip", {"2026/a.xml": data, "2026/b.xml": UBL})
        for files in (folder, folder / "2026", folder.rglob("*.xml"), stored):
            loaded = einvoice.ResultSet.load(tmp_path / "a.jsonl", files=files)
            assert [finding.code for finding in loaded.result(loaded[0].file).findings] == ["BR-CO-10"]
        with pytest.raises(LookupError, match="no longer available"):
            einvoice.ResultSet.load(tmp_path / "a.jsonl").result(loaded[0].file)
    with pytest.raises(FileNotFoundError):
        einvoice.ResultSet.load(tmp_path / "a.jsonl", files=tmp_path / "nowhere")


def test_series_of_bytes_is_named_by_its_index():
    column = pd.Series([UBL, None, CII], index=["a", "b", "c"])
    assert [(file.file, file.verdict) for file in validate_serially(column)] == [
        ("a", "valid"),
        ("b", "unreadable"),
        ("c", "valid"),
    ]


def test_iterator_of_pairs():
    pairs = iter([("a.xml", UBL), ("b.xml", memoryview(CII)), ("c.xml", "nowhere.xml")])
    assert [file.verdict for file in validate_serially(pairs)] == ["valid", "valid", "unreadable"]


def zipped(path, files, **options):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def tarred(path, files, mode):
    with tarfile.open(path, mode) as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


IGNORED_FILES = {"readme.txt": b"x", "__MACOSX/a.xml": b"x", ".hidden/a.xml": b"x"}


def test_archives_give_the_same_results_as_files(tmp_path, results):
    assert validate_serially(zipped(tmp_path / "a.zip", FILES | IGNORED_FILES)) == results
    for mode in ("w:", "w:gz", "w:bz2", "w:xz"):
        archive = validate_serially(tarred(tmp_path / "a.bin", FILES | IGNORED_FILES, mode))
        assert archive == results
    dotted = {f"./{name}": data for name, data in FILES.items()}
    assert validate_serially(tarred(tmp_path / "dotted.tgz", dotted, "w:gz")) == results


def test_full_result_is_available_from_every_source(tmp_path):
    name = next(name for name, code in CODES.items() if code == "BR-CO-10")
    sources = [FILES, zipped(tmp_path / "a.zip", FILES), write_files(tmp_path / "files", FILES)]
    for results in [*map(validate_serially, sources), validate_serially(tarred(tmp_path / "a.tgz", FILES, "w:gz"))]:
        assert [finding.code for finding in results.result(name).findings] == ["BR-CO-10"]
    from_iterator = validate_serially(iter(FILES.items()))
    with pytest.raises(LookupError, match="no longer available"):
        from_iterator.result(name)
    paths = validate_serially((tmp_path / "files").rglob("*.xml"))
    assert [finding.code for finding in paths.result(name).findings] == ["BR-CO-10"]
    assert from_iterator.result(name, FILES[name]).invoice == einvoice.read(FILES[name])
    with pytest.raises(ValueError, match="has changed"):
        from_iterator.result(name, UBL)


@pytest.mark.parametrize("source", [b"<xml/>", 7, None, pd.DataFrame({"path": []}), [7], [("a",)]])
def test_unsupported_source_is_rejected(source):
    with pytest.raises(TypeError):
        validate_serially(source)


@pytest.mark.slow
def test_oversized_archive_member_is_rejected(tmp_path):
    huge = b"\0" * 60_000_000
    packed = zipped(tmp_path / "a.zip", {"a.xml": huge, "b.xml": UBL})
    assert packed.stat().st_size < 100_000
    for path in (packed, tarred(tmp_path / "a.tgz", {"a.xml": huge, "b.xml": UBL}, "w:gz")):
        results = validate_serially(path)
        assert results["a.xml"].findings[0].code == "FILE-SIZE"
        assert results["b.xml"].is_valid


def test_oversized_tar_header_is_rejected(tmp_path):
    long_name = tarfile.TarInfo("././@LongLink")
    long_name.type, long_name.size = tarfile.GNUTYPE_LONGNAME, 2_000_000_000
    tail = b"\0" * 1024
    (tmp_path / "a.tar").write_bytes(long_name.tobuf(tarfile.GNU_FORMAT) + tail)
    (file,) = validate_serially(tmp_path / "a.tar")
    assert file.findings[0].code == "FILE-ARCHIVE"
    assert "header" in file.findings[0].explanation("en")


@pytest.mark.parametrize("packing", ["zip", "tar"])
def test_archive_limits_stop_extraction(tmp_path, monkeypatch, packing):
    monkeypatch.setattr("einvoice.bulk.files.archive.MAX_FILES", 3)
    files = {f"{number}.xml": numbered(number) for number in range(6)}
    path = zipped(tmp_path / "a", files) if packing == "zip" else tarred(tmp_path / "a", files, "w:gz")
    results = validate_serially(path)
    assert [file.verdict for file in results] == ["valid"] * 3 + ["unreadable"]
    assert "more than 3 files" in results[3].findings[0].explanation("en")
    monkeypatch.setattr("einvoice.bulk.files.archive.MAX_FILES", 100)
    monkeypatch.setattr("einvoice.bulk.files.archive.MAX_BYTES", 4 * len(UBL))
    limited_by_size = validate_serially(path)
    assert 2 <= limited_by_size.verdicts["valid"] <= 4
    assert limited_by_size[-1].findings[0].code == "FILE-ARCHIVE"


def test_damaged_archive_members_are_reported(tmp_path):
    data = bytearray(zipped(tmp_path / "a.zip", {"a.xml": UBL, "b.xml": CII}).read_bytes())
    data[60] ^= 0xFF
    (tmp_path / "a.zip").write_bytes(data)
    assert [file.verdict for file in validate_serially(tmp_path / "a.zip")] == ["unreadable", "valid"]
    truncated = tarred(tmp_path / "a.tgz", {"a.xml": UBL, "b.xml": CII}, "w:gz").read_bytes()
    (tmp_path / "a.tgz").write_bytes(truncated[: len(truncated) * 2 // 3])
    assert validate_serially(tmp_path / "a.tgz")[-1].findings[0].code == "FILE-ARCHIVE"
    (tmp_path / "b.zip").write_bytes(b"PK\x03\x04" + bytes(100))
    assert [file.findings[0].code for file in validate_serially(tmp_path / "b.zip")] == ["FILE-ARCHIVE"]


def test_links_in_archives_are_ignored(tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        link = tarfile.TarInfo("a.xml")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        info = tarfile.TarInfo("../../b.xml")
        info.size = len(UBL)
        archive.addfile(info, io.BytesIO(UBL))
    assert names(validate_serially(tmp_path / "a.tar")) == ["../../b.xml"]  # used as a name, not as a path to write to
    assert not (tmp_path.parent.parent / "b.xml").exists()


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="only Linux has it")
def test_file_of_unknown_size_is_read_completely():
    path = Path("/proc/version")
    assert path.stat().st_size == 0
    (file,) = validate_serially([path])
    assert file.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_folders_in_a_list_stand_for_their_files(tmp_path):
    write_files(tmp_path, {"2025/a.xml": UBL, "2026/b.xml": UBL, "2026/c.txt": b"", "d.xml": UBL})
    results = validate_serially([tmp_path / "2025", str(tmp_path / "2026"), tmp_path / "d.xml"])
    assert [file.file for file in results] == ["2025/a.xml", "2026/b.xml", "d.xml"]
    mixed = validate_serially([("x.xml", UBL), tmp_path / "2026"])
    assert [file.file for file in mixed] == ["x.xml", "b.xml"]


def test_errors_name_the_whole_path(tmp_path):
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "missing", tmp_path / "empty"):
        with pytest.raises(FileNotFoundError) as raised:
            validate_serially(path)
        assert str(path) in str(raised.value)


def test_stored_results_say_that_a_folder_is_another_one(tmp_path):
    write_files(tmp_path, {"in/a.xml": UBL, "other/b.xml": UBL})
    validate_serially(tmp_path / "in").save(tmp_path / "a.jsonl")
    with pytest.raises(ValueError, match=r"no file of '.*other' is in the results: they have 'b\.xml', .* 'a\.xml'"):
        ResultSet.load(tmp_path / "a.jsonl", files=tmp_path / "other")
    assert ResultSet.load(tmp_path / "a.jsonl", files=tmp_path / "in").result("a.xml").is_valid
