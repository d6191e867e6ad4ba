"""From a file to the verdict: parse, identify, XML schema, read, rules, findings."""

from __future__ import annotations

import datetime
import time
from collections.abc import Iterable
from typing import Final

from einvoice.judging import Judging, chosen, in_force, national, status
from einvoice.model.invoice import Invoice
from einvoice.pdf.document import open_hybrid, parse
from einvoice.profile import level_of
from einvoice.result import LANGUAGES, Language, Mode, Original, Stack, ValidationResult
from einvoice.result.differences import Difference, compare
from einvoice.rulebook import releases
from einvoice.rulebook.releases import Release
from einvoice.syntax import reader, schema, xml
from einvoice.syntax.detect import as_facturx, identify
from einvoice.syntax.rules.notes import Notes

MODES: Final[tuple[Mode, ...]] = ("current", "compatibility")


def read(source: xml.Source, *, lang: Language = "de") -> Invoice:
    """Return the invoice that a file holds, unjudged.

    Args:
        source: a path, bytes, or a binary file; UBL or CII, or a PDF with CII embedded.
        lang: language in which a notebook shows it, "de" or "en".

    Raises:
        UnreadableDocument: one of its subclasses, see `einvoice.errors`.
        ValueError: another language.
        OSError: the file cannot be opened.
    """
    _check(lang=(lang, LANGUAGES))
    data, _ = xml.source_bytes(source)
    hybrid = open_hybrid(data)
    document = xml.parse(data) if hybrid is None else parse(hybrid)
    identify(document)
    return reader.read(document.getroot()).in_language(lang)


@reader.collector_at_rest()
def validate(
    source: xml.Source,
    *,
    lang: Language = "de",
    mode: Mode = "current",
    profile: str | None = None,
    ruleset: str | None = None,
    as_of: datetime.date | None = None,
) -> ValidationResult:
    """Judge an invoice by its XML schema and by the rules of the specification that it declares.

    The business rules run even where the XML schema is broken; their findings are `indicative` then.

    Args:
        source: a path, bytes, or a binary file; UBL or CII, or a PDF with CII embedded.
        lang: language of the texts, "de" or "en"; the findings can still be asked for the other one.
        mode: "current" judges by the rules of today; "compatibility" by the last ones for the specification that the
            document declares, and tells in `differences` what today's would find differently.
        profile: "xrechnung" judges by EN 16931 and XRechnung, whatever the document declares; "facturx" takes a
            document in CII that declares EN 16931 for the level EN 16931 of Factur-X, which declares the same.
        ruleset: the release to judge by, whatever the document declares: "xrechnung-2.0.1" (with the EN 16931 rules
            that it was published with), "en16931-1.3.12" (without national ones).
        as_of: judges by the releases in force on that day. Without this, `ruleset` and "compatibility" the newest
            releases count, or those that the environment variable EINVOICE_RULESET names.

    Raises:
        UnreadableDocument: nobody can read it as an invoice; one of its subclasses, see `einvoice.errors`.
        ValueError: an argument has a value that is not known; the message names those that are.
        OSError: the file cannot be opened.
    """
    started = time.perf_counter()
    _check(lang=(lang, LANGUAGES), mode=(mode, MODES))
    _check(profile=(profile, (None, "xrechnung", "facturx")))
    named = releases.named(ruleset) if ruleset else None
    current = releases.pinned() or releases.newest()
    data, filename = xml.source_bytes(source)
    hybrid = open_hybrid(data)
    content, document = (data, xml.parse(data)) if hybrid is None else (hybrid.xml, parse(hybrid))
    identity = identify(document) if hybrid is None and profile != "facturx" else as_facturx(identify(document))
    forced = profile == "xrechnung" or ruleset is not None
    level = None if forced else level_of(identity)
    release = named or in_force(identity, mode, as_of) or current

    def judge(release: Release) -> tuple[Judging, Invoice]:
        judging = Judging(content, identity, lang, release, level)
        violations = schema.violations(document, judging.xsd)
        notes = Notes(document.getroot(), level.name if level else "", dict(release.versions))
        invoice = reader.read(document.getroot(), notes)
        judging.schema(violations, invoice)
        judging.declaration(invoice)
        judging.level(document, violations, invoice)
        judging.rules(invoice, notes, chosen(identity, release, forced))
        judging.uncovered(invoice)
        return judging, invoice

    judging, invoice = judge(release)
    container = judging.container(data, hybrid) if hybrid else None
    differences: tuple[Difference, ...] = ()
    if mode == "compatibility" and release != current and release.ruleset == current.ruleset:
        differences = compare(lambda other: judge(other)[0].sorted(), release, current)
    milliseconds = round((time.perf_counter() - started) * 1000)
    stack = Stack(mode, status(identity, mode), tuple(judging.layers), national(release))
    original = Original(content, lang, invoice)
    return ValidationResult(
        judging.sorted(), identity, stack, original, lang, filename, milliseconds, container, differences
    )


def _check(**arguments: tuple[object, Iterable[object]]) -> None:
    for name, (value, known) in arguments.items():
        if value not in (allowed := tuple(known)):
            raise ValueError(f"{name} is {' or '.join(map(repr, allowed))}, not {value!r}")
