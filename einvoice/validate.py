"""From a file to the verdict: parse, identify, XML schema, read, rules, findings."""

from __future__ import annotations

import datetime
import functools
import hashlib
import logging
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from lxml import etree

from einvoice import errors
from einvoice.model.group import Group, terms_of
from einvoice.model.invoice import Invoice
from einvoice.model.values import Value
from einvoice.pdf import findings
from einvoice.pdf.document import open_hybrid, parse
from einvoice.pdf.hybrid import Hybrid
from einvoice.profile import Level, breaches, level_of
from einvoice.result import (
    LANGUAGES,
    Container,
    Finding,
    Language,
    Layer,
    Mode,
    Original,
    Places,
    Severity,
    Stack,
    Status,
    ValidationResult,
)
from einvoice.result.differences import Difference, compare
from einvoice.rulebook import engine, releases
from einvoice.rulebook.catalog import entry
from einvoice.rulebook.releases import Release
from einvoice.rulebook.rule import Fired, Rule
from einvoice.rulebook.sections import section
from einvoice.syntax import overrides, reader, schema, xml
from einvoice.syntax.detect import Identity, as_facturx, identify, specifications
from einvoice.syntax.rules.notes import Notes, SyntaxHit
from einvoice.syntax.rules.rule import SyntaxRule
from einvoice.syntax.rules.table import rule_table
from einvoice.syntax.schema import SchemaViolation

MODES: Final[tuple[Mode, ...]] = ("current", "compatibility")
_LONGEST: Final = 500
"""So many characters of a value a finding quotes at most."""
_MOST_UNCOVERED: Final = 20
_MOST_OF_A_CODE: Final = 100
"""So often a rule about elements is told of at most; a broken export repeats itself."""
_NOT_USED: Final = "PROFILE-NOT-USED"
"""Told only where no other rule objects to the element."""
_SCHEMAS: Final = {
    "UBL": ({"de": "XML-Schema von UBL", "en": "XML schema of UBL"}, "2.1"),
    "CII": ({"de": "XML-Schema von CII", "en": "XML schema of CII"}, "D16B"),
    "extended": ({"de": "XML-Schema von Factur-X EXTENDED", "en": "XML schema of Factur-X EXTENDED"}, "1.09.2"),
}

_log: Final = logging.getLogger("einvoice")


def read(source: xml.Source) -> Invoice:
    """Return the invoice that a file holds, unjudged.

    Args:
        source: a path, bytes, or a binary file; UBL or CII, or a PDF with CII embedded.

    Raises:
        UnreadableDocument: one of its subclasses, see `einvoice.errors`.
        OSError: the file cannot be opened.
    """
    data, _ = xml.source_bytes(source)
    hybrid = open_hybrid(data)
    document = xml.parse(data) if hybrid is None else parse(hybrid)
    identify(document)
    return reader.read(document.getroot())


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
    release = named or _in_force(identity, mode, as_of) or current

    def judge(release: Release) -> tuple[_Judging, Invoice]:
        judging = _Judging(content, identity, lang, release, level)
        violations = schema.violations(document, judging.xsd)
        notes = Notes(document.getroot(), level.name if level else "", dict(release.versions))
        invoice = reader.read(document.getroot(), notes)
        judging.schema(violations, invoice)
        judging.declaration(invoice)
        judging.level(document, violations, invoice)
        judging.rules(invoice, notes, _layers(identity, release, forced))
        judging.uncovered(invoice)
        return judging, invoice

    judging, invoice = judge(release)
    container = judging.container(data, hybrid) if hybrid else None
    differences: tuple[Difference, ...] = ()
    if mode == "compatibility" and release != current and release.ruleset == current.ruleset:
        differences = compare(lambda other: judge(other)[0].sorted(), release, current)
    milliseconds = round((time.perf_counter() - started) * 1000)
    stack = Stack(mode, _status(identity, mode), tuple(judging.layers), _national(release))
    original = Original(content, invoice)
    return ValidationResult(
        judging.sorted(), identity, stack, original, lang, filename, milliseconds, container, differences
    )


