"""The options --assess, --law and --no-items."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Final

from einvoice.localization import Messages

if TYPE_CHECKING:
    from einvoice.assessment import Assessment
    from einvoice.result import ValidationResult

TEXTS: Final = Messages("einvoice.cli", "assess")
_LAW: Final = "VAT law, such as de (default: the country of seller and buyer)"


def add_assess(parser: Any) -> None:
    """Add the options to a parser or a group of options."""
    parser.add_argument(
        "--assess",
        action="store_true",
        help="also state what errors and missing items mean for the recipient under VAT law; information, not advice",
    )
    add_law(parser, "--assess: ")
    parser.add_argument(
        "--no-items",
        dest="items",
        action="store_false",
        help="--assess: do not report what the law requires and EN 16931 does not",
    )


def add_law(parser: Any, before: str = "") -> None:
    """Add the option --law; `before` begins its help."""
    parser.add_argument("--law", metavar="COUNTRY", help=f"{before}{_LAW}")


def check_assess(options: argparse.Namespace) -> None:
    """Reject options that need --assess, and an unknown law."""
    if not options.assess and (options.law or not options.items):
        options.reject("arguments --law and --no-items: need --assess")
    check_law(options)


def check_law(options: argparse.Namespace) -> None:
    """Reject an unknown law."""
    if options.law:
        from einvoice.assessment import law

        try:
            law(options.law)
        except ValueError as error:
            options.reject(str(error))


def assessment(result: ValidationResult, options: argparse.Namespace) -> Assessment | None:
    """Return the assessment that the options ask for."""
    return result.assessment(options.law, items=options.items)
