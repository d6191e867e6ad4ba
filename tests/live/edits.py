"""Mutants of documents by simple edits, alike in every syntax.

A mutant is a document with one to three edits: a text, an attribute or an element is removed, doubled, padded or
replaced by another one of the document, or an element of another document is added.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NamedTuple, TypeAlias

from lxml import etree

_PARSER: Final = etree.XMLParser(remove_comments=True, remove_pis=True, resolve_entities=False)
_NUMBERS: Final = ("0", "-1.00", "0.01", "99.995", "1000000.00")
_STEPS: Final = ("0.01", "-0.01", "1.00", "-1.00", "0.005", "0.02", "0.99")


class Words(NamedTuple):
    """What edits insert.

    Attributes:
        texts: texts of elements.
        values: values of attributes.
    """

    texts: Sequence[str]
    values: Sequence[str]


class Edit(NamedTuple):
    """Context of an edit: random numbers, the document, the chosen element, and what can be inserted."""

    chance: random.Random
    root: Any
    element: Any
    words: Words
    others: Sequence[bytes]


Prepare: TypeAlias = Callable[[random.Random, Any], str]


def mutants(
    documents: Sequence[bytes], number: int, seed: int, words: Words, prepare: Prepare | None = None
) -> Iterator[tuple[bytes, list[str]]]:
    """Yield mutants with their edits; the same ones for the same seed.

    Args:
        documents: the documents to edit.
        number: how many mutants to yield.
        seed: of the random numbers.
        words: what edits insert.
        prepare: edits every mutant first.
    """
    chance = random.Random(seed)
    for _ in range(number):
        root: Any = etree.fromstring(chance.choice(documents), _PARSER)
        done = [prepare(chance, root)] if prepare else []
        for _ in range(chance.randint(1, 3)):
            edit = chance.choice(_EDITS)
            candidates = [it for it in root.iterdescendants("*") if edit in _OF_GROUPS or not len(it)]
            if not candidates:
                break
            element = chance.choice(candidates)
            name = etree.QName(element).localname
            detail = edit(Edit(chance, root, element, words, documents)) or ""
            done.append(f"{edit.__name__.strip('_')} {name} {detail}".rstrip())
        yield etree.tostring(root), done


def _remove(edit: Edit) -> None:
    edit.element.getparent().remove(edit.element)


def _repeat(edit: Edit) -> None:
    edit.element.addnext(copy.deepcopy(edit.element))


def _repeat_before(edit: Edit) -> str:
    """Double an element, with a word in one of the texts of the first one."""
    other = copy.deepcopy(edit.element)
    edit.element.addprevious(other)
    leaf = edit.chance.choice([it for it in other.iter("*") if not len(it)])
    leaf.text = edit.chance.choice(edit.words.texts)
    return f"with {etree.QName(leaf).localname} {leaf.text!r}"


def _pad(edit: Edit) -> str:
    edit.element.text = edit.chance.choice((" {}", "{} ", "\n{}\n", "\u00a0{}", "{}0", "{}X")).format(
        edit.element.text or ""
    )
    return repr(edit.element.text)


def _empty(edit: Edit) -> None:
    edit.element.text = edit.chance.choice(("", " "))


def _exchange(edit: Edit) -> str:
    others = [it.text for it in edit.root.iter("*") if not len(it)]
    edit.element.text = edit.chance.choice([*others, *_NUMBERS])
    return repr(edit.element.text)


def _word(edit: Edit) -> str:
    """Insert a word where the text of the element is short as well: mostly a code."""
    short = [it for it in edit.root.iterdescendants("*") if not len(it) and len(it.text or "") <= 5]
    chosen = edit.chance.choice(short or [edit.element])
    chosen.text = edit.chance.choice(edit.words.texts)
    return f"{etree.QName(chosen).localname} {chosen.text!r}"


def _change_number(edit: Edit) -> str:
    numbers = [it for it in edit.root.iterdescendants("*") if not len(it) and "." in (it.text or "")]
    chosen = edit.chance.choice(numbers or [edit.element])
    try:
        changed = Decimal(chosen.text or "") + Decimal(edit.chance.choice(_STEPS))
        chosen.text = f"{changed:.{edit.chance.randint(2, 4)}f}"
    except InvalidOperation:
        chosen.text = edit.chance.choice(_NUMBERS)
    return f"{etree.QName(chosen).localname} {chosen.text!r}"


def _change_attribute(edit: Edit) -> str:
    marked = [it for it in edit.root.iter("*") if it.attrib] or [edit.element]
    chosen = edit.chance.choice(marked)
    name = edit.chance.choice([*chosen.attrib, "schemeID"])
    values = [it.get(name) for it in marked if it.get(name)]
    chosen.set(name, edit.chance.choice([*values, "", *edit.words.values]))
    return f"{etree.QName(chosen).localname}/@{name}={chosen.get(name)!r}"


def _drop_attribute(edit: Edit) -> None:
    for name in list(edit.element.attrib):
        del edit.element.attrib[name]


def _transplant(edit: Edit) -> str:
    """Add an element of another document, below a parent of the same name."""
    other = etree.fromstring(edit.chance.choice(edit.others), _PARSER)
    for _ in range(10):
        element = edit.chance.choice(list(other.iterdescendants("*")))
        parents = list(edit.root.iter(element.getparent().tag))
        if parents:
            parent = edit.chance.choice(parents)
            same = parent.findall(element.tag)
            added = copy.deepcopy(element)
            if same:
                same[-1].addnext(added)
            else:
                parent.insert(min(element.getparent().index(element), len(parent)), added)
            return str(etree.QName(element).localname)
    return "nothing"


_EDITS: Final[tuple[Callable[[Edit], str | None], ...]] = (
    _remove, _repeat, _repeat_before, _pad, _empty, _exchange, _word, _change_number, _change_attribute,
    _drop_attribute, _transplant,
)  # fmt: skip
_OF_GROUPS: Final = (_remove, _repeat, _repeat_before, _transplant)
