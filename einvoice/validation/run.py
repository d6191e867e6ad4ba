"""One validation at work: it gathers findings, and which layers have run."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from lxml import etree

from einvoice import errors
from einvoice.facturx import Level, breaches
from einvoice.model.invoice import Invoice
from einvoice.model.values import Value
from einvoice.pdf import container_findings
from einvoice.pdf.hybrid import Hybrid
from einvoice.result import Agreement, Container, Finding, Language, Layer, Places, Severity
from einvoice.rulebook import releases
from einvoice.rulebook.catalog import entry
from einvoice.rulebook.program import engine
from einvoice.rulebook.releases import Release
from einvoice.rulebook.rule import Fired, Rule
from einvoice.rulebook.sections import section
from einvoice.rulebook.syntax_rules.collector import Notes, SyntaxHit
from einvoice.rulebook.syntax_rules.rule import SyntaxRule
from einvoice.syntax import schema, severity_overrides
from einvoice.syntax.detect import Identity
from einvoice.syntax.schema import SchemaViolation
from einvoice.validation import reference_findings
from einvoice.validation.element_terms import terms_of_elements
from einvoice.validation.selection import program, rows

if TYPE_CHECKING:
    from einvoice.reference import Verdict

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


class Judging:
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
        there, missing = layered or program(self._identity.syntax, layers, versions)
        if there is not None:
            self._run(there, invoice, notes)
        for name in missing:
            self._not_run("LAYER-MISSING", name, invoice.node, profile=self._identity.profile)

    def refer(self, verdict: Verdict, invoice: Invoice, layers: tuple[str, ...]) -> None:
        """Judge by what official artefacts found, instead of by rules; where there is none for a layer is an error."""
        theirs = reference_findings.layers(verdict)
        names = {layer.name for layer in theirs}  # an XML schema among them stands in for ours
        self.layers = [*(layer for layer in self.layers if layer.name not in names), *theirs]
        self._findings = [finding for finding in self._findings if finding.layer not in names]
        self._findings += self._reported(verdict, invoice)
        for run in verdict.runs:
            if run.trouble:
                values = {"artefact": run.title, "layer": run.layer, "detail": run.detail}
                self._of_catalog(run.trouble, run.layer, invoice.node, values)
        for name in layers if self._level is None else [layer.name for layer in self._level.layers()]:
            if name not in reference_findings.covered(verdict.runs):
                self._not_run("REFERENCE-MISSING", name, invoice.node)

    def agreement(self, verdict: Verdict, invoice: Invoice) -> Agreement:
        """Whether official artefacts came to the same findings."""
        return reference_findings.agreement(verdict, self._findings, self.layers, self._reported(verdict, invoice))

    def _reported(self, verdict: Verdict, invoice: Invoice) -> tuple[Finding, ...]:
        """What official artefacts found, as findings."""
        return tuple(
            reference_findings.Reporter(invoice.node, self._places, self._broken, self._lang).findings(verdict)
        )

    def container(self, data: bytes, hybrid: Hybrid) -> Container:
        """Tell what there is to say about the PDF around the invoice."""
        container, layer = container_findings.judge(data, hybrid, self._lang)
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
        published = severity_overrides.overrides(self._identity, dict(self._release.versions).get(releases.NATIONAL))
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
            elements, digest = rows(self._identity.syntax, name, sha256, self._release.versions)
            self.layers.append(Layer(name, title, version, specification, date, digest, True, count + elements))

    def _layer_of(self, rule: Rule | SyntaxRule) -> str:
        """The layer that a rule judges the document in, "" for none."""
        return rule.layer if self._level is None else self._level.layer_of(rule)

    def _of_hits(
        self, hits: list[SyntaxHit], invoice: Invoice, published: Mapping[str, severity_overrides.Override]
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

    def _of_hit(self, hit: SyntaxHit, terms: tuple[str, ...], override: severity_overrides.Override | None) -> Finding:
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

    def _of_rule(self, fired: Fired, invoice: Invoice, override: severity_overrides.Override | None) -> Finding:
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
            self._terms = terms_of_elements(invoice)
        return self._terms.get(element, ())

    def _not_run(self, code: str, layer: str, node: Any, **values: str) -> None:
        self.layers.append(Layer(layer, {}, executed=False))
        self._of_catalog(code, layer, node, {"layer": layer, **values})


def _quotable(values: Mapping[str, object]) -> dict[str, Any]:
    """Values that texts, logs and answers can quote: what a document says may be long, and may steer a terminal."""
    return {
        name: errors.quote(value, limit=_LONGEST) if isinstance(value, str) else value for name, value in values.items()
    }
