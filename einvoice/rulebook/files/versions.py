"""Rule sets and the order of their releases."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from einvoice.errors import RuleError

_KEYS = {"layer", "title", "versions", "source"}
_VERSION_KEYS = {"version", "date", "valid_from", "specification", "en16931", "announced"}


class Version(NamedTuple):
    """A release of a rule set.

    Attributes:
        name: of the release.
        date: of publication.
        specification: version of the specification that it validates (XRechnung 3.0.2), if it has its own number.
        en16931: the release of the EN 16931 rules that it was published with.
        valid_from: the day from which it applies, if this is not the date of publication.
        announced: whether it is not in force yet; only the last releases can be announced.
    """

    name: str
    date: str
    specification: str = ""
    en16931: str = ""
    valid_from: str = ""
    announced: bool = False


class RuleSet(NamedTuple):
    """A folder of rules: layer, title by language, and releases from the oldest to the newest."""

    name: str
    layer: str
    title: dict[str, str]
    versions: tuple[Version, ...]

    @property
    def newest(self) -> str:
        """Name of the newest release."""
        return self.versions[-1].name

    def index_of(self, version: str) -> int:
        """Return the index of a release; raise ``LookupError`` listing the known releases for an unknown one."""
        names = [known.name for known in self.versions]
        if version not in names:
            raise LookupError(f"unknown release '{version}' of {self.name}; known releases are {', '.join(names)}")
        return names.index(version)

    def has(self, since: str, until: str, version: str) -> bool:
        """Return whether ``version`` is in the range from ``since`` to before ``until``; '' means no bound."""
        index = self.index_of(version)
        return (not since or self.index_of(since) <= index) and (not until or index < self.index_of(until))


def read_ruleset(folder: Path) -> RuleSet:
    """Read the ``ruleset.toml`` of a folder. Raise ``RuleError`` for an invalid one."""
    file = f"{folder.name}/ruleset.toml"
    try:
        data = tomllib.loads((folder / "ruleset.toml").read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise RuleError(str(error), file=file) from None
    _check_keys(data, _KEYS, file, "")
    for key, kind in (("layer", str), ("title", dict), ("versions", list)):
        if not isinstance(data.get(key), kind):
            raise RuleError("is missing or has the wrong type", file=file, key=key)
    if set(data["title"]) != {"de", "en"}:
        raise RuleError("must have the keys de and en", file=file, key="title")
    versions = tuple(_version(entry, file) for entry in data["versions"])
    names = [version.name for version in versions]
    if not names or len(set(names)) < len(names):
        raise RuleError("must list each release once, the oldest first", file=file, key="versions")
    if [version.announced for version in versions] != sorted(version.announced for version in versions):
        raise RuleError("must list the last releases only", file=file, key="versions.announced")
    return RuleSet(folder.name, data["layer"], data["title"], versions)


def _version(entry: dict[str, Any], file: str) -> Version:
    _check_keys(entry, _VERSION_KEYS, file, "versions")
    if not isinstance(entry.get("version"), str):
        raise RuleError("must have a version, as text", file=file, key="versions")
    texts = {key: str(entry.get(key, "")) for key in sorted(_VERSION_KEYS - {"version", "announced"})}
    return Version(entry["version"], announced=entry.get("announced") is True, **texts)


def _check_keys(data: dict[str, Any], keys: set[str], file: str, inside: str) -> None:
    for key in data:
        if key not in keys:
            hint = f"valid keys are {', '.join(sorted(keys))}"
            raise RuleError("is not a known key", file=file, key=f"{inside}.{key}".lstrip("."), hint=hint)
