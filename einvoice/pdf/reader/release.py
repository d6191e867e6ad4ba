"""The releases of ZUGFeRD and Factur-X: what each prescribes for a PDF, and which one a PDF follows.

The data is in `releases.toml`. Names of the attachment, of the XMP properties and in BT-24 make sense only together: a
PDF is compared with the release that it fits best.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

_DATA: Final = Path(__file__).with_name("releases.toml")


@dataclass(frozen=True, slots=True)
class Release:
    """What a release prescribes, for one conformance level or in general; `releases.toml` describes the fields."""

    title: str
    roots: Sequence[str]
    guideline: str
    namespace: str
    prefix: str
    names: Sequence[str]
    types: Sequence[str]
    versions: Sequence[str]
    relationships: Sequence[str]
    levels: Mapping[str, Mapping[str, Any]]
    version_in: str = ""

    def at(self, level: str, guideline: str) -> Release:
        """Return what holds at a conformance level, for a document with this identifier in BT-24."""
        release = replace(self, **self.levels.get(level, {}))
        found = re.search(release.version_in, guideline) if release.version_in else None
        return replace(release, versions=(found[1], *release.versions)) if found else release

    def differences(self, name: str, guideline: str, namespace: str, properties: Mapping[str, str]) -> int:
        """Return how many of the properties that tell a release belong to another one."""
        own = self.at(properties.get("ConformanceLevel", ""), guideline)
        others = "|".join(it.guideline for it in releases() if it is not self)
        return sum(
            (
                name not in own.names,
                bool(namespace) and namespace != self.namespace,
                bool(re.search(others, guideline)) and not re.search(self.guideline, guideline),
                properties.get("Version", own.versions[0]) not in own.versions,
            )
        )


@functools.cache
def releases() -> tuple[Release, ...]:
    """Return all releases, the newest of a document first."""
    return tuple(Release(**it) for it in tomllib.loads(_DATA.read_text("utf-8"))["release"])


@functools.cache
def file_names() -> tuple[str, ...]:
    """Return the file names that releases prescribe, each once."""
    levels = (level.get("names", ()) for release in releases() for level in release.levels.values())
    return tuple(dict.fromkeys(name for names in (*(it.names for it in releases()), *levels) for name in names))


def release_of(root: str, name: str, guideline: str, namespace: str, properties: Mapping[str, str]) -> Release:
    """Return the release that a PDF fits best.

    Args:
        root: local name of the root element of the XML; one that no release has does not tell them apart.
        name: file name of the XML.
        guideline: BT-24.
        namespace, properties: namespace and values of the XMP properties; empty if there are none.
    """
    possible = [it for it in releases() if root in it.roots] or releases()
    return min(possible, key=lambda it: it.differences(name, guideline, namespace, properties))
