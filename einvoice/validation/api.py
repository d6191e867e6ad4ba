"""`einvoice.validate` and `einvoice.read`: open the document, select the rules, run the passes."""

from __future__ import annotations

import datetime
import errno
import os
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from einvoice.authoring.added import rule_data
from einvoice.localization.options import language
from einvoice.model.invoice import Invoice
from einvoice.resources import imported_manifests
from einvoice.result import Engine, Finding, Language, Mode, Options, SourceDocument, Stack, ValidationResult
from einvoice.result.options import picture as is_picture_on
from einvoice.result.options import plausibility as is_plausibility_on
from einvoice.rulebook.releases import Release, releases
from einvoice.syntax import reader, xml
from einvoice.syntax.detect import Identity
from einvoice.validation import pipeline
from einvoice.validation.limits import limited, limited_differences
from einvoice.validation.pipeline import NATIVE, Context, Document, Outcome, Pass, Run, run
from einvoice.validation.selection import RuleSelection, select

if TYPE_CHECKING:
    from einvoice.reference import ReferenceResult
    from einvoice.resources import RuleData
    from einvoice.result import Agreement
    from einvoice.result.differences import Difference


def read(source: xml.Source, *, lang: Language | None = None) -> Invoice:
    """Read an invoice without validating it.

    Args:
        source: a path, bytes, or a binary file; UBL, CII, or a hybrid PDF.
        lang: language in which a notebook displays it, such as "de"; default: `einvoice.options.lang`.

    Raises:
        UnreadableDocument: one of its subclasses; see `einvoice.errors`.
        ValueError: the language is not supported.
        OSError: the file cannot be opened.
    """
    selected = language(lang)
    return reader.read(Document.open(source, keep_blanks=True).root).in_language(selected)


@reader.gc_paused
def validate(
    source: xml.Source | Invoice,
    *,
    lang: Language | None = None,
    mode: Mode = "current",
    profile: str | None = None,
    ruleset: str | None = None,
    as_of: datetime.date | None = None,
    engine: Engine = "native",
    plausibility: bool | None = None,
    picture: bool | None = None,
    rules: str | Path | None = None,
) -> ValidationResult:
    """Validate an invoice against its XML schema and the rules of the specification that it declares.

    The business rules run even if the document violates its XML schema; their findings are then `indicative`. A
    document that declares another edition of EN 16931 than 2017 (BT-24) is never judged, whatever the arguments: its
    rules are not here, which is an error.

    Args:
        source: a path, bytes, or a binary file; UBL, CII, or a hybrid PDF. Or an `Invoice`, which is written as a
            document first: in the syntax that it was read from, else in UBL, see `Invoice.write`. Findings then refer
            to that document, `result.document.data`; it has no elements without a business term, and no PDF around it.
        lang: default language of the texts, one of `einvoice.localization.languages()`; findings have all of them.
            Default: `einvoice.options.lang`.
        mode: "current" uses the current rule set: the newest in force, or the one that the environment variable
            EINVOICE_RULESET names. "compatibility" uses the last rule set of the specification that the document
            declares, and lists the differences from the current one in `differences`.
        profile: name of a rule set that validates the document, with those that it builds on, whatever the document
            declares: "xrechnung" is EN 16931 and XRechnung. "facturx" treats a CII document that declares EN 16931 as
            the Factur-X profile EN 16931, which has the same identifier.
        ruleset: the rule set to use whatever the document declares, such as "xrechnung-2.0.1" (with the EN 16931
            release that it was published with) or "en16931-1.3.12" (without national rules).
        as_of: date; the rule set in force on that day is used.
        engine: "native" uses the rules of einvoice. "reference" uses the official artefacts: those installed by
            `einvoice rules add`, or the bundled ones, which do not cover every document. "both" uses the rules of
            einvoice, and lists the differences from the official artefacts in `agreement`. "reference" and "both"
            need the extra "reference".
        plausibility: whether to report, as information, what the official rules do not check: check digits, quantity
            times price, dates that do not exist. Default: on, unless the environment variable EINVOICE_PLAUSIBILITY is
            "off". The engine "reference" never reports it.
        picture: whether to compare the pages of a hybrid PDF with its XML: number, dates, totals, currency, account and
            VAT numbers. Findings are warnings on the container, and never change the verdict. Default: on, unless the
            environment variable EINVOICE_PICTURE is "off".
        rules: folder or archive of further rule sets. One that a specification of its own names validates the documents
            that declare it; any other validates all documents that its base validates. Default: the folder in the
            environment variable EINVOICE_RULES_DIR, read once, or none.

    Raises:
        UnreadableDocument: the file cannot be read as an invoice; one of its subclasses (see `einvoice.errors`).
        RuleError: a file in `rules` is invalid.
        ValueError: an argument has an unknown value; the message lists the valid ones.
        OSError: the file cannot be opened; for a folder, use `einvoice.validate_many`.
    """
    started = time.perf_counter()
    lang = language(lang)
    data = rule_data(rules)
    options = Options(
        lang=lang,
        mode=mode,
        profile=profile,
        ruleset=ruleset,
        as_of=as_of,
        engine=engine,
        plausibility=is_plausibility_on(plausibility),
        picture=is_picture_on(picture),
        data=data,
    )
    document = _open(source, data, picture=options.picture)
    try:
        return _validated(document, options, pipeline.container if document.hybrid else None, started)
    finally:
        document.close()


