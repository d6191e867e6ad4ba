"""Results, invoices and errors survive pickling and copying."""

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

import einvoice
from einvoice import errors
from einvoice.syntax.schema import SchemaFilesError
from tests.helpers.paths import SAMPLES

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


def pickled(value):
    return pickle.loads(pickle.dumps(value))


@pytest.fixture(params=list(DOCUMENTS))
def result(request):
    return einvoice.validate(DOCUMENTS[request.param], lang="en")


@pytest.mark.parametrize("clone", [pickled, copy.deepcopy, copy.copy])
def test_copied_result_is_equal(result, clone):
    copied = clone(result)
    assert copied.to_dict() == result.to_dict()
    assert copied.to_dict("de") == result.to_dict("de")
    assert str(copied) == str(result)
    assert copied.findings == result.findings
    assert [finding.column for finding in copied.findings] == [finding.column for finding in result.findings]


@pytest.mark.parametrize("clone", [pickled, copy.deepcopy, copy.copy])
def test_copied_result_parses_the_invoice_on_access(result, clone):
    copied = clone(result).invoice
    assert copied == result.invoice
    assert [group.line for group in copied.walk()] == [group.line for group in result.invoice.walk()]
    assert copied.number.xpath == result.invoice.number.xpath != ""


def test_result_survives_repeated_pickling(result):
    assert pickled(pickled(result)).to_dict() == result.to_dict()


def test_pickled_valid_result_has_little_overhead():
    assert len(pickle.dumps(einvoice.validate(UBL))) < len(UBL) + 4000


def test_result_from_another_process_is_equal():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        remote = pool.submit(einvoice.validate, DOCUMENTS["wrong sum in ubl"]).result()
    local = einvoice.validate(DOCUMENTS["wrong sum in ubl"])
    assert remote.findings == local.findings
    assert remote.invoice == local.invoice


@pytest.mark.parametrize("data", [UBL, CREDIT, CII], ids=["ubl", "credit note", "cii"])
@pytest.mark.parametrize("clone", [pickled, copy.deepcopy])
def test_copied_invoice_has_no_source_document(data, clone):
    invoice = einvoice.read(data)
    copied = clone(invoice)
    assert copied == invoice
    assert (copied.syntax, copied.root) == (invoice.syntax, invoice.root)
    assert copied.number.line is copied.seller.line is None
    assert einvoice.write(copied, invoice.root) == einvoice.write(invoice, invoice.root)
    assert invoice.number.line == invoice.number.node.sourceline


def test_shallow_copy_of_a_value_keeps_its_location():
    number = einvoice.read(UBL).number
    assert copy.copy(number) == number
    assert copy.copy(number).xpath == number.xpath == "/ubl:Invoice/cbc:ID"


@pytest.mark.parametrize(
    "data", [b"", b"%PDF-1.7", b"<a><b></a>", b"<a>&x;</a>", b"{}", b"<Order/>", UBL[:-40], b"<!DOCTYPE a><a/>"]
)
def test_pickled_error_is_equal(data):
    with pytest.raises(errors.UnreadableDocument) as raised:
        einvoice.validate(data)
    copied = pickled(raised.value)
    assert type(copied) is type(raised.value)
    assert (str(copied), copied.values, copied.line, copied.column) == (
        str(raised.value),
        raised.value.values,
        raised.value.line,
        raised.value.column,
    )


def test_pickled_findings_error_keeps_its_result():
    with pytest.raises(einvoice.FindingsError) as raised:
        einvoice.validate(DOCUMENTS["wrong sum in cii"]).raise_for_findings()
    copied = pickled(raised.value)
    assert str(copied) == str(raised.value)
    assert copied.result.to_dict() == raised.value.result.to_dict()


def test_schema_files_error_survives_pickling():
    assert str(pickled(SchemaFilesError("a file is missing"))) == str(SchemaFilesError("a file is missing"))
