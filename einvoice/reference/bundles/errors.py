"""Why a configuration or a stylesheet is not taken, in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from einvoice.errors import EinvoiceError

SENTENCES: Final[Mapping[str, Mapping[str, str]]] = {
    "not_read": {
        "de": "Die Datei {file} lässt sich nicht lesen: {reason}.",
        "en": "The file {file} cannot be read: {reason}.",
    },
    "not_kept": {
        "de": "Im Ordner {folder} lässt sich nichts ablegen: {reason}.",
        "en": "Nothing can be kept in the folder {folder}: {reason}.",
    },
    "unfit": {
        "de": "{file} ist weder ein ZIP mit einer scenarios.xml noch ein Stylesheet (XSLT).",
        "en": "{file} is neither a ZIP with a scenarios.xml nor a stylesheet (XSLT).",
    },
    "archive": {
        "de": "Das ZIP lässt sich nicht entpacken: {reason}",
        "en": "The ZIP cannot be unpacked: {reason}",
    },
    "large": {
        "de": "{file} enthält mehr, als hier entpackt wird ({limit}).",
        "en": "{file} holds more than is unpacked here ({limit}).",
    },
    "outside": {
        "de": "Der Pfad {path} im ZIP führt aus ihm hinaus.",
        "en": "The path {path} in the ZIP leads out of it.",
    },
    "link": {
        "de": "{path} im ZIP ist keine gewöhnliche Datei, sondern zum Beispiel ein Verweis.",
        "en": "{path} in the ZIP is no ordinary file, but a link for example.",
    },
    "no_scenarios": {
        "de": "Das ZIP hat keine scenarios.xml, weder ganz oben noch in seinem einzigen Ordner.",
        "en": "The ZIP has no scenarios.xml, neither at its top nor in its only folder.",
    },
    "scenarios": {
        "de": "Die scenarios.xml ist fehlerhaft: {reason}",
        "en": "The scenarios.xml is wrong: {reason}",
    },
    "foreign": {
        "de": "Die scenarios.xml ist keine für das Prüftool der KoSIT (framework 1): <{element}>.",
        "en": "The scenarios.xml is none for KoSIT's validator (framework 1): <{element}>.",
    },
    "lacks": {
        "de": "In der scenarios.xml fehlt in <{element}> ein <{what}>.",
        "en": "In the scenarios.xml <{element}> lacks a <{what}>.",
    },
    "level": {
        "de": "In der scenarios.xml steht die Stufe „{level}“; es gibt error, warning und information.",
        "en": "The scenarios.xml has the level “{level}”; there are error, warning and information.",
    },
    "missing": {
        "de": "{file} nennt die Datei {path}, die es nicht gibt.",
        "en": "{file} names the file {path}, which is not there.",
    },
    "remote": {
        "de": "{file} greift auf {path} zu, das nicht zur Konfiguration gehört.",
        "en": "{file} reaches for {path}, which is no part of the configuration.",
    },
    "unknowable": {
        "de": "{file} greift mit {what} auf Dateien zu, deren Namen erst beim Lauf feststehen.",
        "en": "{file} reaches with {what} for files whose names are known only when it runs.",
    },
    "damaged": {
        "de": "{file} ist kein brauchbares XML: {reason}",
        "en": "{file} is no XML that can be used: {reason}",
    },
    "match": {
        "de": "Der XPath des Szenarios „{scenario}“ ist falsch: {reason}",
        "en": "The XPath of the scenario “{scenario}” is wrong: {reason}",
    },
    "match_needed": {
        "de": "Für welche Rechnungen {file} gilt, ist nicht ersichtlich; bitte mit --match als XPath angeben.",
        "en": "It is not plain which invoices {file} is for; say so with --match, an XPath.",
    },
    "match_given": {
        "de": "Eine Konfiguration bringt ihre Bedingungen selbst mit; --match gilt nur für ein einzelnes Stylesheet.",
        "en": "A configuration has its own conditions; --match is for a single stylesheet only.",
    },
    "not_compiled": {
        "de": "{file} lässt sich nicht übersetzen: {reason}",
        "en": "{file} does not compile: {reason}",
    },
    "no_rules": {
        "de": "{file} enthält keine Regeln: Es schreibt kein SVRL.",
        "en": "{file} has no rules: it writes no SVRL.",
    },
    "name": {
        "de": "{name} ist kein Name; erlaubt sind Buchstaben ohne Umlaute, Ziffern, Punkt und Strich, bis 64 Zeichen.",
        "en": "{name} is no name; allowed are letters from A to Z, digits, dots and dashes, up to 64 of them.",
    },
    "taken": {
        "de": "{name} gibt es schon; mit --replace wird es ersetzt.",
        "en": "{name} is there already; --replace replaces it.",
    },
    "reserved": {
        "de": "{name} heißt bereits, was mitgeliefert ist.",
        "en": "{name} is the name of what is bundled.",
    },
    "unknown": {
        "de": "Es ist nichts mit dem Namen {name} hinzugefügt worden.",
        "en": "Nothing was added under the name {name}.",
    },
    "engine": {
        "de": "Der XSLT-Prozessor fehlt oder ist zu alt: pip install 'einvoice-toolkit[reference]'.",
        "en": "The XSLT processor is missing or too old: pip install 'einvoice-toolkit[reference]'.",
    },
}
"""By cause and language, with placeholders for the values of a `BundleRejected`."""


class BundleRejected(EinvoiceError):  # noqa: N818 (says what happened)
    """A configuration or a stylesheet is not taken, or there is none of that name.

    Attributes:
        cause: stable, snake_case.
        values: what the sentence quotes.
    """

    def __init__(self, cause: str, **values: str) -> None:
        self.cause = cause
        self.values = values
        super().__init__(self.message("en"))

    def message(self, lang: str = "de") -> str:
        """Why, in a sentence."""
        return SENTENCES[self.cause][lang].format(**self.values)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), self.cause, **self.values), ()
