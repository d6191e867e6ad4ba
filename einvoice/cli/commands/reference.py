"""`einvoice rules add|list|remove`: manage official Schematron for validation with `--engine`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from einvoice.cli.common import add_lang
from einvoice.localization import Messages

if TYPE_CHECKING:
    from einvoice.reference import Configuration

FAILED: Final = 2
_LABELS: Final = Messages("einvoice.cli", "reference")


def add_to(work: Any) -> None:
    """Add the commands."""
    common = argparse.ArgumentParser(add_help=False)
    add_lang(common)
    add = work.add_parser("add", parents=[common], help="add official Schematron to validate with")
    add.add_argument(
        "file", type=Path, metavar="FILE", help="KoSIT's validator configuration (ZIP), or a compiled Schematron (XSLT)"
    )
    add.add_argument("--name", help="name for `list` and `remove` (default: the filename)")
    add.add_argument("--match", metavar="XPATH", help="XPath of the invoices that a single stylesheet applies to")
    add.add_argument("--replace", action="store_true", help="replace an existing configuration of this name")
    add.set_defaults(run=run_add)
    listed = work.add_parser("list", parents=[common], help="list official Schematron")
    listed.set_defaults(run=run_list)
    remove = work.add_parser("remove", parents=[common], help="remove added Schematron")
    remove.add_argument("name", metavar="NAME", help="name shown by `list`")
    remove.set_defaults(run=run_remove)


def run_add(options: argparse.Namespace) -> int:
    """Add a configuration, print it, and return the exit status."""
    from einvoice.reference import BundleRejected, add

    labels = _LABELS[options.lang]
    try:
        added = add(options.file, name=options.name, match=options.match, replace=options.replace)
    except BundleRejected as error:
        print(error.message(options.lang), file=sys.stderr)
        return FAILED
    print(labels["added"].format(name=added.name, title=added.title))
    _print_scenarios(added)
    return 0


def run_list(options: argparse.Namespace) -> int:
    """Print all configurations and return the exit status."""
    from einvoice.reference import engines

    labels = _LABELS[options.lang]
    available = engines()
    print(labels["engine"].format(saxon=f"saxonche {available.saxon}" if available.saxon else labels["no_engine"]))
    for it in available.configurations:
        since = [labels["since"].format(day=it.added[:10])] if it.added else []
        digest = [f"SHA-256 {it.sha256}"] if it.sha256 else []
        print()
        print(f"{it.name}  {it.title}")
        print(f"  {', '.join([labels[it.kind], *since, *digest])}")
        _print_scenarios(it)
    return 0


def run_remove(options: argparse.Namespace) -> int:
    """Remove a configuration and return the exit status."""
    from einvoice.reference import BundleRejected, remove

    try:
        remove(options.name)
    except BundleRejected as error:
        print(error.message(options.lang), file=sys.stderr)
        return FAILED
    print(_LABELS[options.lang]["removed"].format(name=options.name))
    return 0


def _print_scenarios(configuration: Configuration) -> None:
    for scenario in configuration.scenarios:
        artefacts = (" ".join(filter(None, (it.title, it.version))) for it in scenario.resources)
        print(f"  {scenario.name}: {', '.join(artefacts)}")
