"""The rules that validate each Factur-X profile, read from ``rules/facturx/profiles.toml``."""

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
from einvoice.rulebook.program.program import Program
from einvoice.rulebook.rule import Rule
from einvoice.rulebook.syntax_rules.rule import SyntaxRule
from einvoice.rulebook.syntax_rules.table import rule_table
from einvoice.syntax import schema
from einvoice.syntax.detect import Identity

LAYER: Final = "profile"
_BASE: Final = "en16931"
Versions: TypeAlias = tuple[tuple[str, str], ...]
"""The release of each named rule set; for all others, the newest release is used."""
_PROGRAM: Final = (_BASE, LAYER)


@dataclass(frozen=True, slots=True)
class ProfileRules:
    """The rules of a Factur-X profile.

    Attributes:
        name: name in the tables, such as "basicwl".
        title: name in the specification, such as "BASIC WL".
        schema: "schema" if the profile's XML schema replaces that of CII, "profile" if it applies in addition.
        replaces_en16931: whether "profile" is the only layer of rules, since the document is not an invoice under
            EN 16931.
        en16931_rules: codes of the rules of EN 16931 that apply; None if all apply.
        rule_prefix: code prefix of the rules in `rules/facturx` that apply; "" if none do.
    """

    name: str
    title: str
    schema: str
    replaces_en16931: bool = False
    en16931_rules: frozenset[str] | None = None
    rule_prefix: str = ""

    @property
    def is_schema(self) -> bool:
        """Whether the profile's XML schema replaces that of CII."""
        return self.schema == "schema"

    def layer_of(self, rule: Rule | SyntaxRule) -> str:
        """Return the layer of a rule of EN 16931 or Factur-X in this profile; "" if the rule does not apply."""
        code, layer = rule.code, rule.layer
        if layer == LAYER:  # the collector only evaluates the syntax rules of this profile
            has_prefix = self.rule_prefix and code.startswith(self.rule_prefix)
            return layer if isinstance(rule, SyntaxRule) or has_prefix else ""
        if self.en16931_rules is not None and code not in self.en16931_rules:
            return ""
        return LAYER if self.replaces_en16931 else layer

    def program(self, versions: Versions = ()) -> Program:
        """Return the compiled rules in the given releases, including rules that do not apply to the profile."""
        return engine.rulebook().program("CII", _PROGRAM, dict(versions))

    def layers(self, versions: Versions = ()) -> tuple[Layer, ...]:
        """Return the layers of the validation stack."""
        names = (LAYER,) if self.replaces_en16931 else _PROGRAM
        return tuple(self._layer(name, versions) for name in names)

    def _layer(self, name: str, versions: Versions) -> Layer:
        program = self.program(versions)
        rules = [rule.code for rule in program.rules if self.layer_of(rule) == name]
        syntax_rules = [
            (rule.code, rule.context, rule.check, rule.path, rule.argument, rule.severity)
            for rule in rule_table("CII", self.name, dict(versions)).rules
            if self.layer_of(rule) == name
        ]
        layer = next(layer for layer in program.layers if layer.name == name)
        digest = hashlib.sha256(f"{layer.sha256} {rules} {syntax_rules}".encode())
        title = layer.title
        if name == LAYER:
            digest.update(schema.sha256(self.name).encode())
            title = {language: f"{text}, {self.title}" for language, text in layer.title.items()}
        count = len(rules) + len(syntax_rules)
        return Layer(name, title, layer.version, layer.specification, layer.date, digest.hexdigest(), True, count)


def rules_of(identity: Identity) -> ProfileRules | None:
    """Return the rules of the profile that a document declares; None if it is not a Factur-X document.

    Raises:
        RuleError: ``rules/facturx/profiles.toml`` is invalid.
    """
    name = identity.specification.facturx_profile
    return profile_rules()[name] if name else None


@functools.cache
def profile_rules() -> Mapping[str, ProfileRules]:
    """Return the rules of all profiles by name, from the smallest profile to the largest.

    Raises:
        RuleError: ``rules/facturx/profiles.toml`` is invalid.
    """
    file = rules_folder() / "facturx" / "profiles.toml"
    profiles = {}
    for name, table in tomllib.loads(file.read_text("utf-8")).items():
        codes = frozenset(table.pop("en16931_rules")) if "en16931_rules" in table else None
        try:
            profiles[name] = ProfileRules(name=name, en16931_rules=codes, **table)
        except TypeError as error:
            raise RuleError(str(error), file=f"facturx/{file.name}", key=name) from None
    return profiles
