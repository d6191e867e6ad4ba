"""Benchmark of generating a validated invoice from a draft, warm, step by step."""

import json

import pytest

import einvoice
from einvoice.draft import read
from einvoice.syntax.writer import write
from tests.helpers.paths import SAMPLES

SAMPLE = SAMPLES / "draft-full.json"


@pytest.fixture(scope="module", params=["typical", "1000 lines"])
def draft(request):
    """A draft as JSON: with nearly all fields, or with 1000 lines."""
    content = json.loads(SAMPLE.read_text("utf-8"))
    if request.param == "1000 lines":
        for sums in ("totals", "tax_currency"):
            del content[sums]
        first, second = content["lines"]
        content["lines"] = [*({**first, "line_id": f"{number}"} for number in range(999)), second]
    return json.dumps(content).encode()


def test_read_draft(benchmark, draft):
    assert benchmark(read, draft).lines


def test_draft_to_model(benchmark, draft):
    parsed = read(draft)
    assert benchmark(parsed.invoice).lines


def test_write_ubl(benchmark, draft):
    invoice = read(draft).invoice()
    assert benchmark(write, invoice, "Invoice").startswith(b"<?xml")


def test_generate_ubl(benchmark, draft):
    assert benchmark(einvoice.generate, draft, "UBL").is_valid


def test_generate_cii(benchmark, draft):
    assert benchmark(einvoice.generate, draft, "CII").is_valid
