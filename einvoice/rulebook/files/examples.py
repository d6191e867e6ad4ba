"""Build the examples of rules: the base invoice, changed at paths of the model."""

from __future__ import annotations

import functools
import tomllib
import weakref
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from einvoice.errors import RuleError
from einvoice.model.group import Group, types_of
from einvoice.model.invoice import Invoice
from einvoice.model.values import Date, Value, absent
from einvoice.resources import RuleData
from einvoice.rulebook.files.definition import Definition
from einvoice.rulebook.files.example import Example, drop_at, set_at, steps_of
from einvoice.rulebook.files.load import BASE


def base(data: RuleData, ruleset: str = "") -> dict[str, Any]:
    """Return the base invoice of the examples of a rule set: its own `base.toml`, or the one that others share.

    The one that they share satisfies every rule of every rule set. Only the outermost table is a copy.
    """
    own = data.sets[ruleset] / BASE if ruleset in data.sets else data.root / BASE
    return dict(_read(own if own.exists() else data.root / BASE))


@functools.cache
def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text("utf-8"))


def invoice_of(example: Example, data: RuleData, file: str = BASE, syntax: str = "") -> Invoice:
    """Return the invoice of an example in a rule `file`; with `syntax`, as if read from a document in that syntax.

    Except for dates, values are written alike in both syntaxes. Raise `RuleError` for a path or value that does not
    fit the model.
    """
    content = base(data, file.partition("/")[0])
    for path, value in example.base.items():
        set_at(content, steps_of(path, file), value, file, path)
    for path in example.drop:
        drop_at(content, steps_of(path, file), file, path)
    for path, value in example.set.items():
        set_at(content, steps_of(path, file), value, file, path)
    invoice = _group(Invoice, content, file, "")
    assert isinstance(invoice, Invoice)
    if syntax:
        root = example.root or "Invoice" if syntax == "UBL" else "CrossIndustryInvoice"
        invoice.__dict__.update(syntax=syntax, root=root)
    elif example.root:
        invoice.__dict__["root"] = example.root
    if syntax == "CII":
        _write_dates_as_cii(invoice)
    return invoice


def examples_of(definition: Definition, syntax: str) -> list[tuple[str, Example]]:
    """Return the `valid` and `invalid` examples of a rule that apply to a syntax."""
    kinds = ("valid", "invalid")
    return [(kind, it) for kind in kinds for it in definition.examples(kind) if syntax in it.syntaxes]


def _group(cls: type[Group], data: Mapping[str, Any], file: str, path: str) -> Group:
    kinds = types_of(cls)
    group = cls()
    contents = vars(group)
    reference = weakref.ref(group)
    for name, content in data.items():
        if name not in cls.fields:
            near = get_close_matches(name, cls.fields, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"valid fields are {', '.join(cls.fields)}"
            raise RuleError(f"{cls.__name__} has no field '{name}'", file=file, key=_below(path, name), hint=hint)
        kind, many = kinds[name]
        if type(content) is str and issubclass(kind, Value):  # as most
            contents[name] = [kind(content)] if many else kind(content)
            continue
        built = contents[name] = _content(kind, many, content, file, _below(path, name))  # has the type of the field
        for below in built if many else (built,):
            if isinstance(below, Group):
                vars(below)["parent_ref"] = reference  # as the reader does
    return group


def _below(path: str, name: str) -> str:
    return f"{path}.{name}".lstrip(".")


def _content(kind: type[Any], many: bool, content: Any, file: str, path: str) -> Any:
    """Return a value or group, or a list of them if `many`."""
    if not isinstance(content, list):
        one = _one(kind, content, file, path)
        return [one] if many else one
    if not many:
        hint = "write one; insert further elements as XML (ubl.insert, cii.insert)"
        raise RuleError("is single and cannot be a list", file=file, key=path, hint=hint)
    return [_one(kind, it, file, f"{path}[{number}]") for number, it in enumerate(content)]


def _one(kind: type[Any], content: Any, file: str, path: str) -> Any:
    if issubclass(kind, Group):
        if not isinstance(content, dict):
            raise RuleError(f"is a group ({kind.__name__}) and must be a table", file=file, key=path)
        return _group(kind, content, file, path)
    if isinstance(content, dict) and isinstance(content.get("raw"), str):
        return kind(content["raw"], {name: text for name, text in content.items() if name != "raw"})
    if not isinstance(content, str) or not issubclass(kind, Value):
        hint = 'write the text of the document, or { raw = "…", schemeID = "…" }'
        raise RuleError(f"must be a value ({kind.__name__})", file=file, key=path, hint=hint)
    return kind(content)


def _write_dates_as_cii(group: Group) -> None:
    """Write dates as 20260401 with format 102, since some CII rules read the text."""
    contents = vars(group)
    for name, content in contents.items():
        if isinstance(content, Date):
            if content.date is not absent:
                contents[name] = Date(content.date.strftime("%Y%m%d"), {"format": "102", **content.attributes})
            continue
        for below in content if isinstance(content, list) else (content,):
            if isinstance(below, Group):
                _write_dates_as_cii(below)
