"""Rule sets: what they build on, and the order of their releases."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from einvoice import cache
from einvoice.errors import RuleError
from einvoice.localization import Language, TranslatedTexts, languages
from einvoice.rulebook.rule import SYNTAXES

ADOPTED_TITLE = "adopted_title"
#: What it quotes: the title, and the title with a small first letter.
TITLE, LOWER_TITLE = "{title}", "{lower_title}"
KINDS = ("en16931", "cius", "extension", "profile", "plausibility")
#: Kinds of rule sets that no document declares: they apply beside those of its specification, and only inform.
INFORMATIVE = ("plausibility",)
KEYS: Mapping[str, type] = {
    "kind": str, "base": str, "name": str, "title": dict, "syntaxes": list, "default": bool, "source": str,
    "versions": list, "adopted": dict, "adopted_title": dict,
}  # fmt: skip
VERSION_KEYS: Mapping[str, type] = {
    "version": str, "date": str, "valid_from": str, "specification": str, "base": str, "announced": bool,
    **dict.fromkeys(map(str.lower, SYNTAXES), str),
}  # fmt: skip


class Version(NamedTuple):
    """A release of a rule set.

    Attributes:
        name: of the release.
        date: of publication.
        specification: version of the specification that it validates (XRechnung 3.0.2), if it has its own number.
        base: the release of the base that it was published with; "" for any.
        valid_from: the day from which it applies, if this is not the date of publication.
        announced: whether it is not in force yet; only the last releases can be announced.
        numbers: by syntax, the number of the release if it differs from the name.
    """

    name: str
    date: str
    specification: str = ""
    base: str = ""
    valid_from: str = ""
    announced: bool = False
    numbers: Mapping[str, str] = {}

    def number(self, syntax: str) -> str:
        """Return the number of the release in a syntax."""
        return self.numbers.get(syntax, self.name)


class RuleSet(NamedTuple):
    """A folder of rules.

    Attributes:
        name: of the folder; layers of a validation have this name.
        kind: relation to EN 16931: "en16931" (the standard itself), "cius", "extension", "profile" (Factur-X), or one
            of `INFORMATIVE`.
        base: name of the rule set that it builds on; "" for EN 16931.
        label: short name for texts, such as "XRechnung".
        title: by language.
        syntaxes: in which the rules are defined.
        default: whether it is the CIUS whose version answers state for documents of other specifications, too.
        versions: releases from the oldest to the newest.
        shares_releases: whether the releases are those of the base.
        adopted: rules of other rule sets that this one has, too: names of rule files, by rule set; `*` matches any
            characters.
        adopted_title: by language, how the title of an adopted rule reads that has another code here.
    """

    name: str
    kind: str
    base: str
    label: str
    title: TranslatedTexts
    syntaxes: tuple[str, ...]
    default: bool
    versions: tuple[Version, ...]
    shares_releases: bool = False
    adopted: Mapping[str, tuple[str, ...]] = {}
    adopted_title: Mapping[Language, str] = {}

    def title_of_adopted(self, title: str, language: Language) -> str:
        """Return the title of a rule that it adopts under another code.

        A title that begins with an abbreviation keeps its first letter.
        """
        template = self.adopted_title.get(language, TITLE)
        lower = title if title[1:2].isupper() else title[:1].lower() + title[1:]
        return template.replace(TITLE, title).replace(LOWER_TITLE, lower)

    @property
    def is_informative(self) -> bool:
        """Whether it applies beside the rule sets of any specification, and only informs."""
        return self.kind in INFORMATIVE

    @property
    def newest(self) -> str:
        """Name of the newest release."""
        return self.versions[-1].name

    def version(self, name: str) -> Version:
        """Return a release; raise `LookupError` listing the known releases for an unknown one."""
        return self.versions[self.index_of(name)]

    def index_of(self, version: str) -> int:
        """Return the index of a release; raise `LookupError` listing the known releases for an unknown one."""
        names = [known.name for known in self.versions]
        if version not in names:
            raise LookupError(f"unknown release '{version}' of {self.name}; known releases are {', '.join(names)}")
        return names.index(version)

    def has(self, since: str, until: str, version: str) -> bool:
        """Return whether `version` is in the range from `since` to before `until`; '' means no bound."""
        index = self.index_of(version)
        return (not since or self.index_of(since) <= index) and (not until or index < self.index_of(until))


def read_rulesets(folders: Mapping[str, Path]) -> dict[str, RuleSet]:
    """Read the `ruleset.toml` of each folder. Return the rule sets by name, each after its base.

    Raises:
        RuleError: an invalid file, or a base that does not exist.
    """
    known = {name: read_ruleset(folder) for name, folder in folders.items()}
    for ruleset in known.values():
        _check_adopted(ruleset, known)
    ordered: dict[str, RuleSet] = {}
    for name in known:
        for each in reversed(_chain(name, known)):
            ordered.setdefault(each, _with_versions(known[each], ordered.get(known[each].base)))
    return ordered


def _check_adopted(ruleset: RuleSet, known: Mapping[str, RuleSet]) -> None:
    """Check that a rule set adopts rules only from other rule sets that exist."""
    for name in ruleset.adopted:
        if name not in known or name == ruleset.name:
            message = f"'{name}' is not another rule set"
            raise RuleError(message, file=f"{ruleset.name}/ruleset.toml", key="adopted")


def _chain(name: str, known: Mapping[str, RuleSet]) -> list[str]:
    """Return a rule set and those that it builds on, the lowest one last."""
    chain = [name]
    while base := known[chain[-1]].base:
        file = f"{chain[-1]}/ruleset.toml"
        if base not in known:
            raise RuleError(f"unknown rule set '{base}'", file=file, key="base", hint=f"use one of {', '.join(known)}")
        if base in chain:
            raise RuleError(f"'{base}' builds on this rule set", file=file, key="base", hint="name another rule set")
        chain.append(base)
    return chain


def _with_versions(ruleset: RuleSet, base: RuleSet | None) -> RuleSet:
    """Return a rule set with its releases: its own, or those of its base. Check the releases that it refers to."""
    file = f"{ruleset.name}/ruleset.toml"
    if base is None:
        return ruleset
    if not ruleset.versions:
        versions = tuple(it._replace(base=it.name, numbers={}) for it in base.versions)
        return ruleset._replace(versions=versions, shares_releases=True)
    for version in filter(None, (it.base for it in ruleset.versions)):
        try:
            base.index_of(version)
        except LookupError as error:
            raise RuleError(str(error), file=file, key="versions.base") from None
    return ruleset


def read_ruleset(folder: Path) -> RuleSet:
    """Read the `ruleset.toml` of a folder. Raise `RuleError` for an invalid one."""
    file = f"{folder.name}/ruleset.toml"
    try:
        data = cache.toml(folder / "ruleset.toml")
    except ValueError as error:
        raise RuleError(str(error), file=file) from None
    _check_keys(data, KEYS, file, "")
    for key, kind in KEYS.items():
        if key in data and not isinstance(data[key], kind):
            raise RuleError(f"must be of type {kind.__name__}", file=file, key=key)
    _check(data, file)
    versions = tuple(_version(entry, file) for entry in data.get("versions", ()))
    names = [version.name for version in versions]
    if len(set(names)) < len(names) or ("versions" in data and not names):
        raise RuleError("must list each release once, the oldest first", file=file, key="versions")
    if [version.announced for version in versions] != sorted(version.announced for version in versions):
        raise RuleError("must list the last releases only", file=file, key="versions.announced")
    return RuleSet(
        folder.name,
        data["kind"],
        data.get("base", ""),
        data["name"],
        TranslatedTexts(data["title"], folder, "ruleset", "title"),
        tuple(data.get("syntaxes", SYNTAXES)),
        data.get("default", False),
        versions,
        adopted={name: tuple(files) for name, files in data.get("adopted", {}).items()},
        adopted_title=TranslatedTexts(data.get(ADOPTED_TITLE, {}), folder, "ruleset", ADOPTED_TITLE),
    )


def _check(data: Mapping[str, Any], file: str) -> None:
    for key in ("kind", "name", "title"):
        if not data.get(key):
            raise RuleError("is missing", file=file, key=key)
    if data["kind"] not in KINDS:
        raise RuleError("must be one of " + ", ".join(KINDS), file=file, key="kind")
    if not all(isinstance(title, str) and title for title in data["title"].values()):
        raise RuleError("must have a text for each language", file=file, key="title")
    _check_keys(data["title"], languages(), file, "title")
    _check_keys(data.get(ADOPTED_TITLE, {}), languages(), file, ADOPTED_TITLE)
    for template in data.get(ADOPTED_TITLE, {}).values():
        if not isinstance(template, str) or (TITLE not in template and LOWER_TITLE not in template):
            raise RuleError(f"must have {TITLE} or {LOWER_TITLE} in each text", file=file, key=ADOPTED_TITLE)
    for name, files in data.get("adopted", {}).items():
        if not isinstance(files, list) or not all(isinstance(pattern, str) for pattern in files):
            raise RuleError("must list rule files", file=file, key=f"adopted.{name}")
    if not set(data.get("syntaxes", SYNTAXES)) <= set(SYNTAXES):
        raise RuleError("must list " + " or ".join(SYNTAXES), file=file, key="syntaxes")
    if "base" not in data and (data["kind"] != KINDS[0] or "versions" not in data):
        raise RuleError("is missing", file=file, key="base", hint="name the rule set that it builds on")


def _version(entry: Any, file: str) -> Version:
    if not isinstance(entry, dict):
        raise RuleError("must be a table", file=file, key="versions", hint="write [[versions]]")
    _check_keys(entry, VERSION_KEYS, file, "versions")
    if not isinstance(entry.get("version"), str):
        raise RuleError("must have a version, as text", file=file, key="versions")
    for key, kind in VERSION_KEYS.items():
        if isinstance(entry.get(key), list | dict) or (kind is bool and not isinstance(entry.get(key, False), bool)):
            raise RuleError(
                f"must be {'true or false' if kind is bool else 'a text'}", file=file, key=f"versions.{key}"
            )
    numbers = {syntax: str(entry[syntax.lower()]) for syntax in SYNTAXES if syntax.lower() in entry}
    texts = {key: str(entry.get(key, "")) for key in ("date", "specification", "base", "valid_from")}
    return Version(entry["version"], announced=entry.get("announced", False), numbers=numbers, **texts)


def _check_keys(data: Mapping[str, Any], keys: Collection[str], file: str, inside: str) -> None:
    for key in data:
        if key not in keys:
            from difflib import get_close_matches  # on use: only for messages

            near = get_close_matches(key, keys, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"valid keys are {', '.join(sorted(keys))}"
            raise RuleError("is not a known key", file=file, key=f"{inside}.{key}".lstrip("."), hint=hint)
