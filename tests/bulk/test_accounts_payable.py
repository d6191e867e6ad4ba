"""The notebook for accounts payable answers its questions on many invoices, each in three lines."""

import json
import re
import sys
from decimal import Decimal
from itertools import pairwise

import pytest

import einvoice
from tests.helpers.paths import ROOT

CELLS = json.loads((ROOT / "notebooks/10-accounts-payable.ipynb").read_text(encoding="utf-8"))["cells"]
QUESTIONS = [
    "".join(cell["source"]) for before, cell in pairwise(CELLS) if re.match(r"## \d+\. ", "".join(before["source"]))
]


def test_each_answer_takes_at_most_three_lines():
    assert len(QUESTIONS) == 12
    assert all(len(it.splitlines()) <= 3 for it in QUESTIONS)


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Return the folder with 2,000 invoices, and the variables after all cells."""
    pytest.importorskip("pandas")
    folder = tmp_path_factory.mktemp("inbox")
    names = {"folder": folder}
    sys.path.insert(0, str(ROOT / "notebooks"))
    try:
        from payables import write_invoices

        write_invoices(folder, 2000)
        with einvoice.options(lang="en"):
            names["einvoice"] = einvoice
            exec("invoices = einvoice.read_many(folder, progress=False)", names)
            exec("files, lines, vat = (invoices.to_frame(it) for it in ('files', 'lines', 'vat'))", names)
            for source in QUESTIONS:
                exec(source, names)
    finally:
        sys.path.remove(str(ROOT / "notebooks"))
    return folder, names


@pytest.mark.slow
def test_tables_have_what_single_reads_have(answers):
    folder, names = answers
    paths = sorted(folder.rglob("*.xml"))
    assert len(paths) == len(names["files"]) == 2050
    read = [einvoice.read(path) for path in paths[::20]]
    tables = {which: names[which].groupby("file") for which in ("lines", "vat")}
    for path, invoice in zip(paths[::20], read, strict=True):
        name = path.relative_to(folder).as_posix()
        sign = -1 if invoice.root == "CreditNote" or invoice.type_code.text == "381" else 1
        lines, vat = (tables[which].get_group(name) for which in ("lines", "vat"))
        assert list(lines.net) == [line.net_amount.number for line in invoice.lines]
        assert lines.signed_net.sum() == sign * invoice.totals.line_net.number
        assert vat.signed_tax.sum() == sign * invoice.vat_total.number


@pytest.mark.slow
def test_answers_are_those_of_the_generator(answers):
    _, names = answers
    assert names["twice"].group.nunique() == 50
    assert (names["twice"].groupby("group").sha256.nunique() == 1).all()
    accounts = names["invoices"].duplicates("iban")
    assert set(accounts.seller) == {"Reinigung Sauber KG"}
    assert [int(it) for it in accounts.date.dt.month] == [1, 7]
    assert set(names["reverse"].seller) == {"Hochbau Weber AG"}
    assert set(names["paper"].price) == {Decimal("4.2"), Decimal("4.452")}
    assert set(names["files"][names["is_open"]].seller) <= {"Papierlager Nord GmbH", "Energie Elbtal eG"}
    assert names["is_open"].any()
    copies = int((names["twice"].groupby("group").cumcount() > 0).sum())
    assert names["without"].file.count() >= 2000 // 5 - copies
