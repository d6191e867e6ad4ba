"""An example in a rule file: changes of the base invoice, those of `[base]` first."""

from __future__ import annotations

import contextlib
import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from einvoice.errors import RuleError
from einvoice.rulebook.files.keys import EXAMPLE
from einvoice.rulebook.rule import SYNTAXES

_STEP: Final = re.compile(r"([a-z_][a-z_0-9]*)(?:\[([0-9]+)\])?\Z")


@dataclass(frozen=True)
class Example:
    """An invoice that satisfies or violates the rule: the base invoice with fields dropped and set.

    `base` are changes that come first: those which the examples of a file have in common.
    """

    name: str
    set: Mapping[str, Any] = field(default_factory=dict)
    drop: tuple[str, ...] = ()
    syntaxes: tuple[str, ...] = SYNTAXES
    #: By syntax: XML that the model cannot express, by the XPath of the parent element.
    insert: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    file: str = ""
    #: The root element in UBL, if it is not Invoice.
    root: str = ""
    base: Mapping[str, Any] = field(default_factory=dict)

    @property
    def changes(self) -> Mapping[str, Any]:
        """What is set by `base` and the example, by outermost path, without what the example drops or replaces."""
        changes: dict[str, Any] = {}
        for path, content in self.base.items():
            self._change(changes, path, content)
        for path in self.drop:
            self._change(changes, path)
        for path, content in self.set.items():
            self._change(changes, path, content)
        return changes

    def _change(self, changes: dict[str, Any], path: str, content: Any = None) -> None:
        """Replace the content of a path in changes; without `content`, remove it."""
        steps = steps_of(path, self.file)
        for known in list(changes):
            above = steps_of(known, self.file)
            if above[: len(steps)] == steps:
                del changes[known]
            elif steps[: len(above)] == above:
                inside = {known: changes[known]}
                way = [known, *steps[len(above) :]]
                if content is not None:
                    set_at(inside, way, content, self.file, path)
                else:
                    with contextlib.suppress(RuleError):  # a part of the base invoice
                        drop_at(inside, way, self.file, path)
                changes[known] = inside[known]
                return
        if content is not None:
            changes[path] = content


def example_of(name: str, entry: Mapping[str, Any], base: Mapping[str, Any], file: str) -> Example:
    """Return the example of an entry of `[valid]` or `[invalid]`; `base` are the changes of `[base]`."""
    syntaxes: tuple[str, ...] = (entry["syntax"].upper(),) if "syntax" in entry else SYNTAXES
    insert = {syntax: entry[syntax.lower()].get("insert", {}) for syntax in syntaxes if syntax.lower() in entry}
    if insert:
        syntaxes = tuple(insert)
    fields = {path: content for path, content in entry.items() if path not in EXAMPLE}
    return Example(name, fields, tuple(entry.get("drop", ())), syntaxes, insert, file, entry.get("root", ""), base)


def steps_of(path: str, file: str) -> list[str | int]:
    """Split a path: `lines[0].price.net` gives `["lines", 0, "price", "net"]`."""
    steps: list[str | int] = []
    for part in path.split("."):
        found = _STEP.match(part)
        if not found:
            raise RuleError(f"'{part}' is not a step of a path", file=file, key=path, hint="write lines[0].price.net")
        steps.append(found[1])
        if found[2]:
            steps.append(int(found[2]))
    return steps


def drop_at(data: Any, steps: list[str | int], file: str, path: str) -> None:
    """Remove what is at a path; raise `RuleError` if there is nothing."""
    *parents, last = steps
    try:
        for step in parents:
            data = _copied(data, step)
        del data[last]
    except (LookupError, TypeError):
        raise RuleError("does not exist in the base invoice", file=file, key=path) from None


def set_at(data: Any, steps: list[str | int], content: Any, file: str, path: str) -> None:
    """Replace what is at a path, whose tables and lists are copied; raise `RuleError` if it cannot be there."""
    *parents, last = steps
    for step, following in zip(parents, steps[1:], strict=True):
        _enter(data, step, [] if isinstance(following, int) else {}, file, path)
        data = _copied(data, step)
    _enter(data, last, content, file, path)
    data[last] = content


def _copied(data: Any, step: str | int) -> Any:
    """Replace the content at `step` by a copy, which can be changed, and return it."""
    data[step] = copy.copy(data[step])
    return data[step]


def _enter(data: Any, step: str | int, otherwise: Any, file: str, path: str) -> None:
    """Add `otherwise` at `step` if there is nothing; lists have no gaps."""
    if isinstance(step, int) != isinstance(data, list) or not isinstance(data, list | dict):
        raise RuleError("does not fit the model", file=file, key=path, hint="write an index for a list: lines[0]")
    if isinstance(data, dict):
        data.setdefault(step, otherwise)
        return
    if step == len(data):
        data.append(otherwise)
    if not isinstance(step, int) or step > len(data):
        raise RuleError(f"the index must be at most {len(data)}", file=file, key=path)
