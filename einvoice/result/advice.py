"""What the numbers of an invoice say about a finding on its arithmetic: which of them is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from einvoice.localization import languages

if TYPE_CHECKING:
    from einvoice.localization import Language
    from einvoice.model.invoice import Invoice
    from einvoice.repair.corrections import Corrections


class Numbers:
    """The numbers of one invoice; what contradicts them is searched when a text asks for it first."""

    def __init__(self, invoice: Invoice) -> None:
        self._invoice = invoice

    @cached_property
    def corrections(self) -> Corrections:
        """The corrections of the numbers that contradict each other."""
        from einvoice.repair.corrections import Corrections

        return Corrections(self._invoice)


class Advice:
    """Which number to change because of one finding.

    Args:
        numbers: those of the invoice.
        code: of the finding.
        node: its element.
    """

    def __init__(self, numbers: Numbers, code: str, node: Any) -> None:
        self._numbers, self._code, self._node = numbers, code, node

    def text(self, lang: Language) -> str:
        """Return which number to change; "" if the invoice does not prove that one is wrong."""
        return self._numbers.corrections.text(self._code, self._node, lang)

    @property
    def texts(self) -> Mapping[Language, str]:
        """The text in each language; empty if there is none."""
        found = {lang: self.text(lang) for lang in languages()}
        return {lang: text for lang, text in found.items() if text}

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredAdvice, (self.texts,)


class StoredAdvice(Advice):
    """The advice of a finding that is stored without its invoice.

    Args:
        texts: the text in each language.
    """

    def __init__(self, texts: Mapping[Language, str]) -> None:
        self._texts = texts

    def text(self, lang: Language) -> str:
        """Return the stored text; "" if there is none in this language."""
        return self._texts.get(lang, "")
