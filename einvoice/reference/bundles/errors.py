"""The error of a configuration or stylesheet that cannot be added, in German and English."""

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
        "de": "In den Ordner {folder} lässt sich nicht schreiben: {reason}.",
        "en": "The folder {folder} cannot be written: {reason}.",
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
        "de": "{file} überschreitet beim Entpacken die Grenze von {limit}.",
        "en": "{file} exceeds the unpacking limit of {limit}.",
    },
    "outside": {
        "de": "Der Pfad {path} im ZIP führt aus ihm hinaus.",
        "en": "The path {path} in the ZIP points outside of it.",
    },
    "link": {
        "de": "{path} im ZIP ist keine gewöhnliche Datei, sondern zum Beispiel ein Verweis.",
        "en": "{path} in the ZIP is not a regular file but, for example, a link.",
    },
    "no_scenarios": {
        "de": "Das ZIP hat keine scenarios.xml, weder auf oberster Ebene noch in seinem einzigen Ordner.",
        "en": "The ZIP has no scenarios.xml, neither at the top level nor in its only folder.",
    },
    "scenarios": {
        "de": "Die scenarios.xml ist fehlerhaft: {reason}",
        "en": "The scenarios.xml is invalid: {reason}",
    },
    "foreign": {
        "de": "Die scenarios.xml ist nicht für den KoSIT-Validator (framework 1): <{element}>.",
        "en": "The scenarios.xml is not for the KoSIT validator (framework 1): <{element}>.",
    },
    "lacks": {
        "de": "In der scenarios.xml fehlt in <{element}> ein <{what}>.",
        "en": "In the scenarios.xml, <{element}> has no <{what}>.",
    },
    "level": {
        "de": "Die scenarios.xml verwendet die Stufe „{level}“; erlaubt sind error, warning und information.",
        "en": "The scenarios.xml uses the level “{level}”; valid levels are error, warning and information.",
    },
    "missing": {
        "de": "{file} verweist auf die Datei {path}, die es nicht gibt.",
        "en": "{file} refers to the file {path}, which does not exist.",
    },
    "remote": {
        "de": "{file} greift auf {path} zu, das nicht zur Konfiguration gehört.",
        "en": "{file} accesses {path}, which is not part of the configuration.",
    },
    "unknowable": {
        "de": "{file} greift mit {what} auf Dateien zu, deren Namen erst zur Laufzeit feststehen.",
        "en": "{file} accesses files with {what} whose names are known only at run time.",
    },
    "damaged": {
        "de": "{file} ist kein gültiges XML: {reason}",
        "en": "{file} is not valid XML: {reason}",
    },
    "match": {
        "de": "Der XPath des Szenarios „{scenario}“ ist ungültig: {reason}",
        "en": "The XPath of the scenario “{scenario}” is invalid: {reason}",
    },
    "match_needed": {
        "de": "Für welche Rechnungen {file} gilt, ist nicht erkennbar; mit --match einen XPath angeben.",
        "en": "Cannot tell which invoices {file} applies to; give an XPath with --match.",
    },
    "match_given": {
        "de": "Eine Konfiguration enthält ihre Bedingungen; --match gilt nur für ein einzelnes Stylesheet.",
        "en": "A configuration has its own conditions; --match applies to single stylesheets only.",
    },
    "not_compiled": {
        "de": "{file} lässt sich nicht kompilieren: {reason}",
        "en": "{file} cannot be compiled: {reason}",
    },
    "no_rules": {
        "de": "{file} enthält keine Regeln: Es erzeugt kein SVRL.",
        "en": "{file} has no rules: it does not output SVRL.",
    },
    "name": {
        "de": "{name} ist kein gültiger Name; erlaubt sind bis zu 64 Zeichen: A bis Z, Ziffern, Punkt, Strich.",
        "en": "{name} is not a valid name; use at most 64 letters (A to Z), digits, dots and dashes.",
    },
    "taken": {
        "de": "{name} gibt es schon; mit --replace wird es ersetzt.",
        "en": "{name} already exists; replace it with --replace.",
    },
    "reserved": {
        "de": "{name} ist der Name der mitgelieferten Konfiguration.",
        "en": "{name} is the name of the bundled configuration.",
    },
    "unknown": {
        "de": "Eine Konfiguration mit dem Namen {name} gibt es nicht.",
        "en": "There is no configuration with the name {name}.",
    },
    "engine": {
        "de": "Der XSLT-Prozessor fehlt oder ist zu alt: pip install 'einvoice-toolkit[reference]'.",
        "en": "The XSLT processor is missing or too old: pip install 'einvoice-toolkit[reference]'.",
    },
}
"""Messages by cause and language, with placeholders for the values of a `BundleRejected`."""


class BundleRejected(EinvoiceError):  # noqa: N818 (names the state)
    """A configuration or stylesheet cannot be added, or cannot be removed because it does not exist.

    Attributes:
        cause: key of `SENTENCES`; stable, snake_case.
        values: placeholder values of the message.
    """

    def __init__(self, cause: str, **values: str) -> None:
        self.cause = cause
        self.values = values
        super().__init__(self.message("en"))

    def message(self, lang: str = "de") -> str:
        """Return the message in "de" or "en"."""
        return SENTENCES[self.cause][lang].format(**self.values)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), self.cause, **self.values), ()
