"""XML schema validation (XSD 1.0, libxml2), in the worker process, with access to one folder only."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from lxml import etree

from einvoice.quotation import quote
from einvoice.reference.process import limits
from einvoice.reference.process.errors import ExecutionFailed
from einvoice.syntax.lexical import collapsed, wrong_binaries


def run(text: str, path: str, folder: str, edition: str) -> dict[str, Any]:
    """Validate the document against an XML schema and return the first violations as findings."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True)
    document = etree.fromstring(text.encode(), parser).getroottree()
    schema = _compiled(path, folder, edition)
    if schema.validate(document):
        return {"reports": [_binary(document, it) for it in islice(wrong_binaries(document), limits.PER_CODE)]}
    with collapsed(document):
        log: Any = [] if schema.validate(document) else schema.error_log
        return {"reports": [_report(error) for error in list(log)[: limits.PER_CODE]]}


def _binary(document: etree._ElementTree, element: etree._Element) -> dict[str, str]:
    text = "The value has characters that are not of base64."
    return {"code": "SCHEMAV_CVC_BINARY", "flag": "fatal", "location": document.getpath(element), "text": text}


def check(_text: str, path: str, folder: str) -> dict[str, Any]:
    """Compile a schema."""
    _compiled(path, folder, "")
    return {}


def _report(error: Any) -> dict[str, str]:
    return {
        "code": error.type_name,
        "flag": "fatal",
        "location": quote(error.path or "", limit=limits.TEXT),
        "text": quote(error.message or "", limit=limits.TEXT),
    }


@lru_cache(maxsize=16)
def _compiled(path: str, folder: str, _edition: str) -> etree.XMLSchema:
    # The schema of xmldsig has a DOCTYPE with internal entities; external ones are not loaded.
    parser = etree.XMLParser(no_network=True, load_dtd=False)
    parser.resolvers.add(_FolderResolver(Path(folder)))
    try:
        return etree.XMLSchema(etree.parse(path, parser))
    except (etree.XMLSyntaxError, etree.XMLSchemaParseError, OSError) as error:
        raise ExecutionFailed("artefact", str(error)) from None


class _FolderResolver(etree.Resolver):
    """Resolves files in one folder only."""

    def __init__(self, folder: Path) -> None:
        self._folder: Final = folder.resolve()

    def resolve(  # type: ignore[override]  # the stubs lack the context
        self, system_url: str, _public_id: str | None, context: Any
    ) -> Any:
        """Return the requested file; called by lxml."""
        parts = urlsplit(system_url)
        path = Path(unquote(parts.path)).resolve()
        if parts.scheme not in ("", "file") or not path.is_relative_to(self._folder):
            raise OSError(f"{system_url} is outside of the configuration.")
        return self.resolve_string(path.read_bytes(), context, base_url=system_url)
