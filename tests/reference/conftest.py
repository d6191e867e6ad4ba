"""Fixtures with a temporary folder of configurations."""

import pytest

from einvoice.reference import add, validate
from einvoice.syntax import xml
from einvoice.syntax.detect import identify


@pytest.fixture(autouse=True)
def rules_folder(tmp_path, monkeypatch):
    folder = tmp_path / "rules"
    monkeypatch.setenv("EINVOICE_RULES_DIR", str(folder))
    return folder


@pytest.fixture
def file(tmp_path):
    """Writes a bundle file and returns its path."""

    def write(content, name="test.zip"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


@pytest.fixture
def add_bundle(file):
    """Adds a configuration or a stylesheet."""

    def add_bundle(content, name="test.zip", **options):
        return add(file(content, name), **options)

    return add_bundle


@pytest.fixture
def invoice(sample):
    return sample("ubl-invoice.xml").read_bytes()


@pytest.fixture
def validate_reference():
    """Runs the reference engine on a document."""
    return lambda data: validate(data, identify(xml.parse(data)))
