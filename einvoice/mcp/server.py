"""The tools of the server. Their docstrings are what an assistant reads."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from einvoice.conversion import convert
from einvoice.draft import draft_schema
from einvoice.draft.draft import Format
from einvoice.errors import EinvoiceError, MissingDependency
from einvoice.generation import generate
from einvoice.localization import is_available, languages
from einvoice.mcp.files import Folders, Refused
from einvoice.result import ValidationResult
from einvoice.result.catalog import catalog
from einvoice.validation import read, validate

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

MAX_CHARACTERS: Final = 50_000
"""Length of a document in an answer; a longer one is written to a file."""
_DECLARATION: Final = r"^\s*<\?xml[^>]*\?>"
_MAX_FINDINGS: Final = 50
_MAX_CAUSES: Final = 10
_INSTRUCTIONS: Final = """\
Validates, explains, converts and generates European e-invoices (EN 16931, XRechnung, Factur-X / ZUGFeRD, Peppol). \
Give a file below the folders of the server as `path`, or the XML itself as `content`. The verdicts are those of the \
official rules. Texts are in the language `lang`."""


def server(folders: Sequence[Path], lang: str) -> MCPServer:
    """Return the server, to be run.

    Args:
        folders: the folders whose files it may read, and in which it may write new ones.
        lang: default language of the texts.

    Raises:
        MissingDependency: the package `mcp` is not installed.
        OSError: a folder does not exist.
    """
    try:
        from mcp.server.mcpserver import MCPServer
    except ImportError as error:
        raise MissingDependency("mcp", extra="mcp") from error
    made = MCPServer("einvoice", instructions=_INSTRUCTIONS)
    tools = Tools(Folders(folders), lang)
    for tool in (tools.validate, tools.causes, tools.explain, tools.read, tools.convert, tools.generate, tools.schema):
        made.tool()(_told(tool))
    return made


def _told(tool: Callable[..., Any]) -> Callable[..., Any]:
    """Return a tool whose errors are told to the assistant in one sentence."""
    from mcp.server.mcpserver.exceptions import ToolError

    @functools.wraps(tool)
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return tool(*arguments, **named)
        except (EinvoiceError, ValueError, LookupError, OSError) as error:
            raise ToolError(str(error)) from error

    return call


class Tools:
    """The tools.

    Args:
        folders: the files that they may use.
        lang: default language of the texts.
    """

    def __init__(self, folders: Folders, lang: str) -> None:
        self._folders, self._lang = folders, lang

    def validate(self, path: str = "", content: str = "", lang: str = "") -> dict[str, Any]:
        """Validate an invoice (UBL, CII, hybrid PDF): the verdict, and each finding with code, place, text and fix."""
        result = self._validated(path, content, lang)
        return {
            "is_valid": result.is_valid,
            "summary": str(result).splitlines()[0],
            "findings": _shown(result, result.lang),
            "further_findings": max(len(result.findings) - _MAX_FINDINGS, 0),
            "layers": [{"name": it.name, "version": it.version, "executed": it.executed} for it in result.stack.layers],
        }

    def causes(self, path: str = "", content: str = "", lang: str = "") -> list[dict[str, Any]]:
        """Find the causes of the findings of an invoice: what is probably wrong, and the changes that would mend it."""
        result = self._validated(path, content, lang)
        return [it.to_dict() for it in result.causes()[:_MAX_CAUSES]]

    def explain(self, code: str, lang: str = "") -> dict[str, Any]:
        """Explain the code of a rule, such as BR-CO-10: what it demands, why, and how to correct an invoice."""
        language = self._language(lang)
        entry = catalog()[code]
        return {
            "code": entry.code,
            "severity": entry.severity,
            "title": entry.title(language),
            "explanation": entry.explanation(language),
            "fix": entry.fix(language),
            "business_terms": list(entry.terms),
            "source": entry.source,
            "examples": list(entry.examples_in(language)),
        }

    def read(self, path: str = "", content: str = "", lang: str = "") -> dict[str, Any]:
        """Read an invoice as data: its business terms (BT, BG) by name, without validating it."""
        plain = read(self._source(path, content), lang=self._language(lang)).to_dict()
        if len(json.dumps(plain, ensure_ascii=False, default=str)) > MAX_CHARACTERS:
            raise Refused("The invoice is too long to be shown; validate it, or ask for it with a program.")
        return plain

    def convert(
        self,
        to: Literal["UBL", "CII"],
        path: str = "",
        content: str = "",
        output: str = "",
        specification: str = "",
        lang: str = "",
    ) -> dict[str, Any]:
        """Convert an invoice to the syntax UBL or CII; `output` is a new file, else the XML is in the answer.

        The answer says whether it was valid before and after, and each business term that was changed or lost.
        """
        done = convert(self._source(path, content), to, specification=specification or None, lang=self._language(lang))
        return {**done.to_dict(), **self._document(done.xml, output)}

    def generate(
        self,
        draft: dict[str, Any],
        format: Format | None = None,
        output: str = "",
        lang: str = "",
    ) -> dict[str, Any]:
        """Generate an invoice from a draft (see the tool `schema`): UBL, CII, or the hybrid PDF ZUGFERD in `output`."""
        language = self._language(lang)
        made = generate(draft, format, lang=language)
        answer = {"is_valid": made.is_valid, "findings": _shown(made.validation, language)}
        if made.pdf is None:
            return {**answer, **self._document(made.data, output)}
        if not output:
            raise Refused("A PDF needs a file: give `output`.")
        return {**answer, **self._written(made.data, output)}

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of drafts, from which `generate` makes invoices."""
        return dict(draft_schema())

    def _validated(self, path: str, content: str, lang: str) -> ValidationResult:
        return validate(self._source(path, content), lang=self._language(lang))

    def _source(self, path: str, content: str) -> Path | bytes:
        if bool(path) is bool(content):
            raise Refused("Give either `path` or `content`.")
        # The content is text already, whatever encoding it declares.
        return self._folders.existing(path) if path else re.sub(_DECLARATION, "", content, count=1).encode()

    def _language(self, lang: str) -> str:
        if lang and not is_available(lang):
            raise Refused(f"The language must be one of {', '.join(languages())}.")
        return lang or self._lang

    def _document(self, xml: bytes, output: str) -> dict[str, str]:
        if output:
            return self._written(xml, output)
        text = xml.decode()
        if len(text) > MAX_CHARACTERS:
            raise Refused(f"The document has {len(text)} characters: give a file as `output`.")
        return {"xml": text}

    def _written(self, content: bytes, output: str) -> dict[str, str]:
        target = self._folders.new(output)
        target.write_bytes(content)
        return {"output": str(target)}


def _shown(result: ValidationResult, lang: str) -> list[dict[str, Any]]:
    return [it.to_dict(lang) for it in result.findings[:_MAX_FINDINGS]]
