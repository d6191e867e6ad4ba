"""The rules that validate each Factur-X profile, read from `rules/facturx/profiles.toml`."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

from einvoice import cache
from einvoice.errors import RuleError
from einvoice.resources import RuleData, rules_folder
from einvoice.result import Layer
from einvoice.rulebook.program.program import Layer as RuleLayer
from einvoice.rulebook.program.program import Program
from einvoice.rulebook.releases import releases
from einvoice.rulebook.rule import Rule
from einvoice.rulebook.syntax_rules.rule import SyntaxRule
from einvoice.rulebook.syntax_rules.table import RuleTable, rule_table
from einvoice.syntax import schema

_FACTURX: Final = "facturx"
_CORE: Final = "en16931"
Stack: TypeAlias = tuple[tuple[str, str], ...]
"""Rule sets, each with its release."""


class ProfileRules(NamedTuple):
    """The rules of a Factur-X profile.

    Attributes:
        name: name in the tables, such as "basicwl".
        title: name in the specification, such as "BASIC WL".
        schema: "schema" if the profile's XML schema replaces that of CII, "profile" if it applies in addition.
        replaces_en16931: whether EN 16931 is no layer of its own, since the document is not an invoice under EN 16931.
        en16931_rules: codes of the rules of EN 16931 that apply; None if all but `omitted_rules` apply.
        omitted_rules: codes of the rules of EN 16931 that do not apply.
        rule_prefixes: prefixes of the codes of the rules in `rules/facturx` that apply.
    """

    name: str
    title: str
    schema: str
    replaces_en16931: bool = False
    en16931_rules: frozenset[str] | None = None
    omitted_rules: frozenset[str] = frozenset()
    rule_prefixes: tuple[str, ...] = ()

    @property
    def ruleset(self) -> str:
        """Name of the rule set with the rules of the profiles."""
        return _FACTURX

    @property
    def is_schema(self) -> bool:
        """Whether the profile's XML schema replaces that of CII."""
        return self.schema == "schema"

    def layer_of(self, rule: Rule | SyntaxRule) -> str:
        """Return the layer of a rule in this profile; "" if the rule does not apply."""
        code, ruleset = rule.code, rule.layer
        if ruleset == _FACTURX:  # the collector only evaluates the syntax rules of this profile
            has_prefix = code.startswith(self.rule_prefixes)
            return ruleset if isinstance(rule, SyntaxRule) or has_prefix else ""
        if ruleset != _CORE:
            return ruleset
        if code in self.omitted_rules or (self.en16931_rules is not None and code not in self.en16931_rules):
            return ""
        return _FACTURX if self.replaces_en16931 else ruleset

    def layers(self, program: Program, stack: Stack, data: RuleData) -> tuple[Layer, ...]:
        """Return the layers of the validation stack.

        Args:
            program: compiled rules of the stack, including rules that do not apply to the profile.
            stack: the rule sets, each with its release.
            data: the rule data.
        """
        table = rule_table("CII", stack, self.name, data)
        shown = [layer for layer in program.layers if layer.name != _CORE or not self.replaces_en16931]
        return tuple(self._layer(layer, program, table, data) for layer in shown)

    def _layer(self, layer: RuleLayer, program: Program, table: RuleTable, data: RuleData) -> Layer:
        rules = [rule.code for rule in program.rules if self.layer_of(rule) == layer.name]
        syntax_rules = [
            (rule.code, rule.context, rule.check, rule.path, rule.argument, rule.severity)
            for rule in table.rules
            if self.layer_of(rule) == layer.name
        ]
        digest = hashlib.sha256(f"{layer.sha256} {rules} {syntax_rules}".encode())
        title = releases(data).sets[layer.name].title
        if layer.name == _FACTURX:
            digest.update(schema.sha256(self.name).encode())
            title = title.with_suffix(f", {self.title}")
        return Layer(
            layer.name,
            title,
            layer.version,
            layer.specification,
            layer.date,
            digest.hexdigest(),
            True,
            len(rules) + len(syntax_rules),
            layer.kind,
            layer.label,
        )


@functools.cache
def profile_rules() -> Mapping[str, ProfileRules]:
    """Return the rules of all profiles by name, from the smallest profile to the largest.

    Raises:
        RuleError: `rules/facturx/profiles.toml` is invalid.
    """
    file = rules_folder() / _FACTURX / "profiles.toml"
    profiles = {}
    for name, table in cache.toml(file).items():
        codes = frozenset(table.pop("en16931_rules")) if "en16931_rules" in table else None
        omitted = frozenset(table.pop("omitted_rules", ()))
        prefixes = tuple(table.pop("rule_prefixes", ()))
        try:
            profiles[name] = ProfileRules(
                name=name, en16931_rules=codes, omitted_rules=omitted, rule_prefixes=prefixes, **table
            )
        except TypeError as error:
            raise RuleError(str(error), file=f"{_FACTURX}/{file.name}", key=name) from None
    return profiles
