"""`einvoice rules add|import|list|remove`: official Schematron for `--engine`, or for each validation."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from einvoice.cli.common import add_lang
from einvoice.localization import Language, Messages
from einvoice.localization.formatting import with_colon

if TYPE_CHECKING:
    from einvoice.reference import Configuration

FAILED: Final = 2
_MAX_TOLD: Final = 40
"""Number of codes that are listed at most."""
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
    imported = work.add_parser(
        "import",
        parents=[common],
        help="compile Schematron and apply it in each validation",
        description="Compile Schematron to Python, and apply it beside the rules of einvoice in each later validation. "
        "Exit status: 0 imported, 2 refused.",
    )
    imported.add_argument(
        "file", type=Path, metavar="FILE", help="Schematron (.sch), XSLT made of it, or a ZIP of them"
    )
    imported.add_argument("--name", help="name for `list`, `remove` and results (default: the filename)")
    imported.add_argument(
        "--match", metavar="XPATH", help="XPath of the documents to judge (default: all in the syntax)"
    )
    imported.add_argument("--replace", action="store_true", help="replace an existing import of this name")
    imported.add_argument("--partial", action="store_true", help="leave out assertions that cannot be compiled")
    imported.add_argument(
        "--release",
        metavar="VERSION",
        help="version of the release of a shipped rule set, such as 1.3.17 (default: as stated)",
    )
    imported.add_argument(
        "--beside", action="store_true", help="judge beside the rules of einvoice, even if it is a release of them"
    )
    imported.set_defaults(run=run_import)
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


def run_import(options: argparse.Namespace) -> int:
    """Import sheets, print what they apply to, and return the exit status."""
    from einvoice.reference import BundleRejected
    from einvoice.reference.bundles.imports import import_sheets

    labels = _LABELS[options.lang]
    try:
        made = import_sheets(
            options.file,
            name=options.name,
            match=options.match,
            replace=options.replace,
            partial=options.partial,
            release=options.release,
            beside=options.beside,
        )
    except BundleRejected as error:
        print(error.message(options.lang), file=sys.stderr)
        return FAILED
    configuration = made.configuration
    beside = [it.match for it in configuration.scenarios if not configuration.is_of_release(it)]
    told = {"name": configuration.name, "title": configuration.title, "count": made.assertions - len(made.refused)}
    done = labels["import_done"].format(match=" · ".join(dict.fromkeys(beside)), **told)
    print(done if beside else labels["import_of_release"].format(**told))
    _print_releases(configuration, options.lang)
    for known in made.identical:
        release = f"{known.ruleset}-{known.identical}"
        print(labels["same_release"].format(release=release, name=configuration.name), file=sys.stderr)
    for it in made.refused:
        print(labels["left_out"].format(code=it.code, line=it.line, reason=it.reason), file=sys.stderr)
    return 0


def run_list(options: argparse.Namespace) -> int:
    """Print all rule sets and configurations and return the exit status."""
    from einvoice.reference import engines

    labels = _LABELS[options.lang]
    available = engines()
    _print_rulesets(options.lang)
    print()
    print(labels["engine"].format(saxon=f"saxonche {available.saxon}" if available.saxon else labels["no_engine"]))
    for it in available.configurations:
        since = [labels["since"].format(day=it.added[:10])] if it.added else []
        digest = [f"SHA-256 {it.sha256}"] if it.sha256 else []
        print()
        print(f"{it.name}  {it.title}")
        print(f"  {', '.join([labels[it.kind], *since, *digest])}")
        _print_scenarios(it)
        if it.kind == "imported":
            _print_releases(it, options.lang)
            beside = {scenario.match: None for scenario in it.scenarios if not it.is_of_release(scenario)}
            if beside:
                print(f"  {with_colon(labels['judges'], options.lang, ' · '.join(beside))}")
    return 0


def _print_releases(configuration: Configuration, lang: Language) -> None:
    """Print the releases of shipped rule sets that an import makes, and how they differ from those of einvoice."""
    from einvoice.authoring.added import rule_data
    from einvoice.rulebook.releases import releases

    labels, known = _LABELS[lang], releases(rule_data())
    for made in configuration.releases:
        release = next((it for it in known.of(made.ruleset) if it.version == made.version), None)
        if release is None or (made.ruleset, made.version) not in {(it.ruleset, it.version) for it in release.imported}:
            name = release.name if release else f"{made.ruleset}-{made.version}"
            print(f"  {labels['release_unused'].format(release=name, name=configuration.name)}")
            continue
        label = "current_release" if known.newest(made.ruleset) == release else "release"
        print(f"  {labels[label].format(name=release.name)}")
        for part in made.parts:
            counts = {"unchanged": part.unchanged, "imported": len(part.imported), "removed": len(part.removed)}
            print(f"    {labels['release_part'].format(syntax=part.syntax, native=made.native, **counts)}")
            for label, codes in (("imported", (*part.changed, *part.added)), ("removed", part.removed)):
                if codes:
                    print(f"      {labels[f'release_{label}'].format(codes=_told(codes))}")


def _told(codes: Sequence[str]) -> str:
    more = len(codes) - _MAX_TOLD
    return ", ".join(codes[:_MAX_TOLD]) + (f", … +{more}" if more > 0 else "")


def _print_rulesets(lang: Language) -> None:
    """Print the rule sets with their newest releases, and which documents each one judges."""
    from einvoice.rulebook.releases import releases
    from einvoice.syntax.specifications import specifications, values_of

    labels, sets = _LABELS[lang], releases().sets
    for name, ruleset in sets.items():
        print(f"{name}  {ruleset.title[lang]}, {ruleset.newest}")
        judging = sets[ruleset.base] if ruleset.is_informative and ruleset.base else ruleset
        judged = [it for it in specifications().values() if judging.name in it.rulesets and it.current]
        values = dict.fromkeys(value for it in judged for value in values_of(it))
        for value in values if judging.base else (labels["any"],):
            print(f"  {with_colon(labels['judges'], lang, value)}")


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
