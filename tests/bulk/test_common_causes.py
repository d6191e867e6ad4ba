"""Causes over many files: grouped by their change, with the number of invoices that it mends."""

import re
from concurrent.futures import ThreadPoolExecutor
from copy import copy

import pytest

import einvoice
from einvoice.bulk.cause_record import restored
from einvoice.bulk.execution import causes as execution
from einvoice.editing.edits import apply
from einvoice.result import ValidationResult
from tests.helpers.corpora import CII, UBL, numbered

LOWER = (b">EUR</cbc:DocumentCurrencyCode>", b">eur</cbc:DocumentCurrencyCode>")
TOTAL = (b">415.33<", b">41.33<")


def invoice(number, *edits):
    data = numbered(number)
    for old, new in edits:
        assert old in data
        data = data.replace(old, new)
    return data


def without_reference(number):
    return re.sub(rb" *<cbc:BuyerReference>.*\n", b"", numbered(number))


def files():
    """Two valid invoices, five with a wrong currency, three with a wrong total, four without a buyer reference."""
    made = {f"valid/{number}.xml": numbered(number) for number in range(2)}
    made |= {f"currency/{number}.xml": invoice(10 + number, LOWER) for number in range(4)}
    made |= {f"total/{number}.xml": invoice(20 + number, (TOTAL[0], b">%d.33<" % number)) for number in range(2)}
    made |= {f"reference/{number}.xml": without_reference(30 + number) for number in range(4)}
    made |= {"both/1.xml": invoice(40, LOWER, TOTAL), "cut.xml": UBL[:500]}
    return made


@pytest.fixture(scope="module")
def results():
    return einvoice.validate_many(files(), workers=0, progress=False, lang="en")


@pytest.fixture(scope="module")
def causes(results):
    return results.causes(progress=False)


def test_causes_are_grouped_by_their_change(causes):
    figures = {it.name: (len(it.files), it.explains_errors, it.valid) for it in causes}
    assert figures == {"set BT-5": (5, 4, 4), "BR-DE-15": (4, 4, 0), "set BT-112": (3, 2, 2)}
    assert [it.name for it in causes] == ["set BT-5", "BR-DE-15", "set BT-112"]
    assert (causes.files, causes.invalid, causes.solvable) == (11, 11, 11)
    assert causes["set BT-5"].files == (*(f"currency/{number}.xml" for number in range(4)), "both/1.xml")
    assert causes["set BT-112"].terms == ("BT-112",)
    assert set(causes["set BT-112"].codes) == {"BR-CO-15", "BR-CO-16"}
    assert "set BT-5" not in [it.name for it in causes[1:]]
    with pytest.raises(KeyError):
        causes["set BT-1"]


def test_a_value_is_named_only_if_all_invoices_have_it(causes):
    assert causes["set BT-5"].text() == "Change invoice currency code (BT-5) from “eur” to “EUR”"
    assert causes["set BT-112"].text() == "Set invoice total amount with VAT (BT-112) to “415.33”"
    assert causes["BR-DE-15"].text("en").startswith("Does not follow from the invoice: ")


def test_one_cause_in_both_syntaxes_without_values_that_differ():
    """The sum of the invoices is different, so that the new total is, too."""
    wrong = CII.replace(b"GrandTotalAmount>297.50<", b"GrandTotalAmount>41.33<")
    assert wrong != CII
    made = {"ubl.xml": invoice(1, TOTAL), "cii.xml": wrong}
    (cause,) = einvoice.validate_many(made, workers=0, progress=False).causes(progress=False)
    assert (cause.name, cause.files) == ("set BT-112", ("ubl.xml", "cii.xml"))
    assert cause.text("en") == "Correct invoice total amount with VAT (BT-112)"
    assert cause.text("de") == "Rechnungsbetrag mit Umsatzsteuer (BT-112) berichtigen"


@pytest.mark.parametrize(
    ("old", "new"), [LOWER, TOTAL, (b">400.00</cbc:PayableAmount>", b">500.00</cbc:PayableAmount>")]
)
def test_a_question_about_one_file_is_one_about_many(old, new):
    wrong = invoice(1, (old, new))
    (cause,) = einvoice.validate(wrong).causes()
    (common,) = einvoice.validate_many({"a.xml": wrong}, workers=0, progress=False).causes(progress=False)
    assert len(common.alternatives) == 1
    assert common.is_question == cause.is_question == (new not in (LOWER[1], TOTAL[1]))


def test_records_of_earlier_versions_know_only_questions_between_changes():
    edit = ["set", "BT-5", "DocumentCurrencyCode", "eur", "EUR"]
    stored = [["one", [[edit]], ["A"], 1, 1, True, True], ["two", [[edit], [edit]], ["A"], 1, 1, True, True]]
    assert [it.is_question for it in restored({"causes": stored}).causes] == [False, True]


def test_the_proof_is_a_validation(results, causes):
    """What counts as valid is valid with the change, made here independently of the grouping."""
    for cause in causes:
        mended = 0
        for name in cause.files:
            found = [it for it in results.result(name).causes() if set(it.terms) & set(cause.terms) and it.changes]
            if not found:
                continue
            (change,) = found[0].changes
            if change.prior:  # not with this change alone
                continue
            mended += einvoice.validate(apply(results.result(name).document.data, change.edits)).is_valid
        assert mended == cause.valid


