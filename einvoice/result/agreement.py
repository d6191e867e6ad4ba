"""Whether the official artefacts come to the same findings as the rules of this program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from einvoice.result.finding import Finding
from einvoice.result.languages import Language
from einvoice.result.stack import Layer


@dataclass(frozen=True, slots=True)
class Agreement:
    """What a second opinion came to, layer by layer; a layer that only one of the two judged by is not compared.

    Findings are held against each other by code and severity; of the XML schema, whose messages have no codes, by
    whether there are any.

    Attributes:
        configuration: the set of artefacts that judged, as `einvoice rules list` names it; "" for those that come with
            einvoice.
        scenario: its scenario for this document, "" where it has none.
        layers: what the artefacts were and how far they came; those that did not run say so.
        compared: names of the layers that both have judged by.
        only_native: findings of this program alone.
        only_reference: findings of the artefacts alone.
    """

    configuration: str
    scenario: str
    layers: tuple[Layer, ...]
    compared: tuple[str, ...]
    only_native: tuple[Finding, ...] = ()
    only_reference: tuple[Finding, ...] = ()

    @property
    def agreed(self) -> bool | None:
        """True if both came to the same; None if there was nothing to compare."""
        return not (self.only_native or self.only_reference) if self.compared else None

    def to_dict(self, lang: Language | None = None) -> dict[str, Any]:
        """The agreement as the HTTP interface answers it, ready for JSON."""
        return {
            "agreed": self.agreed,
            "configuration": self.configuration,
            "scenario": self.scenario,
            "compared": list(self.compared),
            "layers": [layer.to_dict(lang or "de") for layer in self.layers],
            "only_native": [finding.to_dict(lang) for finding in self.only_native],
            "only_reference": [finding.to_dict(lang) for finding in self.only_reference],
        }
