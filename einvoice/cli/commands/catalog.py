"""`einvoice catalog`: every code with its texts, for programs and for readers."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from einvoice.cli.common import add_lang, print_for_programs
from einvoice.result import Language

if TYPE_CHECKING:
    from einvoice.result.catalog import Catalog

NOT_WRITTEN = 2


def _json(catalog: Catalog, lang: Language) -> str:
    import json

    return json.dumps(catalog.to_dict(lang), ensure_ascii=False, indent=2) + "\n"


FORMATS: Final[Mapping[str, Callable[[Catalog, Language], str]]] = {
    "json": _json,
    "markdown": lambda catalog, lang: catalog.to_markdown(lang),
    "html": lambda catalog, lang: catalog.to_html(lang),
}


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "catalog", help="write down every code", description="Write down every code with its texts, as UTF-8."
    )
    add_lang(parser)
    parser.add_argument("--format", choices=FORMATS, default="json", help="how it is written (default: json)")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="where to (default: standard output)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the catalog, return the exit status."""
    from einvoice.result.catalog import catalog

    content = FORMATS[options.format](catalog(), options.lang)
    if options.output is None:
        print_for_programs()
        sys.stdout.write(content)
        return 0
    try:
        options.output.write_bytes(content.encode())
    except OSError as error:
        print(f"{options.output}: {error.strerror}", file=sys.stderr)
        return NOT_WRITTEN
    return 0
