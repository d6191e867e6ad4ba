"""`einvoice rules add|list|remove`: the official artefacts that may judge beside our own rules."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from einvoice.cli.common import add_lang

if TYPE_CHECKING:
    from einvoice.reference import Configuration

IMPOSSIBLE: Final = 2
_LABELS: Final = {
    "de": {
        "added": "{name} ist hinzugefügt: {title}",
        "removed": "{name} ist entfernt.",
        "engine": "XSLT-Prozessor: {saxon}",
        "no_engine": "fehlt (pip install 'einvoice-toolkit[reference]')",
        "configuration": "Konfiguration",
        "schematron": "einzelnes Stylesheet",
        "bundled": "mitgeliefert",
        "since": "seit {day}",
    },
    "en": {
        "added": "{name} is added: {title}",
        "removed": "{name} is removed.",
        "engine": "XSLT processor: {saxon}",
        "no_engine": "missing (pip install 'einvoice-toolkit[reference]')",
        "configuration": "configuration",
        "schematron": "single stylesheet",
        "bundled": "bundled",
        "since": "since {day}",
    },
}


def add_to(work: Any) -> None:
    """Declare the commands."""
    told = argparse.ArgumentParser(add_help=False)
    add_lang(told)
    add = work.add_parser("add", parents=[told], help="let official artefacts judge beside our own rules")
    add.add_argument(
        "file", type=Path, metavar="FILE", help="KoSIT's validator configuration (ZIP), or a compiled Schematron (XSLT)"
    )
    add.add_argument("--name", help="to list and remove it by (default: the file's name)")
    add.add_argument("--match", metavar="XPATH", help="the invoices that a single stylesheet is for")
    add.add_argument("--replace", action="store_true", help="in place of what is there under this name")
    add.set_defaults(run=run_add)
    listed = work.add_parser("list", parents=[told], help="tell which official artefacts there are")
    listed.set_defaults(run=run_list)
    remove = work.add_parser("remove", parents=[told], help="remove what was added")
    remove.add_argument("name", metavar="NAME", help="as `list` tells it")
    remove.set_defaults(run=run_remove)


def run_add(options: argparse.Namespace) -> int:
    """Add a configuration and print what it is; return the exit status."""
    from einvoice.reference import BundleRejected, add

    labels = _LABELS[options.lang]
    try:
        added = add(options.file, name=options.name, match=options.match, replace=options.replace)
    except BundleRejected as error:
        print(error.message(options.lang), file=sys.stderr)
        return IMPOSSIBLE
    print(labels["added"].format(name=added.name, title=added.title))
    _print_scenarios(added)
    return 0


def run_list(options: argparse.Namespace) -> int:
    """Print what there is; return the exit status."""
    from einvoice.reference import engines

    labels = _LABELS[options.lang]
    there = engines()
    print(labels["engine"].format(saxon=f"saxonche {there.saxon}" if there.saxon else labels["no_engine"]))
    for it in there.configurations:
        since = [labels["since"].format(day=it.added[:10])] if it.added else []
        digest = [f"SHA-256 {it.sha256}"] if it.sha256 else []
        print()
        print(f"{it.name}  {it.title}")
        print(f"  {', '.join([labels[it.kind], *since, *digest])}")
        _print_scenarios(it)
    return 0


def run_remove(options: argparse.Namespace) -> int:
    """Remove a configuration; return the exit status."""
    from einvoice.reference import BundleRejected, remove

    try:
        remove(options.name)
    except BundleRejected as error:
        print(error.message(options.lang), file=sys.stderr)
        return IMPOSSIBLE
    print(_LABELS[options.lang]["removed"].format(name=options.name))
    return 0


def _print_scenarios(configuration: Configuration) -> None:
    for scenario in configuration.scenarios:
        artefacts = (" ".join(filter(None, (it.title, it.version))) for it in scenario.resources)
        print(f"  {scenario.name}: {', '.join(artefacts)}")
