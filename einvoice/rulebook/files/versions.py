"""Rule sets and their versions: which there are, and in which order."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from einvoice.errors import RuleError

_KEYS = {"layer", "title", "versions", "source"}
_VERSION_KEYS = {"version", "date", "valid_from", "specification", "en16931", "announced"}


class Version(NamedTuple):
    """One release of a rule set.

    ``specification`` is the version of the specification that it judges (XRechnung 3.0.2), where that is numbered
    apart; ``en16931`` the release of the EN 16931 rules that it was published with. ``valid_from`` is the day from
    which invoices are judged by it, where that is not the date of its publication. ``announced`` are the last ones, as
    long as they are not what this version of einvoice judges by.
    """

    name: str
    date: str
    specification: str = ""
    en16931: str = ""
    valid_from: str = ""
    announced: bool = False


class RuleSet(NamedTuple):
    """A folder of rules: its layer, its title in both languages, its releases from the oldest to the newest."""

    name: str
    layer: str
    title: dict[str, str]
    versions: tuple[Version, ...]

    @property
    def newest(self) -> str:
        """The name of the newest release."""
        return self.versions[-1].name

    def index_of(self, version: str) -> int:
        """The place of a release in the list; ``LookupError`` with those that there are for an unknown one."""
        names = [known.name for known in self.versions]
        if version not in names:
            raise LookupError(f"{self.name} has no version '{version}', only {', '.join(names)}")
        return names.index(version)

    def has(self, since: str, until: str, version: str) -> bool:
        """Whether what holds from ``since`` on and no longer in ``until`` holds in ``version``; '' is no bound."""
        at = self.index_of(version)
        return (not since or self.index_of(since) <= at) and (not until or at < self.index_of(until))


def read_ruleset(folder: Path) -> RuleSet:
    """The ``ruleset.toml`` of a folder of rules. Raises ``RuleError`` where it is wrong."""
    file = f"{folder.name}/ruleset.toml"
    try:
        data = tomllib.loads((folder / "ruleset.toml").read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise RuleError(str(error), file=file) from None
    _known(data, _KEYS, file, "")
    for key, kind in (("layer", str), ("title", dict), ("versions", list)):
        if not isinstance(data.get(key), kind):
            raise RuleError("is missing or of another type", file=file, key=key)
    if set(data["title"]) != {"de", "en"}:
        raise RuleError("needs de and en", file=file, key="title")
    versions = tuple(_version(entry, file) for entry in data["versions"])
    names = [version.name for version in versions]
    if not names or len(set(names)) < len(names):
        raise RuleError("names each version once, the oldest first", file=file, key="versions")
    if [version.announced for version in versions] != sorted(version.announced for version in versions):
        raise RuleError("are the last ones, if any", file=file, key="versions.announced")
    return RuleSet(folder.name, data["layer"], data["title"], versions)


def _version(entry: dict[str, Any], file: str) -> Version:
    _known(entry, _VERSION_KEYS, file, "versions")
    if not isinstance(entry.get("version"), str):
        raise RuleError("each needs a version, as text", file=file, key="versions")
    texts = {key: str(entry.get(key, "")) for key in sorted(_VERSION_KEYS - {"version", "announced"})}
    return Version(entry["version"], announced=entry.get("announced") is True, **texts)


def _known(data: dict[str, Any], keys: set[str], file: str, inside: str) -> None:
    for key in data:
        if key not in keys:
            raise RuleError("no such key", file=file, key=f"{inside}.{key}".lstrip("."), hint=", ".join(sorted(keys)))
