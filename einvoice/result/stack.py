"""Which rules judged a document: the layers of its stack, and how the declared specification stands to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Mode: TypeAlias = Literal["current", "compatibility"]
Status: TypeAlias = Literal["current", "outdated", "unknown"]
Engine: TypeAlias = Literal["native", "reference", "both"]


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of a stack, run or not.

    Attributes:
        name: "schema", "en16931", "cius", "extension" or "profile".
        title: what judged, by language: a schema or a rule set; empty where there was nothing to judge by.
        version: release of that rule set.
        specification: version of the specification that the release judges, where it is numbered apart ("3.0.2").
        date: when the release was published, ISO 8601; "" where that is not known.
        sha256: of the rule data, in hexadecimal digits; "" where there is none.
        executed: whether the layer ran to its end.
        rules: how many rules were evaluated.
    """

    name: str
    title: Mapping[str, str]
    version: str = ""
    specification: str = ""
    date: str = ""
    sha256: str = ""
    executed: bool = True
    rules: int = 0

    def description(self, lang: str) -> str:
        """The layer in one line, such as "XRechnung, Schematron-Regeln der KoSIT, 2.6.0 (XRechnung 3.0.2)"."""
        title = self.title.get(lang, "")
        judged = f" ({title.partition(',')[0]} {self.specification})" if self.specification else ""
        return f"{title}, {self.version}{judged}" if self.version else title

    def to_dict(self, lang: str) -> dict[str, Any]:
        """The layer as the HTTP interface answers it, ready for JSON."""
        return {
            "name": self.name,
            "title": self.title.get(lang, ""),
            "version": self.version,
            "sha256": self.sha256,
            "executed": self.executed,
            "rules": self.rules,
        }


@dataclass(frozen=True, slots=True)
class Stack:
    """The layers that a document was judged by, in order.

    Attributes:
        mode: "current" or "compatibility", as asked for.
        status: whether the document declares a current specification, an outdated or an unknown one.
        layers: the layers, in the order in which they ran.
        national: the national rule set (XRechnung) of this installation, whether it was applied or not.
        engine: who judged: "native", the rules of this program; "reference", the official artefacts; "both", these
            beside the former, whose verdict counts.
    """

    mode: Mode
    status: Status
    layers: tuple[Layer, ...]
    national: Layer
    engine: Engine = "native"

    def layer(self, name: str) -> Layer | None:
        """The layer of this name; None where the stack has none."""
        return next((layer for layer in self.layers if layer.name == name), None)

    @property
    def complete(self) -> bool:
        """Whether every layer ran to its end."""
        return all(layer.executed for layer in self.layers)
