"""Results of files that are validated one by one are those of `validate_many`."""

import json

import pytest

import einvoice
from einvoice.bulk import parts
from tests.helpers.large import documents


@pytest.fixture(scope="module")
def files():
    return [(f"{name}.xml", content) for name, content in documents().items()]


@pytest.fixture(scope="module")
def results(files):
    return einvoice.validate_many(files, workers=0, progress=False, lang="en")


@pytest.fixture(scope="module")
def made(files):
    def result(content):
        try:
            return einvoice.validate(content)
        except einvoice.UnreadableDocument as error:
            return error

    return [parts.part(name, content, result(content)) for name, content in files]


def test_records(results, made):
    assert [json.loads(it.record) for it in made] == list(results.records())
    assert [(it.verdict, it.sha256) for it in made] == [(it.verdict, it.sha256) for it in results]
    unreadable = parts.part("a.xml", None, einvoice.errors.TooLarge(limit=1))
    assert (unreadable.verdict, unreadable.sha256) == ("unreadable", "")


@pytest.mark.parametrize("lang", ["de", "en"])
def test_tables(results, made, lang):
    rows = [parts.csv(it.record, lang, has_header=not at) for at, it in enumerate(made)]
    assert "".join(files for files, _ in rows) == results.to_csv(which="files", lang=lang)
    assert "".join(findings for _, findings in rows) == results.to_csv(lang=lang)


def test_tables_without_what_invoices_say(made):
    for table in parts.csv(made[0].record, "en", has_header=True, has_facts=False):
        assert not {"number", "seller", "gross", "iban"} & set(table.splitlines()[0].split(","))
        assert table.startswith("file,")


def test_summary_and_causes(files, results, made):
    records = [it.record for it in made]
    positions = parts.sample(records, 100)
    assert positions == [at for at, it in enumerate(results) if it.verdict == "invalid"]
    assert len(parts.sample(records, 2)) == 2
    causes = [parts.causes_record(*files[at], "native") for at in positions]
    found, common = parts.summary(records, causes, engine="native", lang="en")
    assert found == results.summary()
    expected = results.causes(workers=0, progress=False)
    assert [(it.name, it.files, it.valid) for it in common] == [(it.name, it.files, it.valid) for it in expected]
    assert (common.files, common.invalid, str(common)) == (expected.files, expected.invalid, str(expected))
    assert parts.summary(records, None, engine="native", lang="en")[1] is None