def _check(**arguments: tuple[object, Iterable[object]]) -> None:
    for name, (value, known) in arguments.items():
        if value not in (allowed := tuple(known)):
            raise ValueError(f"{name} is {' or '.join(map(repr, allowed))}, not {value!r}")


class _Judging:
    """What one validation has found so far, and which layers have run."""

    def __init__(
        self, data: bytes, identity: Identity, lang: Language, release: Release, level: Level | None = None
    ) -> None:
        self.layers: list[Layer] = []
        self._findings: list[Finding] = []
        self._places = Places(data)
        self._identity = identity
        self._release = release
        self._lang = lang
        self._level = level
        self._terms: dict[Any, tuple[str, ...]] | None = None  # by element, once somebody asks
        self._broken = False  # the schema
        self._told: set[Any] = set()  # elements that a rule about elements has found

    def schema(self, violations: Sequence[SchemaViolation], invoice: Invoice) -> None:
        """Tell what the XML schema says."""
        self._broken = bool(violations)
        for violation in violations:
            about = self._about(violation.element, invoice)
            self._of_catalog(violation.code, "schema", violation.element, violation.values, about)
        title, version = _SCHEMAS.get(self.xsd) or _SCHEMAS[self._identity.syntax]
        self.layers.append(Layer("schema", title, version, sha256=schema.sha256(self.xsd)))

    @property
    def xsd(self) -> str:
        """The XML schema that judges the document: that of its root element, or of its level of Factur-X."""
        return self._level.name if self._level and self._level.is_schema else self._identity.root

    def level(self, document: Any, violations: Sequence[SchemaViolation], invoice: Invoice) -> None:
        """Tell what the level of Factur-X does not know, or lacks."""
        if self._level is None or self._level.is_schema:
            return
        for breach in breaches(document, self._level, [violation.element for violation in violations]):
            self._told.add(breach.element)
            about = self._about(breach.element, invoice)
            self._of_catalog(breach.code, "profile", breach.element, breach.values, about)

    def declaration(self, invoice: Invoice) -> None:
        """Say what there is to say about the declared specification."""
        if not self._identity.remarks:
            return
        declared = invoice.specification
        place = (
            declared.node if declared else next(invoice.node.iterchildren("{*}ExchangedDocumentContext"), invoice.node)
        )
        for remark in self._identity.remarks:
            self._of_catalog(remark.code, "file", place, remark.values)

    def uncovered(self, invoice: Invoice) -> None:
        """Tell what no business term covers; what a rule forbids, or the schema is likely to, is told already."""
        if self._broken:
            return
        untold = [it for it in invoice.uncovered if self._told.isdisjoint((it, *it.iterancestors()))]
        for element in untold[:_MOST_UNCOVERED]:
            self._of_catalog("CONTENT-UNCOVERED", "file", element, {"element": etree.QName(element).localname})
        self._more(self._findings, "CONTENT-UNCOVERED", len(untold) - _MOST_UNCOVERED)

    def rules(self, invoice: Invoice, notes: Notes, layers: tuple[str, ...]) -> None:
        """Judge by the rules of `layers`; one that does not run to its end is an error."""
        versions = self._release.versions
        layered = self._level and (self._level.program(versions), ())
        program, missing = layered or _program(self._identity.syntax, layers, versions)
        if program is not None:
            self._run(program, invoice, notes)
        for name in missing:
            self._not_run("LAYER-MISSING", name, invoice.node, profile=self._identity.profile)

    def container(self, data: bytes, hybrid: Hybrid) -> Container:
        """Tell what there is to say about the PDF around the invoice."""
        container, layer = findings.judge(data, hybrid, self._lang)
        self._findings += container.findings
        self.layers.append(layer)
        return container

    def sorted(self) -> tuple[Finding, ...]:
        """The findings by layer, place in the document, and code."""
        order = self._places.order()
        layers = ("file", *(layer.name for layer in self.layers))
        return tuple(
            sorted(
                self._findings,
                key=lambda found: (layers.index(found.layer), order.get(found.location.node, -1), found.code),
            )
        )

    def _run(self, program: engine.Program, invoice: Invoice, notes: Notes) -> None:
        published = overrides.overrides(self._identity, dict(self._release.versions).get(releases.NATIONAL))
        names = {layer.name for layer in program.layers}
        try:
            fires = [fired for fired in program.run(invoice) if self._layer_of(fired.rule)]
            found = [self._of_rule(fired, invoice, published.get(fired.rule.code)) for fired in fires]
            hits = [hit for hit in notes.hits() if hit.rule.layer in names and self._layer_of(hit.rule)]
            found += self._of_hits(hits, invoice, published)
        except Exception as error:
            # A document must not bring the others down that are judged with it; nor may it pass for judged.
            _log.exception("The rules stopped")
            for layer in program.layers:
                self._not_run("LAYER-FAILED", layer.name, invoice.node, reason=type(error).__name__)
            return
        self._findings += found
        if self._level is not None:
            self.layers += self._level.layers(self._release.versions)
            return
        for name, _, version, specification, date, title, sha256, count in program.layers:
            rows, digest = _rows(self._identity.syntax, name, sha256, self._release.versions)
            self.layers.append(Layer(name, title, version, specification, date, digest, True, count + rows))

    def _layer_of(self, rule: Rule | SyntaxRule) -> str:
        """The layer that a rule judges the document in, "" for none."""
        return rule.layer if self._level is None else self._level.layer_of(rule)

    def _of_hits(
        self, hits: list[SyntaxHit], invoice: Invoice, published: Mapping[str, overrides.Override]
    ) -> list[Finding]:
        """The findings of the rules about elements, no more than so many of a code."""
        seen: Counter[str] = Counter()
        found = []
        for hit in hits:
            if hit.code == _NOT_USED and not self._told.isdisjoint(hit.found):
                continue
            self._told.update(hit.found)
            seen[hit.code] += 1
            if seen[hit.code] <= _MOST_OF_A_CODE:
                about = self._about(hit.element, invoice)
                found.append(self._of_hit(hit, about, published.get(hit.code)))
        for code, times in seen.items():
            self._more(found, code, times - _MOST_OF_A_CODE)
        return found

    @staticmethod
    def _more(found: list[Finding], code: str, left_out: int) -> None:
        """Let the last finding of a code tell how many more places there are."""
        if left_out > 0:
            last = max(number for number, finding in enumerate(found) if finding.code == code)
            found[last] = replace(found[last], more=left_out)

    def _of_hit(self, hit: SyntaxHit, terms: tuple[str, ...], override: overrides.Override | None) -> Finding:
        known = entry(hit.code)
        flag = cast("Severity", hit.rule.severity)
        level = override.level if override else flag
        return Finding(
            code=hit.code,
            severity=level,
            flag=flag,
            layer=self._layer_of(hit.rule),
            section=section(None, terms, hit.rule.table) if terms else known.section,
            terms=terms or known.terms,
            location=self._places.at(hit.element, hit.attribute),
            values=_quotable(hit.values),
            indicative=self._broken,
            override=override if level != flag else None,
            lang=self._lang,
        )

    def _of_rule(self, fired: Fired, invoice: Invoice, override: overrides.Override | None) -> Finding:
        rule, place = fired.rule, fired.place
        flag = cast("Severity", rule.severity)
        level = override.level if override else flag
        attribute = place.attribute if isinstance(place, Value) else None
        return Finding(
            code=rule.code,
            severity=level,
            flag=flag,
            layer=self._layer_of(rule),
            section=rule.section,
            terms=rule.terms,
            location=self._places.at(invoice.node if place.node is None else place.node, attribute),
            values=_quotable(fired.values),
            indicative=self._broken,
            override=override if level != flag else None,
            noted=fired.notes,
            lang=self._lang,
        )

    def _of_catalog(
        self, code: str, layer: str, node: Any, values: Mapping[str, object], terms: tuple[str, ...] = ()
    ) -> None:
        """Add a finding that no rule made: what is fixed about it stands in the catalog; `terms` if they are not."""
        known = entry(code)
        severity = cast("Severity", known.severity)
        self._findings.append(
            Finding(
                code=code,
                severity=severity,
                flag=severity,
                layer=layer,
                section=section(None, terms, known.file) if terms else known.section,
                terms=terms or known.terms,
                location=self._places.at(node),
                values=_quotable(values),
                lang=self._lang,
            )
        )

    def _about(self, element: Any, invoice: Invoice) -> tuple[str, ...]:
        """The business term of an element, where it can mean but one."""
        if self._terms is None:
            self._terms = _terms(invoice)
        return self._terms.get(element, ())

    def _not_run(self, code: str, layer: str, node: Any, **values: str) -> None:
        self.layers.append(Layer(layer, {}, executed=False))
        self._of_catalog(code, layer, node, {"layer": layer, **values})


