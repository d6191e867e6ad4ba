"""Result sets: access to files, and storage."""

import json
import pickle

import pandas as pd
import pytest

from einvoice.bulk import ResultSet
from einvoice.bulk.record import filename
from tests.helpers.corpora import make_corpus

FILES, CODES = make_corpus(30)


def test_files_are_accessed_by_index_name_and_slice(results):
    name = next(iter(CODES))
    assert results[name].file == name
    assert name in results
    assert "no such file" not in results
    assert results[0].file == next(iter(FILES))
    assert results[-1] in results
    assert [file.file for file in results[3:6]] == list(FILES)[3:6]
    with pytest.raises(KeyError):
        results["no such file"]
    with pytest.raises(IndexError):
        results[30]


def test_files_are_selected_by_verdict_and_code(results):
    selected = results.select(code="BR-CO-10")
    assert [file.file for file in selected] == [name for name, code in CODES.items() if code == "BR-CO-10"]
    assert len(results.select("valid")) == 25
    assert len(results.select("valid", "BR-CO-10")) == 0
    not_valid = [file for file in results if file.verdict != "valid"]
    assert list(results.select(severity="fatal")) == not_valid
    assert len(results.select(severity="warning")) == 0
    assert len(results.select(code="BR-CO-15")) == 0  # a code that no file has


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"verdict": "ok"}, "unknown verdict 'ok'; valid are valid, invalid, unreadable"),
        ({"severity": "error"}, "unknown severity 'error'; valid are fatal, warning, information"),
        ({"code": "BR-CO-1O"}, "unknown code 'BR-CO-1O'; similar are BR-CO-"),
    ],
)
def test_unknown_words_and_codes_are_rejected(results, arguments, message):
    with pytest.raises(ValueError, match=message):
        results.select(**arguments)


def test_results_survive_pickling(results):
    restored = pickle.loads(pickle.dumps(results))
    assert restored == results
    assert restored.result(next(iter(CODES))).errors


def test_stored_records_are_small(results):
    assert sum(map(len, results._lines)) < 1000 * len(FILES)


def test_storage_format_is_versioned_json_lines(results, tmp_path):
    results.save(tmp_path / "a.jsonl")
    first, *files, last = map(json.loads, (tmp_path / "a.jsonl").read_text("utf-8").splitlines())
    assert first["einvoice_results"] == 1
    assert [file["file"] for file in files] == list(FILES)
    assert last == {"end": 30}


def test_results_without_newer_fields_are_loaded(results, tmp_path):
    newer = ("type", "due_date", "buyer_reference", "amount_due")
    results.save(tmp_path / "a.jsonl")
    records = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text("utf-8").splitlines()]
    older = [{name: value for name, value in record.items() if name not in newer} for record in records]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in older), "utf-8")
    frame = ResultSet.load(tmp_path / "a.jsonl", lang="en").to_frame("files")
    assert frame[list(newer)].isna().all(axis=None)
    unchanged = [name for name in frame.columns if name not in newer]
    pd.testing.assert_frame_equal(frame[unchanged], results.to_frame("files")[unchanged])


def test_unknown_fields_are_ignored_on_load(results, tmp_path):
    results.save(tmp_path / "a.jsonl")
    text = (tmp_path / "a.jsonl").read_text("utf-8").replace('"verdict":', '"mood":"good","verdict":')
    (tmp_path / "a.jsonl").write_text(text, "utf-8")
    assert list(ResultSet.load(tmp_path / "a.jsonl", lang="en")) == list(results)


def test_invalid_records_are_rejected(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"einvoice_results": 1}\n{"a": 1}\n')
    with pytest.raises(ValueError, match="not a record of a validated file"):
        ResultSet.load(tmp_path / "a.jsonl")[0]


@pytest.mark.parametrize("line", [{"file": 'a "b"\n/ü.xml', "sha256": ""}, {"sha256": "", "file": 'a "b"\n/ü.xml'}])
def test_filename_of_a_record_does_not_depend_on_the_order_of_its_keys(line):
    for text in (json.dumps(line), json.dumps(line, ensure_ascii=False, separators=(",", ":"))):
        assert filename(text.encode()) == 'a "b"\n/ü.xml'


def test_take_keeps_the_given_order(results):
    names = [file.file for file in results]
    assert [file.file for file in results.take([2, 0])] == [names[2], names[0]]
