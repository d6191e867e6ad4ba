"""Output formats of many results. Each yields text from the results and the options of the command."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from einvoice.bulk import FileResult, ResultSet
from einvoice.bulk.labels import VERDICT_LABELS
from einvoice.bulk.record import FileDifference
from einvoice.bulk.tables import csv_lines
from einvoice.cli.batch.gitlab import gitlab
from einvoice.cli.batch.json_array import array
from einvoice.cli.batch.junit import junit
from einvoice.cli.batch.sarif import sarif
from einvoice.cli.formats import annotation
from einvoice.cli.table import format_block
from einvoice.localization.formatting import with_colon
from einvoice.quotation import quote
from einvoice.render.text import LABELS, finding_counts, finding_line, named
from einvoice.result import Finding, Language

_Write: TypeAlias = Callable[[ResultSet, argparse.Namespace], Iterable[str]]


class Report(NamedTuple):
    """An output format."""

    write: _Write
    is_machine_readable: bool = True


def _table(results: ResultSet, options: argparse.Namespace) -> Iterator[str]:
    """Yield a block for each file with findings or differences, nothing if only the totals are wanted."""
    for file in () if options.summary else results:
        if file.findings or file.differences:
            headline = _headline(file, options.lang)
            differences = [_difference_line(it, options.lang) for it in file.differences]
            yield format_block(file.file, headline, file.is_valid, file.findings, differences, options.lang)


def _difference_line(difference: FileDifference, lang: Language) -> str:
    """Return a difference in one line: the finding, and the engine or release that it depends on."""
    is_release = difference.only_in in ("declared", "current")
    label = LABELS[lang][difference.only_in if is_release else f"only_{difference.only_in}"]
    return f"{finding_line(difference.finding, lang)} [{label.format(release=difference.changed_in)}]"


def _headline(file: FileResult, lang: Language) -> str:
    declared = named(file.profile, file.version, file.syntax, lang) if file.syntax else ""
    name = ", ".join(part for part in (quote(file.number), declared) if part)
    verdict = f"{VERDICT_LABELS[lang][file.verdict]}, {finding_counts(file.findings, lang)}"
    return with_colon(name, lang, verdict) if name else verdict


def _json(results: ResultSet, options: argparse.Namespace) -> Iterator[str]:
    modes = {name: results.settings[name] for name in ("mode", "engine")}
    yield from array(_item(file, modes, options.lang) for file in results)
    yield "\n"


def _item(file: FileResult, modes: Mapping[str, Any], lang: Language) -> dict[str, Any]:
    """Return a file with the keys that the result of a single file has, too, as far as they are stored."""
    if file.verdict == "unreadable":
        problem = {"problem": _problem(file.findings[0], lang)} if file.findings else {}  # it may be accepted
        return {"file": file.file, "status": "unreadable", "is_valid": False, **problem}
    findings = [(finding, finding.to_dict(lang)) for finding in file.findings]
    return {
        "file": file.file,
        "status": "done",
        "validation_mode": modes["mode"],
        "is_valid": file.is_valid,
        "validation_profile": file.profile,
        "validation_format": file.syntax,
        "ruleset": file.ruleset,
        "errors": [data for finding, data in findings if finding.severity == "fatal"],
        "warnings": [data for finding, data in findings if finding.severity != "fatal"],
        "validation_details": {
            "validation_stack": {**modes, "layers": [layer._asdict() for layer in file.layers]},
        },
        "invoice_summary": {
            "invoice_number": file.number,
            "invoice_date": file.date,
            "format": file.syntax,
            "seller": file.seller,
            "buyer": file.buyer,
            "currency": file.currency,
            "amount_due": "" if file.amount_due is None else format(file.amount_due, "f"),
        },
        **({"agreement": file.agreement} if file.agreement else {}),
        **({"differences": [_difference(it, lang) for it in file.differences]} if file.differences else {}),
    }


def _difference(difference: FileDifference, lang: Language) -> dict[str, Any]:
    changed_in = {"changed_in": difference.changed_in} if difference.changed_in else {}
    return {"only_in": difference.only_in, **changed_in, **difference.finding.to_dict(lang)}


def _problem(finding: Finding, lang: Language) -> dict[str, Any]:
    detail = f"{finding.explanation(lang)} {finding.fix(lang)}"
    place = {"line": finding.line, "column": finding.column}
    return {"code": finding.code, "title": finding.title(lang), "detail": detail, **place}


def _jsonl(results: ResultSet, options: argparse.Namespace) -> Iterator[str]:
    """Yield the results as `ResultSet.save` stores them."""
    return (line.decode() for line in results.stored())


def _csv(results: ResultSet, options: argparse.Namespace) -> Iterator[str]:
    return csv_lines(results.table(options.rows or "findings", lang=options.lang), options.separator or ",")


def _github(results: ResultSet, options: argparse.Namespace) -> Iterator[str]:
    return (annotation(file.file, finding, options.lang) for file in results for finding in file.findings)


REPORTS: Final[Mapping[str, Report]] = {
    "table": Report(_table, is_machine_readable=False),
    "json": Report(_json),
    "jsonl": Report(_jsonl),
    "csv": Report(_csv),
    "sarif": Report(sarif),
    "junit": Report(junit),
    "github": Report(_github),
    "gitlab": Report(gitlab),
}


def _excel(results: ResultSet, options: argparse.Namespace) -> None:
    results.to_excel(options.output, lang=options.lang)


def _page(results: ResultSet, options: argparse.Namespace) -> None:
    results.report_html(options.output, lang=options.lang)


BINARY: Final[Mapping[str, Callable[[ResultSet, argparse.Namespace], None]]] = {".xlsx": _excel, ".html": _page}
"""Formats that the suffix of the output file selects."""
