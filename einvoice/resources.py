"""Location of the rule data: the folder that is shipped with einvoice, and rule sets that are added to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).resolve().parent


@cache
def rules_folder() -> Path:
    """Return the folder of the shipped rule data.

    A wheel has `rules/` inside the package, a checkout beside it.

    Raises:
        FileNotFoundError: the installation is incomplete.
    """
    candidates = (_PACKAGE / "rules", _PACKAGE.parent / "rules")
    for folder in candidates:
        if folder.is_dir():
            return folder
    expected = " or ".join(str(folder) for folder in candidates)
    raise FileNotFoundError(f"The rule data of einvoice is missing, expected at {expected}. Install the package again.")


class RuleData:
    """The folders of the rule data. Instances are compared by identity, so that they are cheap cache keys.

    Args:
        root: folder with a subfolder for each rule set, and with the data that all of them share.
        added: folders of further rule sets, by name; one with the name of a rule set in `root` replaces it.
    """

    def __init__(self, root: Path, added: Mapping[str, Path] | None = None) -> None:
        self.root = root
        self.added: Mapping[str, Path] = added or {}

    def __reduce__(self) -> tuple[Any, ...]:
        return (RuleData, (self.root, dict(self.added))) if self.added else (shipped, ())

    def __repr__(self) -> str:
        return f"<RuleData {', '.join(self.sets)}>"

    @cached_property
    def sets(self) -> Mapping[str, Path]:
        """The folder of each rule set, by name."""
        folders = {path.name: path for path in sorted(self.root.iterdir()) if (path / "ruleset.toml").exists()}
        return {**folders, **self.added}

    def files(self, name: str) -> Iterator[Path]:
        """Yield the files with this name or pattern in the root folder and in each rule set."""
        for folder in (self.root, *self.sets.values()):
            if "*" in name:
                yield from sorted(folder.glob(name))
            elif (folder / name).exists():  # faster
                yield folder / name


@cache
def shipped() -> RuleData:
    """Return the rule data that is shipped with einvoice."""
    return RuleData(rules_folder())
