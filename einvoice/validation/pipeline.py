"""The pipeline of a validation: open the document, prepare its context, run the passes.

Each pass takes the context and returns findings and layers. Passes run in order and share only `Context.reported`: an
element that a rule reports is not reported again as unmapped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from lxml import etree

from einvoice.result import Finding, Language, Layer
from einvoice.rulebook.syntax_rules.collector import Collector, SyntaxViolation
from einvoice.rulebook.syntax_rules.stops import CHECKS as STOPS
from einvoice.syntax import reader, schema
from einvoice.syntax.detect import identify
from einvoice.syntax.remarks import remarks
from einvoice.syntax.software import named_software
from einvoice.syntax.text_nodes import text_nodes
from einvoice.syntax.xml import Source, is_pdf, parse, source_bytes, transcode
from einvoice.validation import repetition
from einvoice.validation.findings import FindingBuilder
from einvoice.validation.limits import FindingsByCode
from einvoice.validation.repetition import REPEATED, STOPPED

if TYPE_CHECKING:
    from einvoice.model.invoice import Invoice
    from einvoice.pdf.hybrid import Hybrid
    from einvoice.pdf.sandbox import PendingText
    from einvoice.resources import RuleData
    from einvoice.result import Container
    from einvoice.rulebook.rule import Rule
    from einvoice.rulebook.syntax_rules.rule import SyntaxRule
    from einvoice.syntax.detect import Identity
    from einvoice.syntax.schema.messages import SchemaViolation
    from einvoice.validation.selection import RuleSelection

_UNMAPPED: Final = "CONTENT-UNCOVERED"
_OF_NO_USE: Final = {
    "derived": ("LineTotalBasisAmount", "AllowanceChargeBasisAmount"),
    "technical": ("CopyIndicator", "LineCountNumeric", "ProfileExecutionID", "TestIndicator", "UBLVersionID", "UUID"),
}
"""Content that follows from other content, and content about the file itself, by the situation of its text."""
_PAYMENT_TERMS: Final = ("PaymentTerms", "SpecifiedTradePaymentTerms")
"""Elements with BT-20, in UBL and CII; discounts and penalties inside them are part of what was agreed."""
_MAX_UNMAPPED: Final = 20
"""Maximum number of findings for content that no business term covers."""
_OF_DECLARATION: Final = "DECL-"
"""Prefix of the codes about BT-24; they come first, as they explain which rules were applied."""
_ENCODING: Final = "PLAUS-ENCODING"
_TEST_DOCUMENT: Final = "PLAUS-TEST-DOCUMENT"
_UTF_8: Final = ("utf-8", "ascii")
"""Encodings whose bytes are UTF-8."""
_NOT_USED: Final = "PROFILE-NOT-USED"
"""Reported only if no other rule reports the element."""


class Document(NamedTuple):
    """An invoice document.

    Attributes:
        data: the bytes of the file.
        filename: its name without the folder; "" if it has none.
        xml: the bytes of the invoice: the file itself, or the XML embedded in a hybrid PDF.
        tree: the parsed XML.
        has_blanks: whether the tree has the white space between elements.
        identity: syntax, root element and declared specification.
        hybrid: the hybrid PDF; None if the file is XML.
        pages: the text of its pages, which is still being read; None if it is not compared.
    """

    data: bytes
    filename: str
    xml: bytes
    tree: Any
    has_blanks: bool
    identity: Identity
    hybrid: Hybrid | None
    pages: PendingText | None = None

    @classmethod
    def open(
        cls, source: Source, rules: RuleData | None = None, *, keep_blanks: bool = False, picture: bool = False
    ) -> Document:
        """Open a path, bytes, or a binary file.

        Args:
            source: the document.
            rules: rule data with the known specifications.
            keep_blanks: whether to keep the white space between elements, which is part of a value that, against the
                XML schema, contains elements.
            picture: whether to read the text of the pages of a PDF; the document must then be closed.

        Raises:
            UnreadableDocument: one of its subclasses; see `einvoice.errors`.
            OSError: the file cannot be opened.
        """
        data, filename = source_bytes(source)
        if not is_pdf(data):
            tree = parse(data, keep_blanks=keep_blanks)
            return cls(data, filename, data, tree, keep_blanks, identify(tree, rules), None)
        from einvoice.pdf.document import parse as parse_embedded  # imported on use: most files are XML
        from einvoice.pdf.sandbox import read_hybrid, read_hybrid_with_pages

        hybrid, pages = read_hybrid_with_pages(data) if picture else (read_hybrid(data), None)
        try:
            tree = parse_embedded(hybrid)
            return cls(data, filename, hybrid.xml, tree, True, identify(tree, rules), hybrid, pages)
        except BaseException:
            if pages:
                pages.close()
            raise

    @property
    def software(self) -> str:
        """The software that made the document; see `ValidationResult.software`."""
        return (self.hybrid and self.hybrid.software) or named_software(self.xml)

    def close(self) -> None:
        """Stop reading the pages."""
        if self.pages:
            self.pages.close()

    def utf8(self) -> bytes:
        """Return the XML in UTF-8."""
        return transcode(self.xml).utf8

    def with_blanks(self) -> Document:
        """Return the document with the white space between elements, which takes longer to process."""
        return self._replace(tree=parse(self.xml), has_blanks=True)

    @property
    def root(self) -> Any:
        """The root element."""
        return self.tree.getroot()

    def __repr__(self) -> str:
        return f"Document({self.filename!r})"  # without the contents


class Outcome(NamedTuple):
    """Findings of a pass, the layers that it ran, and the PDF container that it validated."""

    findings: Sequence[Finding] = ()
    layers: Sequence[Layer] = ()
    container: Container | None = None


NOTHING: Final = Outcome()


class Context(NamedTuple):
    """A document prepared for the passes.

    Attributes:
        document: the document.
        selection: the selected rules.
        violations: violations of the XML schema.
        invoice: the parsed invoice.
        collector: elements that syntax rules inspect, collected while reading the invoice.
        build: builder of the findings.
        reported: elements that syntax rules or the Factur-X profile reported.
    """

    document: Document
    selection: RuleSelection
    violations: Sequence[SchemaViolation]
    invoice: Invoice
    collector: Collector
    build: FindingBuilder
    reported: set[Any]

    @classmethod
    def prepare(cls, document: Document, selection: RuleSelection, lang: Language) -> Context:
        """Validate the XML schema and read the invoice.

        If the document violates it, there may be elements in values, so the white space between elements is restored.
        Another edition has other schemas.
        """
        violations: Sequence[SchemaViolation] = ()
        if selection.is_judged:
            if not document.has_blanks and not schema.is_valid(document.tree, selection.schema, document.utf8):
                document = document.with_blanks()
            violations = _schema_violations(document, selection)
        profile, divided = selection.profile, text_nodes(document.root, document.xml, document.utf8)
        collector = Collector(document.root, selection.stack, profile.name if profile else "", selection.data, divided)
        invoice = reader.read(document.root, collector)
        build = FindingBuilder(document.xml, invoice, selection, bool(violations), lang)
        return cls(document, selection, violations, invoice, collector, build, set())

    def not_run(self, code: str, layers: Iterable[str], **values: str) -> Outcome:
        """Return an error for each layer that did not run."""
        names = tuple(layers)
        return Outcome(
            [self.build.of_entry(code, name, self.document.root, {"layer": name, **values}) for name in names],
            [Layer(name, {}, executed=False) for name in names],
        )


def _schema_violations(document: Document, selection: RuleSelection) -> Sequence[SchemaViolation]:
    """Return the violations of the XML schema, but for what the schema of the Factur-X profile allows."""
    if not document.has_blanks:
        return ()
    violations, profile = schema.violations(document.tree, selection.schema), selection.profile
    if not violations or profile is None or profile.is_schema:
        return violations
    from einvoice.facturx.structure import is_allowed

    kept = [it for it in violations if not is_allowed(it, profile)]
    return kept if any(it.code != schema.UNSEEN for it in kept) else ()


def xml_schema(context: Context) -> Outcome:
    """Report the violations of the XML schema."""
    return Outcome(
        [context.build.of_schema(it, "schema") for it in context.violations], [context.selection.schema_layer]
    )


def declaration(context: Context) -> Outcome:
    """Report a specification (BT-24) that is missing, unknown, outdated, or validated only in part."""
    identity, declared = context.selection.identity_of(context.document.identity), context.invoice.specification
    if declared and (parts := context.collector.text_nodes.get(declared.node)):
        identity = replace(identity, parts=parts)
    found, root = remarks(identity), context.document.root
    if not found:
        return NOTHING
    node = declared.node if declared else next(root.iterchildren("{*}ExchangedDocumentContext"), root)
    return Outcome([context.build.of_entry(it.code, "file", node, it.values) for it in found])


def not_judged(context: Context) -> Outcome:
    """Report only the declaration: a document of another edition has other rules, in all layers."""
    selection = context.selection
    names = ("schema", *dict.fromkeys((*(name for name, _ in selection.stack), *selection.missing)))
    return Outcome(declaration(context).findings, [Layer(name, {}, executed=False) for name in names])


def profile(context: Context) -> Outcome:
    """Report violations of the XML schema of the Factur-X profile."""
    profile = context.selection.profile
    if profile is None or profile.is_schema:
        return NOTHING
    from einvoice.facturx.structure import schema_violations

    reported = [violation.element for violation in context.violations]
    violations = list(schema_violations(context.document.tree, profile, reported))
    context.reported.update(it.element for it in violations)
    return Outcome([context.build.of_schema(it, profile.ruleset) for it in violations])


def rules(context: Context) -> Outcome:
    """Run the rules; a layer that does not run to completion is reported as an error."""
    selection, missing = context.selection, NOTHING
    if selection.missing:
        missing = context.not_run("LAYER-MISSING", selection.missing, profile=selection.identity.profile)
    try:
        findings = _rule_findings(context)
        of_syntax_rules, stopped = _syntax_rule_findings(context)
    except Exception as error:
        # A failed layer must neither stop a batch nor count as run.
        import logging  # on use: takes longer to import than a rule layer to run

        logging.getLogger("einvoice").exception("A rule layer failed")
        names = (name for name, _ in selection.stack)
        failed = context.not_run("LAYER-FAILED", names, reason=type(error).__name__)
        return Outcome([*failed.findings, *missing.findings], [*failed.layers, *missing.layers])
    layers: Sequence[Layer] = selection.layers
    if stopped:
        layers = [replace(it, executed=False) if it.name in stopped else it for it in layers]
    return Outcome([*findings, *of_syntax_rules, *missing.findings], [*layers, *missing.layers])


def _rule_findings(context: Context) -> list[Finding]:
    found = FindingsByCode()
    for violation in context.selection.program.run(context.invoice, context.collector.groups):
        if layer := _layer_of(violation.rule, context.selection):
            rule = violation.rule
            found.add(rule.code, rule.severity, partial(context.build.of_rule, violation, layer))
    return found.findings()


def _syntax_rule_findings(context: Context) -> tuple[list[Finding], set[str]]:
    """Return the findings of the syntax rules, and the layers whose official Schematron stops."""
    reported = context.reported
    found = FindingsByCode()
    stopped: list[tuple[SyntaxViolation, str]] = []
    for violation in context.collector.violations():
        layer = _layer_of(violation.rule, context.selection)
        if not layer or (violation.code == _NOT_USED and not reported.isdisjoint(violation.found)):
            continue
        if violation.rule.check in STOPS:
            part = context.selection.imported.get(layer)
            if part is None or violation.rule.argument not in part.replaced:  # else the imported sheet stops, or not
                stopped.append((violation, layer))
            continue
        reported.update(violation.found)
        build = partial(context.build.of_syntax_rule, violation, layer)
        found.add(violation.code, violation.rule.severity, build)
    at: dict[Any, tuple[SyntaxViolation, str]] = {}
    for violation, layer in stopped:
        at.setdefault(violation.element, (violation, layer))
    for violation, layer in at.values():  # an element at which several layers stop is reported once
        reported.update(violation.found)
        found.add(STOPPED, "", partial(repetition.stopped, context.build, violation, layer))
    return found.findings(), {layer for _, layer in stopped}


def _layer_of(rule: Rule | SyntaxRule, selection: RuleSelection) -> str:
    """Return the layer of a rule for the document; "" if the rule does not apply."""
    return rule.layer if selection.profile is None else selection.profile.layer_of(rule)


def unmapped(context: Context) -> Outcome:
    """Report content that no business term covers, unless a rule or the XML schema reports it."""
    if context.violations:
        return NOTHING
    if not context.invoice.unmapped:
        return NOTHING
    elements = [it for it in context.invoice.unmapped if context.reported.isdisjoint((it, *it.iterancestors()))]
    rules = context.selection.profile
    profile = {"profile": rules.title} if rules and rules.is_schema else {}  # the profile provides for the content
    stated = next((it.note.raw for it in context.invoice.payment_terms if it.note.filled), "")
    lines = {it.node: it for it in context.invoice.lines}
    found = FindingsByCode(_MAX_UNMAPPED)
    for it in elements:
        values = {**_names_of(it), **profile}
        line = next((lines[around] for around in it.iterancestors() if around in lines), None)
        if line is not None and line.identifier.filled:
            values |= {"of_line": line.identifier.raw, **({"profile_of_line": "true"} if profile else {})}
        if "payment_terms" in values and stated:
            values["stated"] = stated
        found.add(_UNMAPPED, "", partial(context.build.of_entry, _UNMAPPED, "file", it, values))
    return Outcome(found.findings())


def _names_of(element: Any) -> Mapping[str, str]:
    """Return the name of an element, of its parent ("Name" alone may be anybody's), and of payment terms around it."""
    name, parent, *others = [etree.QName(it).localname for it in (element, *element.iterancestors())]
    whose = others[0] if others and others[0].endswith(parent) else parent  # AccountingSupplierParty, not Party
    terms = next((it for it in (name, parent, *others) if it in _PAYMENT_TERMS), "")
    path = "/".join(("", *others[:1], parent, name))
    kinds = {kind: name for kind, names in _OF_NO_USE.items() if name in names}
    return {"element": name, "parent": whose, "path": path, **({"payment_terms": terms} if terms else kinds)}


def repeated(context: Context) -> Outcome:
    """Report terms that the standard allows once and the document gives several times, unless a rule reports it."""
    if context.violations or context.selection.profile:  # a profile may allow it
        return NOTHING
    pairs = [*context.invoice.repeated, *repetition.surplus(context.invoice)]
    if not pairs:
        return NOTHING
    found = FindingsByCode(_MAX_UNMAPPED)
    for first, further in pairs:
        is_reported = not context.reported.isdisjoint((further.node, *further.node.iterancestors()))
        if not is_reported and not getattr(further, "attribute", None):
            found.add(REPEATED, "", partial(repetition.repeated, context.build, first, further))
    return Outcome(found.findings())


def encoding(context: Context) -> Outcome:
    """Report an XRechnung that is not in UTF-8, which no rule about its content can see."""
    selection = context.selection
    if not selection.plausibility or "xrechnung" not in selection.rulesets:
        return NOTHING
    data = context.document.xml
    declaration = data[: data.find(b"?>", 0, 200)].lower()
    if b'encoding="utf-8"' in declaration or b"encoding='utf-8'" in declaration:  # quick, and never so in UTF-16
        return NOTHING
    found = transcode(data).codec
    if found in _UTF_8:
        return NOTHING
    shown = "utf-16" if found.startswith("utf-16") else found.replace("iso8859", "iso-8859").replace("cp", "windows-")
    values = {"encoding": shown.upper()}
    return Outcome([context.build.of_entry(_ENCODING, "plausibility", context.document.root, values)])


def test_document(context: Context) -> Outcome:
    """Report a CII document that is marked as a test, which has no business term."""
    if not context.selection.plausibility or not context.invoice.unmapped:
        return NOTHING
    marks = (it for it in context.invoice.unmapped if str(it.tag).endswith("}TestIndicator"))
    marked = [it for it in marks if "".join(it.itertext()).strip() in ("true", "1")]
    return Outcome([context.build.of_entry(_TEST_DOCUMENT, "plausibility", it, {}) for it in marked[:1]])


def container(context: Context) -> Outcome:
    """Validate the PDF around the invoice."""
    hybrid = context.document.hybrid
    if hybrid is None:
        return NOTHING
    from einvoice.validation.container import validate_container

    document = context.document
    pages = document.pages.result() if document.pages else None
    container, layer = validate_container(document.data, hybrid, context.build, context.invoice, pages)
    return Outcome(container.findings, [layer], container)


Pass: TypeAlias = Callable[[Context], Outcome]

NATIVE: Final[Sequence[Pass]] = (
    xml_schema,
    declaration,
    profile,
    rules,
    unmapped,
    repeated,
    encoding,
    test_document,
)
"""The passes with the rules of einvoice, in order."""


class Run(NamedTuple):
    """A finished run.

    Attributes:
        context: the document and its selection.
        findings: sorted by layer, position in the document, and code.
        layers: in order of execution.
        container: the PDF container; None for an XML file.
    """

    context: Context
    findings: tuple[Finding, ...]
    layers: tuple[Layer, ...]
    container: Container | None


def run(
    document: Document,
    selection: RuleSelection,
    lang: Language,
    passes: Sequence[Pass] = NATIVE,
    container: Pass | None = None,
) -> Run:
    """Validate a document with the selected rules.

    Args:
        document: the document.
        selection: the rules; a document that they do not judge has none of the passes.
        lang: default language of the findings.
        passes: the passes for the XML.
        container: the pass for the PDF around it; None for none.
    """
    context = Context.prepare(document, selection, lang)
    passes = passes if selection.is_judged else (not_judged,)
    findings: list[Finding] = []
    layers: list[Layer] = []
    validated: Container | None = None
    for each in (*passes, container) if container else passes:
        outcome = each(context)
        findings += outcome.findings
        layers += outcome.layers
        validated = outcome.container or validated
    return Run(context, _sorted(findings, layers, context), tuple(layers), validated)


def _sorted(findings: list[Finding], layers: Sequence[Layer], context: Context) -> tuple[Finding, ...]:
    if len(findings) < 2:
        return tuple(findings)
    ranks = {name: rank for rank, name in enumerate(("file", *dict.fromkeys(layer.name for layer in layers)))}
    order = context.build.places.order()

    def rank(it: Finding) -> tuple[int, bool, int, str]:
        place = order.get(it.location.node, -1)
        is_first = it.code.startswith(_OF_DECLARATION)
        return ranks[it.layer], not is_first, place, "" if is_first else it.code

    return tuple(sorted(findings, key=rank))
