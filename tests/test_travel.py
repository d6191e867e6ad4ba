"""Results, invoices and errors go to other processes and come back the same."""

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

import einvoice
from einvoice import errors
from einvoice.syntax.schema import SchemaFilesError

SAMPLES = Path(__file__).parent / "samples"
UBL = (SAMPLES / "ubl-invoice.xml").read_bytes()
CREDIT = (SAMPLES / "ubl-credit-note.xml").read_bytes()
CII = (SAMPLES / "cii-invoice.xml").read_bytes()
DOCUMENTS = {
    "ubl": UBL,
    "credit note": CREDIT,
    "cii": CII,
    "wrong sum in ubl": UBL.replace(b'"EUR">99.00', b'"EUR">98.99'),
    "wrong sum in cii": CII.replace(b"<ram:LineTotalAmount>", b"<ram:LineTotalAmount>1", 1),
    "broken schema, unknown element": UBL.replace(b"2026-05-04", b"2026-05-32").replace(
        b"<cbc:Note>", b"<x/><cbc:Note>"
    ),
    "nothing declared": UBL.replace(b"<cbc:CustomizationID>", b"<cbc:CustomizationID> <!--").replace(
        b"</cbc:CustomizationID>", b"--></cbc:CustomizationID>"
    ),
}


def by_pickle(thing):
    return pickle.loads(pickle.dumps(thing))


@pytest.fixture(params=list(DOCUMENTS))
def result(request):
    return einvoice.validate(DOCUMENTS[request.param], lang="en")


@pytest.mark.parametrize("travel", [by_pickle, copy.deepcopy, copy.copy])
def test_a_result_says_the_same_after_its_travel(result, travel):
    again = travel(result)
    assert again.to_dict() == result.to_dict()
    assert again.to_dict("de") == result.to_dict("de")
    assert str(again) == str(result)
    assert again.findings == result.findings
    assert [finding.column for finding in again.findings] == [finding.column for finding in result.findings]


@pytest.mark.parametrize("travel", [by_pickle, copy.deepcopy, copy.copy])
def test_the_invoice_of_a_result_is_read_again_where_it_is_asked_for(result, travel):
    again = travel(result).invoice
    assert again == result.invoice
    assert [group.line for group in again.walk()] == [group.line for group in result.invoice.walk()]
    assert again.number.xpath == result.invoice.number.xpath != ""


def test_a_result_travels_twice(result):
    assert by_pickle(by_pickle(result)).to_dict() == result.to_dict()


def test_a_result_without_findings_is_little_more_than_its_document():
    assert len(pickle.dumps(einvoice.validate(UBL))) < len(UBL) + 4000


def test_another_process_may_judge():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        far = pool.submit(einvoice.validate, DOCUMENTS["wrong sum in ubl"]).result()
    near = einvoice.validate(DOCUMENTS["wrong sum in ubl"])
    assert far.findings == near.findings
    assert far.invoice == near.invoice


@pytest.mark.parametrize("data", [UBL, CREDIT, CII], ids=["ubl", "credit note", "cii"])
@pytest.mark.parametrize("travel", [by_pickle, copy.deepcopy])
def test_an_invoice_alone_leaves_its_document_behind(data, travel):
    invoice = einvoice.read(data)
    again = travel(invoice)
    assert again == invoice
    assert (again.syntax, again.root) == (invoice.syntax, invoice.root)
    assert again.number.line is again.seller.line is None
    assert einvoice.write(again, invoice.root) == einvoice.write(invoice, invoice.root)
    assert invoice.number.line == invoice.number.node.sourceline


def test_a_shallow_copy_of_a_value_still_has_its_place():
    number = einvoice.read(UBL).number
    assert copy.copy(number) == number
    assert copy.copy(number).xpath == number.xpath == "/ubl:Invoice/cbc:ID"


@pytest.mark.parametrize(
    "data", [b"", b"%PDF-1.7", b"<a><b></a>", b"<a>&x;</a>", b"{}", b"<Order/>", UBL[:-40], b"<!DOCTYPE a><a/>"]
)
def test_an_error_says_the_same_after_its_travel(data):
    with pytest.raises(errors.UnreadableDocument) as raised:
        einvoice.validate(data)
    again = by_pickle(raised.value)
    assert type(again) is type(raised.value)
    assert (str(again), again.values, again.line, again.column) == (
        str(raised.value),
        raised.value.values,
        raised.value.line,
        raised.value.column,
    )


def test_an_error_brings_its_result_along():
    with pytest.raises(einvoice.FindingsError) as raised:
        einvoice.validate(DOCUMENTS["wrong sum in cii"]).raise_for_findings()
    again = by_pickle(raised.value)
    assert str(again) == str(raised.value)
    assert again.result.to_dict() == raised.value.result.to_dict()


def test_damaged_schema_files_can_be_told_from_afar():
    assert str(by_pickle(SchemaFilesError("a file is missing"))) == str(SchemaFilesError("a file is missing"))
