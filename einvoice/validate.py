"""From a file to the verdict: parse, identify, XML schema, read, rules, findings."""

from __future__ import annotations

import datetime
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from einvoice.facturx import level_of
from einvoice.model.invoice import Invoice
from einvoice.pdf.document import open_hybrid, parse
from einvoice.result import LANGUAGES, Engine, Language, Mode, Original, Stack, ValidationResult
from einvoice.result.differences import Difference, compare
from einvoice.rulebook import releases
from einvoice.rulebook.releases import Release
from einvoice.rulebook.syntax_rules.collector import Notes
from einvoice.syntax import reader, schema, xml
from einvoice.syntax.detect import Identity, as_facturx, identify
from einvoice.validation import Judging, by_now, chosen, in_force, national, status

if TYPE_CHECKING:
    from einvoice.reference import Verdict

MODES: Final[tuple[Mode, ...]] = ("current", "compatibility")
ENGINES: Final[tuple[Engine, ...]] = ("native", "reference", "both")


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
    engine: Engine = "native",
) -> ValidationResult:
    """Judge an invoice by its XML schema and by the rules of the specification that it declares.

    The business rules run even where the XML schema is broken; their findings are `indicative` then.

    Args:
        source: a path, bytes, or a binary file; UBL or CII, or a PDF with CII embedded.
        lang: language of the texts, "de" or "en"; the findings can still be asked for the other one.
        mode: "current" judges by the rules of today, which are the newest in force or those that the environment
            variable EINVOICE_RULESET names; "compatibility" by the last ones for the specification that the
            document declares, and tells in `differences` what today's would find differently.
        profile: "xrechnung" judges by EN 16931 and XRechnung, whatever the document declares; "facturx" takes a
            document in CII that declares EN 16931 for the level EN 16931 of Factur-X, which declares the same.
        ruleset: the release to judge by, whatever the document declares: "xrechnung-2.0.1" (with the EN 16931 rules
            that it was published with), "en16931-1.3.12" (without national ones).
        as_of: judges by the releases in force on that day.
        engine: "native" judges by the rules of this program. "reference" judges by the official artefacts instead:
            those added by `einvoice rules add`, or else those that come with einvoice, which are not there for every
            document. "both" judges by the rules of this program, and tells in `agreement` what the artefacts find
            differently. Artefacts need the extra "reference".

    Raises:
        UnreadableDocument: nobody can read it as an invoice; one of its subclasses, see `einvoice.errors`.
        ValueError: an argument has a value that is not known; the message names those that are.
        OSError: the file cannot be opened.
    """
    started = time.perf_counter()
    _check(lang=(lang, LANGUAGES), mode=(mode, MODES), engine=(engine, ENGINES))
    _check(profile=(profile, (None, "xrechnung", "facturx")))
    named = releases.named(ruleset) if ruleset else None
    current = releases.current()
    data, filename = xml.source_bytes(source)
    hybrid = open_hybrid(data)
    content, document = (data, xml.parse(data)) if hybrid is None else (hybrid.xml, parse(hybrid))
    identity = by_now(identify(document), current)
    if hybrid or profile == "facturx":
        identity = as_facturx(identity)
    verdict = None if engine == "native" else _referred(content, identity)
    referee = verdict if engine == "reference" else None
    case = _Case(content, document, identity, lang, profile == "xrechnung" or ruleset is not None, referee)
    release = named or in_force(identity, mode, as_of, current)

    judging, invoice = case.judge(release)
    container = judging.container(data, hybrid) if hybrid else None
    differences: tuple[Difference, ...] = ()
    if mode == "compatibility" and not referee and release != current and release.ruleset == current.ruleset:
        differences = compare(lambda other: case.judge(other)[0].sorted(), release, current)
    second = judging.agreement(verdict, invoice) if verdict and not referee else None
    milliseconds = round((time.perf_counter() - started) * 1000)
    of_country = national(releases.national(release))
    stack = Stack(mode, status(identity, mode, current), tuple(judging.layers), of_country, engine)
    original = Original(content, lang, invoice)
    return ValidationResult(
        judging.sorted(), identity, stack, original, lang, filename, milliseconds, container, differences, second
    )


@dataclass(frozen=True, slots=True)
class _Case:
    """A document to be judged: by the rules of a release, or by what the referee says instead.

    `forced` means by EN 16931 and the layers of the release, whatever the document declares.
    """

    content: bytes
    document: Any
    identity: Identity
    lang: Language
    forced: bool
    referee: Verdict | None

    def judge(self, release: Release) -> tuple[Judging, Invoice]:
        """Judge it by a release."""
        root = self.document.getroot()
        level = None if self.forced else level_of(self.identity)
        judging = Judging(self.content, self.identity, self.lang, release, level)
        violations = schema.violations(self.document, judging.xsd)
        notes = Notes(root, level.name if level else "", dict(release.versions))
        invoice = reader.read(root, notes)
        judging.schema(violations, invoice)
        judging.declaration(invoice)
        layers = chosen(self.identity, release, self.forced)
        if self.referee:
            judging.refer(self.referee, invoice, layers)
            return judging, invoice
        judging.level(self.document, violations, invoice)
        judging.rules(invoice, notes, layers)
        judging.uncovered(invoice)
        return judging, invoice


def _referred(content: bytes, identity: Identity) -> Verdict:
    """What the official artefacts say; what runs them is loaded only here."""
    from einvoice import reference

    return reference.judge(content, identity)


def _check(**arguments: tuple[object, Iterable[object]]) -> None:
    for name, (value, known) in arguments.items():
        if value not in (allowed := tuple(known)):
            raise ValueError(f"{name} is {' or '.join(map(repr, allowed))}, not {value!r}")
