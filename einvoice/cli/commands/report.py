"""`einvoice report FILE`: the validation report, as text, PDF or HTML."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from einvoice.cli.assess import TEXTS, add_assess, assessment, check_assess
from einvoice.cli.common import add_lang, add_rules, source
from einvoice.cli.documents import add_output, write
from einvoice.cli.outcome import FINDINGS, UNREADABLE, VALID, report_problem
from einvoice.errors import MissingDependency, RuleError, UnreadableDocument


def add_to(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "report",
        help="write the validation report of an invoice",
        description="Validate an invoice and write the report: result, causes, findings, and rule sets. "
        "Exit status: 0 valid, 1 errors, 2 unreadable file.",
    )
    parser.add_argument("file", metavar="FILE", help="invoice: UBL, CII or hybrid PDF; - for standard input")
    parser.add_argument("--mode", choices=("current", "compatibility"), default="current", help="as for validate")
    add_assess(parser)
    add_output(parser)
    add_lang(parser)
    add_rules(parser)
    parser.set_defaults(run=run, reject=parser.error)


def run(options: argparse.Namespace) -> int:
    """Write the report and return the exit status."""
    from einvoice.validation import validate
    from einvoice.visualization import report_html, report_pdf, report_text

    check_assess(options)
    lang = options.lang
    try:
        result = validate(source(options.file), mode=options.mode, lang=lang, rules=options.rules)
        assessed = assessment(result, options) if options.assess else None
        if options.assess and assessed is None:
            print(TEXTS[lang]["no_law"], file=sys.stderr)
        write(
            options.output,
            pdf=lambda: report_pdf(result, lang, assessment=assessed),
            html=lambda: report_html(result, lang, assessment=assessed),
            text=lambda width: report_text(result, lang, assessment=assessed, width=width),
        )
    except (MissingDependency, RuleError) as error:
        print(error, file=sys.stderr)
        return UNREADABLE
    except (UnreadableDocument, OSError) as error:
        report_problem(options.file, error, lang)
        return UNREADABLE
    return VALID if result.is_valid else FINDINGS
