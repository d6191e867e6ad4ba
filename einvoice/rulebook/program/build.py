"""Make a program: read and prove the rules of a book, and compile what ``generate`` makes of them."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from einvoice.rulebook.files.contexts import Contexts
from einvoice.rulebook.files.load import Definition, read_definitions
from einvoice.rulebook.files.versions import RuleSet, Version, read_ruleset
from einvoice.rulebook.language import bind
from einvoice.rulebook.program.engine import Layer, RuleBook
from einvoice.rulebook.program.generate import generate
from einvoice.rulebook.program.typecheck import Proof, prove
from einvoice.rulebook.rule import Rule

BASE = "en16931"


class Shelf:
    """The rule sets of a folder, read: their releases, contexts and rules. EN 16931 is below all others."""

    def __init__(self, folder: Path) -> None:
        names = sorted((path.parent.name for path in folder.glob("*/ruleset.toml")), key=lambda name: name != BASE)
        self.sets: dict[str, RuleSet] = {name: read_ruleset(folder / name) for name in names}
        self.contexts: dict[str, Contexts] = {}
        self.definitions: dict[str, list[Definition]] = {}
        for name, ruleset in self.sets.items():
            self.contexts[name] = Contexts(folder / name, self.contexts.get(BASE))
            self.definitions[name] = read_definitions(folder / name, ruleset)

    def versions(self, chosen: Mapping[str, str]) -> dict[str, Version]:
        """The release of every rule set: the chosen one, that which goes with it, or the newest."""
        for name in chosen:
            if name not in self.sets:
                raise LookupError(f"there is no rule set '{name}', only {', '.join(self.sets)}")
        found = {
            name: ruleset.versions[ruleset.place_of(chosen.get(name, ruleset.newest))]
            for name, ruleset in self.sets.items()
        }
        for name in chosen:
            if BASE not in chosen and found[name].en16931:
                found[BASE] = self.sets[BASE].versions[self.sets[BASE].place_of(found[name].en16931)]
        return found


@functools.lru_cache(maxsize=4)
def shelf(folder: Path, digests: tuple[str, ...]) -> Shelf:
    """The rule sets of ``folder``, read once for each state of its files."""
    return Shelf(folder)


def build(book: RuleBook, syntax: str, layers: tuple[str, ...], chosen: Mapping[str, str]) -> tuple[Any, ...]:
    """What a program is made of, as plain data: rules, layers, code object, exact numbers, code lists."""
    books = shelf(book.folder, tuple(book.digest(name) for name in book.sets))
    versions = books.versions(chosen)
    proofs = []
    for name, definitions in books.definitions.items():
        for definition in definitions:
            if definition.layer in layers and definition.in_version(versions[name].name):
                proof = prove(definition, syntax, versions[name].name, books.contexts[name])
                if proof:
                    proofs.append((definition, proof))
    replaced = {code for definition, _ in proofs for code in definition.data.get("replaces", ())}
    kept = [(definition, proof) for definition, proof in proofs if definition.code not in replaced]
    rows = [_layer(book, layer, books, versions, [proof.rule for _, proof in kept]) for layer in layers]
    release = versions[BASE].name if BASE in versions else None
    return rows, *assemble([proof for _, proof in kept], syntax, release)


def assemble(proofs: Sequence[Proof], syntax: str, release: str | None = None) -> tuple[Any, ...]:
    """The rules, the code object, the exact numbers and the code lists (those of a release of EN 16931)."""
    source, numbers, lists = generate(proofs)
    code = compile(source, f"<rules for {syntax}>", "exec")
    return [tuple(proof.rule) for proof in proofs], code, numbers, bind(lists, release, syntax)


def _layer(
    book: RuleBook, layer: str, books: Shelf, versions: Mapping[str, Version], rules: Sequence[Rule]
) -> tuple[Any, ...]:
    """What the program says of a layer: the first rule set that has it, in its release, and how many rules."""
    for name, definitions in books.definitions.items():
        if any(definition.layer == layer for definition in definitions):
            release, title = versions[name], books.sets[name].title
            count = sum(rule.layer == layer for rule in rules)
            made = Layer(
                layer, name, release.name, release.specification, release.date, title, book.digest(name), count
            )
            return tuple(made)
    raise LookupError(f"no rule set has the layer '{layer}'")
