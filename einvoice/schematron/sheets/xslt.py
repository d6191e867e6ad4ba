"""Reads Schematron compiled to XSLT 2: its templates with assertions, as the skeleton and SchXslt write them.

An assertion is an element of SVRL in the condition that decides whether it is written. The modes of the templates are
the patterns; in SchXslt, a rule names its pattern.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from lxml import etree

from einvoice.schematron.errors import NotCompilable
from einvoice.schematron.sheets.names import SVRL, XS, XSL, children, line, message
from einvoice.schematron.sheets.sheet import Assertion, Declaration, Let, Message, Rule, Sheet

_REPORTS: Final = (f"{SVRL}failed-assert", f"{SVRL}successful-report")
_SCHXSLT: Final = "https://doi.org/10.5281/zenodo.1495494"
_ALREADY: Final = "schxslt:patterns-matched"
"""Variable of SchXslt with the patterns of which a rule has judged the node."""
_OF_PROCESSOR: Final = frozenset(
    ("archiveDirParameter", "archiveNameParameter", "fileNameParameter", "fileDirParameter", "document-uri")
)
"""Parameters of the skeleton that no assertion uses."""
_CONDITIONAL: Final = (f"{XSL}if", f"{XSL}when", f"{XSL}otherwise", f"{XSL}for-each", *_REPORTS)
_NUMBERS: Final = re.compile(r"\{(\d+(?:,\d+)*)\}")
"""Numbers in braces in an attribute, which XSLT replaces by their values, as in an unescaped `[0-9]{3}`."""


def read(root: Any) -> Sheet:
    """Read a sheet.

    Raises:
        NotCompilable: it has no assertions in a form that is known.
    """
    if (other := next(children(root, f"{XSL}include", f"{XSL}import"), None)) is not None:
        raise NotCompilable(f"line {line(other)}: it includes another stylesheet")
    if (strips := next(children(root, f"{XSL}strip-space"), None)) is not None:
        hint = "the compiled sheet would keep the blanks between elements; remove it if no assertion reads them"
        raise NotCompilable(f"line {line(strips)}: xsl:strip-space is not supported: {hint}")
    namespaces = {"xs": XS, **{key: uri for key, uri in root.nsmap.items() if key}}
    lets = [_let(it) for it in children(root, f"{XSL}variable", f"{XSL}param") if it.get("name") not in _OF_PROCESSOR]
    functions = [_declaration(it) for it in children(root, f"{XSL}function") if not _is_of_schxslt(it)]
    patterns: dict[str, list[Rule]] = {}
    for template in _templates(root):
        patterns.setdefault(_pattern(template), []).append(_rule(template, namespaces))
    for rules in patterns.values():
        rules.sort(key=lambda rule: (-rule.priority, -rule.line))  # of equal ones, the last
    if not any(rule.assertions for rules in patterns.values() for rule in rules):
        raise NotCompilable("it has no assertions that write SVRL")
    output = next(root.iter(f"{SVRL}schematron-output"), None)
    title = "" if output is None else " ".join(output.get("title", "").split())
    visits = any("@*" in it.get("select", "") for it in root.iter(f"{XSL}apply-templates") if it.get("mode"))
    default = root.get("xpath-default-namespace", "")
    return Sheet("xslt", title, namespaces, lets, functions, [*patterns.values()], default, visits)


def _templates(root: Any) -> list[Any]:
    """Return the templates with rules, in the order in which the sheet applies their modes to the document.

    A mode that it never applies belongs to an abstract pattern. Templates of one mode keep their order.
    """
    found = [
        it
        for it in children(root, f"{XSL}template")
        if it.get("match") and it.get("mode") and next(it.iter(f"{SVRL}fired-rule", *_REPORTS), None) is not None
    ]
    applied = [it.get("mode") for it in root.iter(f"{XSL}apply-templates") if it.get("select") == "/"]
    order = {mode: place for place, mode in enumerate(dict.fromkeys(applied))}
    known = [it for it in found if it.get("mode") in order]
    return sorted(known, key=lambda it: order[it.get("mode")]) or found


def _is_of_schxslt(function: Any) -> bool:
    return bool(function.get("name", "").startswith("schxslt:"))


def _pattern(template: Any) -> str:
    """Return the name of the pattern of a template."""
    named = next((it.get("pattern") for it in template.iter(f"{{{_SCHXSLT}}}rule") if it.get("pattern")), None)
    return str(named or template.get("mode"))


def _rule(template: Any, namespaces: Mapping[str, str]) -> Rule:
    lets = [_let(it) for it in template.iter(f"{XSL}variable") if not _is_conditional(it, template)]
    found = [_assertion(it, template) for it in template.iter(*_REPORTS)]
    own = _namespaces(template, namespaces)
    _check_descent(template)
    priority = _priority(template)
    return Rule(template.get("match"), priority, lets, found, own, line(template))


def _namespaces(template: Any, namespaces: Mapping[str, str]) -> dict[str, str]:
    """Return the namespaces by prefix of a template, also those that elements inside it declare.

    Raises:
        NotCompilable: a prefix has several.
    """
    found = {key: uri for key, uri in template.nsmap.items() if key}
    for _, (key, uri) in etree.iterwalk(template, events=("start-ns",)):
        if key and found.setdefault(key, uri) != uri:
            declared = (it for it in template.iterdescendants(etree.Element) if it.nsmap.get(key) == uri)
            hint = "give one of them another prefix"
            place = line(next(declared, template))
            raise NotCompilable(f"line {place}: the prefix '{key}' has two namespaces in a rule; {hint}")
    return {**namespaces, **found}


def _check_descent(template: Any) -> None:
    """Check that a template goes on to what is inside the element: all elements of a document are judged."""
    if next(template.iter(f"{XSL}apply-templates", f"{XSL}next-match", f"{XSL}apply-imports"), None) is None:
        hint = "the elements inside would not be judged; end the template with <xsl:apply-templates>"
        raise NotCompilable(f"line {line(template)}: a template without xsl:apply-templates: {hint}")


def _priority(template: Any) -> float:
    try:
        return float(template.get("priority", ""))
    except ValueError:
        raise NotCompilable(f"line {line(template)}: a template without a priority") from None


def _is_conditional(element: Any, template: Any) -> bool:
    """Return whether an element depends on a condition, but for that of SchXslt on the pattern."""
    around = itertools.takewhile(lambda it: it is not template, element.iterancestors())
    return any(it.tag in _CONDITIONAL and not _is_of_pattern(it) for it in around)


def _is_of_pattern(branch: Any) -> bool:
    siblings = children(branch.getparent(), f"{XSL}when")
    return branch.tag == f"{XSL}otherwise" and all(_ALREADY in it.get("test", "") for it in siblings)


def _assertion(report: Any, template: Any) -> Assertion:
    *loops, (test, fires_if) = _conditions(report, template)
    attributes = {it.get("name"): "".join(it.itertext()).strip() for it in children(report, f"{XSL}attribute")}
    literal = {name: _NUMBERS.sub(lambda it: it[1].replace(",", " "), value) for name, value in report.attrib.items()}
    named = {**attributes, **literal}
    code = named.get("id") or " ".join(str(named.get("test") or test).split())
    flag = named.get("flag") or named.get("role") or ""
    obstacle = "its code is calculated" if "{" in str(named.get("id", "")) else ""
    return Assertion(code, test, fires_if, flag, _message(report), line(report), tuple(loops), obstacle)


def _conditions(report: Any, template: Any) -> list[Any]:
    """Return the loops around a report, then its condition, and whether it is true where it reports."""
    loops: list[tuple[str, str]] = []
    conditions: list[tuple[str, bool]] = []
    nodes = ""
    inner = None
    for element in (report, *itertools.takewhile(lambda it: it is not template, report.iterancestors())):
        parent = element.getparent()
        if element.tag == f"{XSL}for-each":
            if inner is None:
                inner = _together(conditions)
            else:
                loops.insert(0, (_true(conditions), nodes))
            nodes, conditions = element.get("select", ""), []
        if parent.tag == f"{XSL}if":
            conditions.append((parent.get("test", ""), True))
        elif parent.tag == f"{XSL}choose" and element.tag in (f"{XSL}when", f"{XSL}otherwise"):
            conditions += (it for it in _branch(parent, element) if _ALREADY not in it[0])
    if inner is None:
        return [_together(conditions)]
    return [(_true(conditions), nodes), *loops, inner]


def _together(conditions: list[tuple[str, bool]]) -> tuple[str, bool]:
    if not conditions:
        return "true()", True
    return conditions[0] if len(conditions) == 1 else (_true(conditions), True)


def _true(conditions: list[tuple[str, bool]]) -> str:
    """Return the expression that is true if all conditions are as stated."""
    return " and ".join(f"({test})" if holds else f"not({test})" for test, holds in conditions) or "true()"


def _branch(choose: Any, branch: Any) -> Iterator[tuple[str, bool]]:
    """Yield the conditions of a branch: its own, and that none before it holds."""
    for it in children(choose):
        if it is branch:
            break
        yield it.get("test", ""), False
    if branch.tag == f"{XSL}when":
        yield branch.get("test", ""), True


def _message(report: Any) -> Message:
    text = report.find(f"{SVRL}text")
    return [] if text is None else message(text, _value_of, keeps_blanks=False)


def _value_of(element: Any) -> str | None:
    return str(element.get("select", "")) if element.tag == f"{XSL}value-of" else None


def _let(element: Any) -> Let:
    return Let(element.get("name", ""), element.get("select"), element, element.get("as", ""))


def _declaration(element: Any) -> Declaration:
    parameters = [(it.get("name"), it.get("as", "")) for it in children(element, f"{XSL}param")]
    return Declaration(element.get("name"), parameters, element.get("as", ""), element)