def test_table(causes):
    frame = causes.to_frame()
    assert frame.columns.tolist() == [
        "cause", "change", "terms", "codes", "is_question", "invoices", "findings", "explains_errors", "valid",
        "example",
    ]  # fmt: skip
    assert frame.set_index("cause")["valid"].to_dict() == {"set BT-5": 4, "BR-DE-15": 0, "set BT-112": 2}
    assert frame["example"].tolist()[0] == "currency/0.xml"
    assert str(frame["invoices"].dtype) == "Int64"
    empty = einvoice.validate_many({"a.xml": UBL}, workers=0, progress=False).causes(progress=False)
    assert empty.to_frame().columns.tolist() == frame.columns.tolist()
    assert len(empty) == 0


@pytest.mark.parametrize("lang", ["de", "en", "fr"])
def test_text_and_html(causes, lang):
    causes = copy(causes)
    causes.lang = lang
    text, page = str(causes), causes._repr_html_()
    for cause in causes:
        assert cause.text(lang) in text
        assert cause.text(lang).replace("'", "&#x27;") in page
    assert re.search(r"^ *5 +\d+ +4  ", text, re.MULTILINE)
    assert re.search(r"^ *4 +4 +–  ", text, re.MULTILINE)


def test_values_are_escaped():
    wrong = UBL.replace(b">415.33<", b">&lt;script&gt;<")
    page = einvoice.validate_many({"a.xml": wrong}, workers=0, progress=False).causes(progress=False)._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_limit_takes_some_of_each_kind(results):
    causes = results.causes(progress=False, limit=3)
    assert (causes.files, causes.invalid) == (3, 11)
    assert {it.name for it in causes} == {"set BT-5", "BR-DE-15", "set BT-112"}
    assert "Causes in 3 of the 11" in str(causes)


def test_a_sample_has_each_kind_once_and_the_rest_in_proportion():
    kinds = {"A": 60, "B": 30, "C": 1}
    records = [
        {"file": f"{kind}{number}", "verdict": "invalid", "findings": [{"code": kind}]}
        for kind, count in kinds.items()
        for number in range(count)
    ]
    chosen = execution.sample([*records, {"file": "valid", "verdict": "valid"}], 31)
    assert {kind: sum(name[0] == kind for name in chosen) for kind in kinds} == {"A": 20, "B": 10, "C": 1}
    assert {name[0] for name in chosen[:3]} == set(kinds)
    assert len(execution.sample(records, None)) == 91


def test_time_limit(results):
    assert results.causes(progress=False, seconds=0).files == 0


@pytest.mark.parametrize(
    ("count", "sentence"),
    [
        (1, "In one invoice, the search ended at a limit; other changes may resolve further findings there."),
        (3, "In 3 invoices, the search ended at a limit; other changes may resolve further findings there."),
    ],
)
def test_number_of_searches_that_ended_at_a_limit(results, monkeypatch, count, sentence):
    limits = iter([0] * count)
    search = ValidationResult.causes
    monkeypatch.setattr(ValidationResult, "causes", lambda self: search(self, seconds=next(limits, None)))
    found = results.causes(progress=False)
    assert (found.incomplete, found[:1].incomplete) == (count, count)
    assert sentence in str(found)
    assert sentence in found._repr_html_()


def test_complete_searches_are_not_mentioned(causes):
    assert causes.incomplete == 0
    assert "limit" not in str(causes)


def test_threads_find_the_same(results, causes):
    with ThreadPoolExecutor(2) as executor:
        assert results.causes(executor=executor, progress=False).to_frame().equals(causes.to_frame())


@pytest.mark.slow
def test_processes_find_the_same(results, causes):
    assert results.causes(workers=2, progress=False).to_frame().equals(causes.to_frame())


def test_stored_results_need_their_files(results, tmp_path):
    path = tmp_path / "results.jsonl"
    results.save(path)
    with pytest.raises(LookupError, match="files="):
        einvoice.ResultSet.load(path).causes(progress=False)
    assert len(einvoice.ResultSet.load(path, files=files(), lang="en").causes(progress=False)) == 3


def test_changed_files_are_left_out(results, tmp_path):
    path = tmp_path / "results.jsonl"
    results.save(path)
    changed = files() | {"currency/0.xml": numbered(1)}
    causes = einvoice.ResultSet.load(path, files=changed).causes(progress=False)
    assert (causes.files, len(causes["set BT-5"].files)) == (10, 4)


def test_interrupt_returns_what_was_examined(results, monkeypatch):
    original, calls = execution.causes_row, []

    def interrupted(item, options):
        calls.append(item.name)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(item, options)

    monkeypatch.setattr(execution, "causes_row", interrupted)
    assert results.causes(workers=0, progress=False).files == 2


@pytest.mark.parametrize(
    ("files", "lines"),
    [
        ({"a.xml": invoice(1, TOTAL)},
         ["Causes in the one invoice that is not valid.", "The causes below explain all of its errors."]),
        ({f"{number}.xml": invoice(number, TOTAL) for number in range(2)},
         ["Causes in all 2 invoices that are not valid.",
          "The first explains all errors of 2 of the 2 invoices examined."]),
    ],
)  # fmt: skip
def test_number_of_invoices_and_causes_in_words(files, lines):
    causes = einvoice.validate_many(files, workers=0, progress=False, lang="en").causes(progress=False)
    assert str(causes).splitlines()[:2] == lines