def _terms(invoice: Invoice) -> dict[Any, tuple[str, ...]]:
    """The business terms of the document's elements, where they can mean but one."""
    found: dict[Any, tuple[str, ...]] = {}
    groups: list[Group] = [invoice]
    for group in groups:  # what is in a group is looked at later, and has the last word on its element
        kind: Any = type(group)
        certain = _certain(kind)
        for name, content in vars(group).items():
            for it in content if isinstance(content, list) else (content,):
                if isinstance(it, Group):
                    groups.append(it)
                if name in certain:
                    found[it.node] = certain[name]
    return found


@functools.cache
def _certain(kind: type[Group]) -> dict[str, tuple[str]]:
    """The fields of a class of groups that can mean but one business term, with that term."""
    numbers = {name: tuple(dict.fromkeys(terms_of(kind, name))) for name in kind.fields}
    return {name: (one[0],) for name, one in numbers.items() if len(one) == 1}


def _quotable(values: Mapping[str, object]) -> dict[str, Any]:
    """Values that texts, logs and answers can quote: what a document says may be long, and may steer a terminal."""
    return {
        name: errors.quote(value, most=_LONGEST) if isinstance(value, str) else value for name, value in values.items()
    }


def _in_force(identity: Identity, mode: Mode, day: datetime.date | None) -> Release | None:
    """The release of a day, or in compatibility mode that of the declared specification; None for the current one."""
    if day:
        return releases.as_of(day, releases.NATIONAL if "cius" in identity.layers else releases.CORE)
    return releases.declared(identity.family) if mode == "compatibility" else None


