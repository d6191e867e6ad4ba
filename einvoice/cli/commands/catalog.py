"""`einvoice catalog`: export the error catalog."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from einvoice.cli.common import add_lang, add_rules, use_utf8_stdout
from einvoice.result import Language

if TYPE_CHECKING:
    from einvoice.result.catalog import Catalog

WRITE_ERROR = 2


def _json(catalog: Catalog, lang: Language) -> str:
    import json

    return json.dumps(catalog.to_dict(lang), ensure_ascii=False, indent=2) + "\n"


FORMATS: Final[Mapping[str, Callable[[Catalog, Language], str]]] = {
    "json": _json,
    "markdown": lambda catalog, lang: catalog.to_markdown(lang),
    "html": lambda catalog, lang: catalog.to_html(lang),
}


def add_to(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "catalog", help="export the error catalog", description="Export all codes with their texts, as UTF-8."
    )
    add_lang(parser)
    add_rules(parser)
    parser.add_argument("--format", choices=FORMATS, default="json", help="output format (default: json)")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="output file (default: standard output)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the catalog and return the exit status."""
    from einvoice.result.catalog import catalog

    content = FORMATS[options.format](catalog(rules=options.rules), options.lang)
    if options.output is None:
        use_utf8_stdout()
        sys.stdout.write(content)
        return 0
    try:
        options.output.write_bytes(content.encode())
    except OSError as error:
        print(f"{options.output}: {error.strerror}", file=sys.stderr)
        return WRITE_ERROR
    return 0
