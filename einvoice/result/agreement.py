"""Comparison of the findings of einvoice with those of the official Schematron."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from einvoice.localization.options import language
from einvoice.result.finding import Finding
from einvoice.result.languages import Language
from einvoice.result.stack import Layer


@dataclass(frozen=True, slots=True)
class Agreement:
    """Comparison with the official Schematron, limited to the layers that both validated.

    Findings are matched by code and severity. XML schema messages have no codes; that layer matches if both or neither
    report any.

    Attributes:
        configuration: name of the validator configuration, as listed by `einvoice rules list`; "" for the one that
            comes with einvoice.
        scenario: scenario of the configuration that matched the document; "" if none did.
        layers: layers of the official Schematron, including those that did not run.
        compared: names of the compared layers.
        only_native: findings of einvoice only.
        only_reference: findings of the official Schematron only.
    """

    configuration: str
    scenario: str
    layers: tuple[Layer, ...]
    compared: tuple[str, ...]
    only_native: tuple[Finding, ...] = ()
    only_reference: tuple[Finding, ...] = ()

    @property
    def agreed(self) -> bool | None:
        """True if the findings are the same; None if no layer was compared."""
        return not (self.only_native or self.only_reference) if self.compared else None

    def to_dict(self, lang: Language | None = None) -> dict[str, Any]:
        """Return the comparison as plain data, ready for JSON."""
        findings = (*self.only_native, *self.only_reference)
        default = findings[0].lang if findings else language(None)
        from einvoice.render.json import agreement_dict

        return agreement_dict(self, lang or default)
