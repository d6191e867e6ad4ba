"""Results of files that are validated one by one, such as by the workers of a server, and what they have in common.

`validate_many` reads its source itself, and keeps the results of all files in one process. Here the caller has both.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from einvoice.bulk.cause_record import restored
from einvoice.bulk.common_causes import CommonCauses
from einvoice.bulk.execution import causes as execution
from einvoice.bulk.execution.worker import Options
from einvoice.bulk.files.items import Item
from einvoice.bulk.lines import Lines
from einvoice.bulk.overview import Overview, overview
from einvoice.bulk.record import error_row, result_row
from einvoice.bulk.tables import FILES, csv_lines, file_table, finding_table
from einvoice.errors import UnreadableDocument
from einvoice.localization import Language
from einvoice.result.stack import Engine
from einvoice.result.validation import ValidationResult

_FACTS: Final = frozenset(FILES[FILES.index("number") : FILES.index("folder")])
"""Columns with what an invoice says."""


class Part(NamedTuple):
    """The result of one file: its verdict, its SHA-256 ("" if it could not be read), and its record, a line of JSON."""

    verdict: str
    sha256: str
    record: bytes


def part(name: str, content: bytes | None, result: ValidationResult | UnreadableDocument) -> Part:
    """Return the record of a file.

    Args:
        name: its name.
        content: its content; None if it could not be read.
        result: its result, or why it is unreadable.
    """
    sha256 = "" if content is None else hashlib.sha256(content).hexdigest()
    if isinstance(result, UnreadableDocument):
        row = error_row(name, sha256, result)
    else:
        row = result_row(name, sha256, result)
    return Part(row.verdict, sha256, row.line)


def csv(record: bytes, lang: Language, *, has_header: bool, has_facts: bool = True) -> tuple[str, str]:
    """Return the rows of a file in the tables of the files and of the findings.

    Args:
        record: the record of the file.
        lang: language of the texts.
        has_header: whether each begins with a header.
        has_facts: whether there are the columns with what the invoice says, such as its seller and amounts.
    """
    tables = file_table([record], lang), finding_table([record], "findings", lang)
    texts = []
    for table in tables:
        columns = [it for it in table.columns if has_facts or it not in _FACTS]
        texts.append("".join(itertools.islice(csv_lines(table.selected(columns), ","), not has_header, None)))
    return texts[0], texts[1]


def sample(records: Iterable[bytes], limit: int) -> list[int]:
    """Return the positions of the invalid files to search for causes; see `ResultSet.causes`."""
    known = list(map(_first_of_each_code, records))
    positions = {record["file"]: position for position, record in enumerate(known)}
    return [positions[name] for name in execution.sample(known, limit)]


def causes_record(name: str, content: bytes, engine: Engine) -> bytes:
    """Search for the causes of the findings of a file, and return their record."""
    return execution.causes_row(Item(name, content), Options(engine=engine)).line


def summary(
    records: Iterable[bytes], causes: Sequence[bytes] | None, *, engine: Engine, lang: Language
) -> tuple[Overview, CommonCauses | None]:
    """Return the overview of files and, if their records are given, the common causes.

    Args:
        records: the records of all files.
        causes: the records of the causes of some of them; None if they were not searched for.
        engine: the engine that validated them.
        lang: default language of the texts.
    """
    lines = Lines(records)
    found = overview(lines, engine=engine, complete=True, lang=lang)
    if causes is None:
        return found, None
    searched = (record for record in map(json.loads, causes) if record.get("sha256"))
    by_file = [(record["file"], restored(record)) for record in searched]
    return found, CommonCauses.of(by_file, map(_first_of_each_code, lines), lang=lang)


def _first_of_each_code(line: bytes) -> Mapping[str, Any]:
    """Return of a record what causes need: tens of thousands of whole ones would take hundreds of megabytes."""
    record = json.loads(line)
    first = {it["code"]: it for it in reversed(record.get("findings", ()))}
    return {"file": record["file"], "verdict": record["verdict"], "findings": list(first.values())}