@reader.gc_paused
def revalidate(result: ValidationResult, data: bytes) -> ValidationResult:
    """Validate a changed XML document with the options of an earlier result.

    The PDF around the invoice, if there is one, is not validated again: its findings are those of the earlier result.

    Raises:
        UnreadableDocument: the data is not an invoice.
    """
    started = time.perf_counter()
    document = Document.open(data, result.options.data)._replace(filename=result.filename)
    container = partial(_same_container, result) if result.container else None
    return _validated(document, result.options, container, started)


def _same_container(result: ValidationResult, _: Context) -> Outcome:
    layers = [layer for layer in result.stack.layers if layer.name == "pdf"]
    return Outcome([it for it in result.findings if it.layer == "pdf"], layers, result.container)


def _validated(document: Document, options: Options, container: Pass | None, started: float) -> ValidationResult:
    """Validate a document; `container` is the pass for the PDF around it."""
    lang, engine = options.lang, options.engine
    selection = select(document.identity, options, hybrid=container is not None)
    identity = selection.identity_of(document.identity)
    with_reference = engine != "native" and selection.is_judged
    reference_result = _reference_result(document, identity) if with_reference else None
    passes = _passes(reference_result if engine == "reference" else None)
    done = run(document, selection, lang, passes, container)
    differences = () if engine == "reference" else _differences(document, selection, options)
    agreement = _agreement(reference_result, done) if reference_result and engine == "both" else None
    return ValidationResult(
        findings=limited(done.findings),
        identity=identity,
        stack=Stack(options.mode, selection.status, done.layers, selection.national, engine),
        document=SourceDocument(document.xml, lang, done.context.invoice),
        lang=lang,
        filename=document.filename,
        processing_time_ms=round((time.perf_counter() - started) * 1000),
        container=done.container,
        differences=differences,
        agreement=agreement,
        options=options,
    )


def validate_xml(
    data: bytes, options: Options, *, hybrid: bool = False, exhausted: dict[str, str] | None = None
) -> Run:
    """Validate an XML document again with the options of an earlier validation, by the rules of einvoice.

    Args:
        data: the XML.
        options: options of the earlier validation.
        hybrid: whether the XML was embedded in a PDF, and is therefore a Factur-X document.
        exhausted: the layers whose imported sheet reached a limit, with the reason; for validations of variants of a
            document, of which each would take as long. Those are not run again, and new ones are added.

    Raises:
        UnreadableDocument: the data is not an invoice.
    """
    document, passes = Document.open(data, options.data), _rules_of_releases(exhausted)
    return run(document, select(document.identity, options, hybrid=hybrid), options.lang, passes)


def _open(source: xml.Source | Invoice, data: RuleData, *, picture: bool) -> Document:
    try:
        return Document.open(source.write() if isinstance(source, Invoice) else source, data, picture=picture)
    except OSError:
        if isinstance(source, str | os.PathLike) and Path(source).is_dir():
            message = "is a folder; to validate its files, use einvoice.validate_many"
            raise IsADirectoryError(errno.EISDIR, message, os.fspath(source)) from None
        raise


def _passes(reference_result: ReferenceResult | None) -> Sequence[Pass]:
    """Return the passes for XML; with a reference result, those of the official artefacts."""
    if reference_result is not None:
        from einvoice.validation.reference import passes_of

        return passes_of(reference_result)
    if not imported_manifests():
        return NATIVE
    from einvoice.validation import imported  # imported on use: most installations have no imported sheets

    return (*_rules_of_releases(), imported.judged)


def _rules_of_releases(exhausted: dict[str, str] | None = None) -> Sequence[Pass]:
    """Return the passes with the rules of all releases, also of imported ones; `exhausted` as of `validate_xml`."""
    if not imported_manifests():
        return NATIVE
    from einvoice.validation import imported  # imported on use, as above

    rules = partial(imported.rules, exhausted={} if exhausted is None else exhausted)
    return [rules if it is pipeline.rules else it for it in NATIVE]


def _reference_result(document: Document, identity: Identity) -> ReferenceResult:
    """Run the official artefacts. Imported on use: Saxon is optional and heavy."""
    from einvoice import reference

    return reference.validate(document.xml, identity)


def _agreement(reference_result: ReferenceResult, done: Run) -> Agreement:
    from einvoice.validation.reference import agreement

    return agreement(reference_result, done)


def _differences(document: Document, selection: RuleSelection, options: Options) -> tuple[Difference, ...]:
    """Return the differences from the findings of the current rules, in compatibility mode."""
    if options.mode != "compatibility" or not selection.is_judged:
        return ()
    known, release = releases(selection.data), selection.release
    current = known.current(release.ruleset)
    if release == current:
        return ()
    from einvoice.result.differences import compare

    def findings(other: Release) -> tuple[Finding, ...]:
        return run(document, selection.with_release(other), options.lang, _rules_of_releases()).findings

    return limited_differences(compare(findings, release, current, known))
