"""The levels of Factur-X, read from ``rules/facturx/profiles.toml``."""

from __future__ import annotations

import functools
import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from einvoice.errors import RuleError
from einvoice.resources import rules_folder
from einvoice.result import Layer
from einvoice.rulebook.program import engine
from einvoice.rulebook.rule import Rule
from einvoice.rulebook.syntax_rules.rule import SyntaxRule
from einvoice.rulebook.syntax_rules.table import rule_table
from einvoice.syntax import schema
from einvoice.syntax.detect import Identity

LAYER: Final = "profile"
_BASE: Final = "en16931"
Versions: TypeAlias = tuple[tuple[str, str], ...]
"""The release of each rule set; the newest of those that are not named."""
_PROGRAM: Final = (_BASE, LAYER)


@dataclass(frozen=True, slots=True)
class Level:
    """A level of Factur-X.

    Attributes:
        name: as the tables call it, such as "basicwl".
        title: as the specification calls it, such as "BASIC WL".
        schema: "schema" where the level's own XML schema is that of the document, else "profile".
        alone: whether the layer of the level is the only one that judges: the document is no invoice under EN 16931.
        keeps: the rules of EN 16931 that judge documents of the level; None for all.
        own: how the codes of the rules of `rules/facturx` begin that judge it; "" where none does.
    """

    name: str
    title: str
    schema: str
    alone: bool = False
    keeps: frozenset[str] | None = None
    own: str = ""

    @property
    def is_schema(self) -> bool:
        """Whether the level's own XML schema is that of the document."""
        return self.schema == "schema"

    def layer_of(self, rule: Rule | SyntaxRule) -> str:
        """The layer that a rule of EN 16931 or of Factur-X belongs to in documents of the level; "" for none."""
        code, layer = rule.code, rule.layer
        if layer == LAYER:  # of the rules about elements only those of the level are asked at all
            return layer if isinstance(rule, SyntaxRule) or (self.own and code.startswith(self.own)) else ""
        if self.keeps is not None and code not in self.keeps:
            return ""
        return LAYER if self.alone else layer

    def program(self, versions: Versions = ()) -> engine.Program:
        """The rules to run, in certain releases; those that do not judge the level are among them."""
        return engine.rulebook().program("CII", _PROGRAM, dict(versions))

    def layers(self, versions: Versions = ()) -> tuple[Layer, ...]:
        """What the validation stack says of the layers that judge the level."""
        names = (LAYER,) if self.alone else _PROGRAM
        return tuple(self._layer(name, versions) for name in names)

    def _layer(self, name: str, versions: Versions) -> Layer:
        program = self.program(versions)
        rules = [rule.code for rule in program.rules if self.layer_of(rule) == name]
        rows = [
            (rule.code, rule.context, rule.check, rule.path, rule.argument, rule.severity)
            for rule in rule_table("CII", self.name, dict(versions)).rules
            if self.layer_of(rule) == name
        ]
        about = next(layer for layer in program.layers if layer.name == name)
        digest = hashlib.sha256(f"{about.sha256} {rules} {rows}".encode())
        title = about.title
        if name == LAYER:
            digest.update(schema.sha256(self.name).encode())
            title = {language: f"{text}, {self.title}" for language, text in about.title.items()}
        count = len(rules) + len(rows)
        return Layer(name, title, about.version, about.specification, about.date, digest.hexdigest(), True, count)


def level_of(identity: Identity) -> Level | None:
    """The level that a document declares; None if it is no Factur-X document.

    Raises:
        RuleError: ``rules/facturx/profiles.toml`` is wrong.
    """
    name = identity.specification.facturx_profile
    return levels()[name] if name else None


@functools.cache
def levels() -> Mapping[str, Level]:
    """The levels by name, from the smallest to the largest.

    Raises:
        RuleError: ``rules/facturx/profiles.toml`` is wrong.
    """
    file = rules_folder() / "facturx" / "profiles.toml"
    known = {}
    for name, table in tomllib.loads(file.read_text("utf-8")).items():
        keeps = frozenset(table.pop("keeps")) if "keeps" in table else None
        try:
            known[name] = Level(name=name, keeps=keeps, **table)
        except TypeError as error:
            raise RuleError(str(error), file=f"facturx/{file.name}", key=name) from None
    return known