def _layers(identity: Identity, release: Release, forced: bool) -> tuple[str, ...]:
    """The layers of rules to judge by; with `forced` those of the release whatever the document declares."""
    specification = identity.specification
    if forced and release.family != specification.family:
        specification = specifications()[release.family]
    return tuple(layer for layer in specification.layers if layer != "schema")


def _status(identity: Identity, mode: Mode) -> Status:
    """How the declared specification stands to the current one; some older ones are not there to be judged by."""
    if identity.kind == "unknown":
        return "unknown"
    if identity.specification.current:
        return "current"
    there = "cius" not in identity.layers or releases.declared(identity.family)
    return "outdated" if there or mode == "current" else "unknown"


@functools.cache
def _rows(syntax: str, layer: str, sha256: str, versions: tuple[tuple[str, str], ...]) -> tuple[int, str]:
    """How many rules about elements a layer has, and the digest of its rule data with theirs."""
    rows = [rule for rule in rule_table(syntax, releases=dict(versions)).rules if rule.layer == layer]
    told = [(rule.code, rule.context, rule.kind, rule.path, rule.argument, rule.severity) for rule in rows]
    return len(rows), hashlib.sha256(f"{sha256} {told}".encode()).hexdigest() if rows else sha256


@functools.cache
def _program(
    syntax: str, layers: tuple[str, ...], versions: tuple[tuple[str, str], ...]
) -> tuple[engine.Program | None, tuple[str, ...]]:
    """The rules of those layers that there are, and the names of those that there are not."""
    book = engine.rulebook()
    try:
        return book.program(syntax, layers, dict(versions)), ()
    except LookupError:
        there = tuple(layer for layer in layers if len(layers) > 1 and _program(syntax, (layer,), versions)[0])
    program = book.program(syntax, there, dict(versions)) if there else None
    return program, tuple(layer for layer in layers if layer not in there)


@functools.cache
def _national(release: Release) -> Layer:
    """The rule set of XRechnung that is chosen, or else the newest one."""
    if release.ruleset != releases.NATIONAL:
        release = releases.newest()
    title = releases.title(release.ruleset)
    return Layer("cius", title, release.version, release.specification, release.date)
