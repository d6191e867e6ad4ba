"""Checks of repaired documents; they compare documents token by token, without the code that edits."""

import re

from lxml import etree

import einvoice
from einvoice.editing.edits import (
    Insert,
    Move,
    Remove,
    RemoveAttribute,
    Rename,
    RenameAttribute,
    SetAttribute,
    SetNamespace,
)
from einvoice.model.location import NAMESPACES
from einvoice.repair import fixing
from einvoice.repair.search import UNMAPPED
from einvoice.syntax import xml
from tests.cases import corpus

FOLDERS = corpus.ALL
"""Folders of the comparison cases."""
TOKEN = re.compile(rb"""<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<(?:[^<>"']++|"[^"]*"|'[^']*')*+>|[^<]""", re.DOTALL)


def tokens(data):
    """Return the markup of a document and each byte of its text."""
    text = xml.transcode(data).utf8
    found = TOKEN.findall(text)
    assert b"".join(found) == text
    return found


def innermost(element, path):
    """Return the last element that exists on a path."""
    for step in path:
        found = element.xpath(step if "[" in step else f"{step}[1]", namespaces=NAMESPACES)
        if not found:
            break
        (element,) = found
    return element


def assert_untouched(before, edits, after):
    """Assert that every token outside the edited elements remains in its place, and that no other markup is new."""
    old, new = tokens(before), tokens(after)
    touched, added = set(), 0
    root = xml.parse(before).getroot()
    order = {element: number for number, element in enumerate(root.iter(etree.Element))}
    starts = [n for n, it in enumerate(old) if it.startswith(b"<") and not it.startswith((b"</", b"<!", b"<?"))]
    for edit in edits:
        (element,) = root.xpath(edit.parent if isinstance(edit, Insert) else edit.xpath, namespaces=NAMESPACES)
        if isinstance(edit, Insert):
            element = innermost(element, edit.path)
        first = starts[order[element]]
        last = end(old, first)
        if isinstance(edit, Insert):
            added += 2 * len(edit.path)
            if first == last:  # <a/> becomes <a>…</a>
                touched.add(first)
                added += 1
        elif isinstance(edit, SetAttribute | RemoveAttribute | RenameAttribute | SetNamespace):
            touched.add(first)
        elif isinstance(edit, Rename):
            touched |= {first, last}
        else:
            if isinstance(edit, Move):
                assert b"".join(old[first : last + 1]) in b"".join(new)
            while isinstance(edit, Remove | Move) and old[first - 1].isspace():
                first -= 1
            touched |= set(range(first, last + 1))
        added += not isinstance(edit, Insert)
    position = 0
    for number, token in enumerate(old):
        if number not in touched:
            position = new.index(token, position) + 1
    assert markup(new) <= markup(old) + added


def markup(found):
    return sum(token.startswith(b"<") for token in found)


def end(found, first):
    """Return the number of the token that ends an element."""
    depth = 0
    for number in range(first, len(found)):
        token = found[number]
        if token.startswith((b"<!", b"<?")) or not token.startswith(b"<"):
            continue
        depth += -1 if token.startswith(b"</") else 0 if token.endswith(b"/>") else 1
        if depth == 0:
            return number
    raise AssertionError("the element does not end")


def check_applied_edits(monkeypatch):
    """Let `fixing` check each edited document; return the list to which it is added."""
    checked, apply = [], fixing.apply

    def checking(data, edits):
        after = apply(data, edits)
        assert_untouched(data, edits, after)
        checked.append(after)
        return after

    monkeypatch.setattr(fixing, "apply", checking)
    return checked


def assert_no_worse(name, data):
    """Assert that the repaired document of a case is well-formed, and has fewer findings and none that is new."""
    result = einvoice.validate(data)
    for unsafe in (False, True):
        fixed = result.fixed(unsafe=unsafe)
        xml.parse(fixed.xml)
        assert fixed.is_changed or fixed.xml == data, name
        assert unsafe or all(it.safe for it in fixed.changes), name
        assert fixed.after.is_valid or not result.is_valid, name
        added, further = codes(fixed.after) - codes(result), len(fixed.after.findings) - len(result.findings)
        if any(it.layer == "schema" for it in result.findings):  # otherwise reported only if the schema is satisfied
            further -= sum(it.code == UNMAPPED for it in fixed.after.findings)
            added -= {UNMAPPED}
        assert not added, name
        assert further <= -fixed.is_changed, name
        assert {it.code for it in einvoice.validate(fixed.xml).findings} == codes(fixed.after), name


def codes(result):
    """Return the codes of the findings."""
    return {it.code for it in result.findings}
