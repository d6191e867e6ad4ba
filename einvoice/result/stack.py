"""The validation stack: the layers that validated a document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from einvoice.localization import Language, choose

Mode: TypeAlias = Literal["current", "compatibility"]
Status: TypeAlias = Literal["current", "outdated", "unknown"]
Engine: TypeAlias = Literal["native", "reference", "both"]


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of the validation stack, executed or not.

    Attributes:
        name: "schema", or the name of the rule set, such as "en16931" or "xrechnung".
        title: name of the schema or rule set, by language; empty if the layer has none.
        version: release of the rule set.
        specification: version of the specification that the release implements, if numbered differently ("3.0.2").
        date: publication date of the release, ISO 8601; "" if unknown.
        sha256: hash of the rule data, hexadecimal; "" if there is none.
        executed: whether the layer ran to completion.
        rules: number of evaluated rules.
        kind: of the rule set: "en16931", "cius", "extension" or "profile"; "imported" for an imported sheet; "" for
            the schema.
        label: short name of the rule set, such as "XRechnung"; "" for the schema.
        problem: catalog code of why an official artefact did not run, such as "REFERENCE-TIME"; "" if it ran.
    """

    name: str
    title: Mapping[str, str]
    version: str = ""
    specification: str = ""
    date: str = ""
    sha256: str = ""
    executed: bool = True
    rules: int = 0
    kind: str = ""
    label: str = ""
    problem: str = ""

    def title_in(self, lang: Language) -> str:
        """Return the title in a language; "" if the layer has none."""
        return choose(self.title, lang) if self.title else ""

    def description(self, lang: Language) -> str:
        """Return one line, such as "XRechnung, Schematron-Regeln der KoSIT, 2.6.0 (XRechnung 3.0.2)"."""
        title = self.title_in(lang)
        specification = f" ({self.label} {self.specification})" if self.specification else ""
        return f"{title}, {self.version}{specification}" if self.version else title

    def to_dict(self, lang: Language) -> dict[str, Any]:
        """Return the layer as plain data, ready for JSON."""
        from einvoice.render.json import layer_dict

        return layer_dict(self, lang)


@dataclass(frozen=True, slots=True)
class Stack:
    """The layers that validated a document, in order.

    Attributes:
        mode: requested mode, "current" or "compatibility".
        status: status of the declared specification: "current", "outdated" or "unknown".
        layers: the layers in order of execution.
        national: default CIUS of this installation (XRechnung), applied or not.
        engine: "native" (rules of einvoice), "reference" (official Schematron) or "both" (the official Schematron in
            addition; the rules of einvoice decide).
    """

    mode: Mode
    status: Status
    layers: tuple[Layer, ...]
    national: Layer
    engine: Engine = "native"

    def layer(self, name: str) -> Layer | None:
        """Return the layer with this name; None if the stack has none."""
        return next((layer for layer in self.layers if layer.name == name), None)

    @property
    def complete(self) -> bool:
        """Whether every layer ran to completion."""
        return all(layer.executed for layer in self.layers)
