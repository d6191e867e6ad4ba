"""Check whole documents of a rule set: those in its folder `documents` violate exactly the rules that are stated.

Examples of rules are changes of a base invoice. Element rules, and what the model does not have, need documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from einvoice import cache
from einvoice.errors import RuleError, UnreadableDocument
from einvoice.resources import RuleData
from einvoice.rulebook.files.keys import check_keys
from einvoice.rulebook.files.versions import RuleSet

if TYPE_CHECKING:
    from einvoice.rulebook.rule import Rule
    from einvoice.rulebook.syntax_rules.rule import SyntaxRule

FOLDER: Final = "documents"
_EXPECTED: Final = "expected.toml"
_ENTRY: Final = {"files": list[str], "codes": list[str], "replace": dict[str, str], "once": bool}


def check_documents(data: RuleData, ruleset: RuleSet) -> Iterator[RuleError]:
    """Yield an error for each document that violates other rules of its rule set than `expected.toml` states."""
    folder = data.sets[ruleset.name] / FOLDER
    path, name = folder / _EXPECTED, f"{ruleset.name}/{FOLDER}/{_EXPECTED}"
    if not path.exists():
        return
    try:
        entries = cache.toml(path)
        check_keys(entries, dict.fromkeys(entries, dict), name)
    except ValueError as error:
        yield RuleError(str(error), file=name)
        return
    except RuleError as error:
        yield error
        return
    for key, entry in entries.items():
        try:
            check_keys(entry, _ENTRY, name, key)
            for file in entry.get("files", ()):
                found = _codes(_document(folder / file, entry), ruleset, data)
                expected = set(entry.get("codes", ()))
                if found != expected:
                    told = [f"does not violate {code}" for code in sorted(expected - found)]
                    told += [f"violates {code}" for code in sorted(found - expected)]
                    yield RuleError(f"{file} {', '.join(told)}", file=name, key=key)
        except RuleError as error:
            yield error
        except (OSError, UnreadableDocument, ValueError) as error:
            yield RuleError(str(error), file=name, key=key)


def _document(path: Path, entry: Mapping[str, Any]) -> bytes:
    """Return a document with its replacements, of which `once` makes only the first one."""
    text = path.read_text("utf-8")
    for old, new in entry.get("replace", {}).items():
        if old not in text:
            raise ValueError(f"{path.name} does not contain {old!r}")
        text = text.replace(old, new, 1 if entry.get("once") else -1)
    return text.encode()


def _codes(document: bytes, ruleset: RuleSet, data: RuleData) -> set[str]:
    """Return the codes of a rule set that a document violates in the newest release."""
    from einvoice.rulebook.program.engine import rulebook  # not needed to load rules
    from einvoice.rulebook.releases import releases
    from einvoice.rulebook.syntax_rules.collector import Collector
    from einvoice.syntax.detect import identify
    from einvoice.syntax.reader import read
    from einvoice.syntax.xml import parse

    tree, known = parse(document), releases(data)
    stack = known.stack(known.chain(ruleset.name), known.newest(ruleset.name))
    collector = Collector(tree.getroot(), stack, data=data)
    invoice = read(tree.getroot(), collector)
    violated: list[Rule | SyntaxRule] = [
        it.rule for it in rulebook(data).program(identify(tree, data).syntax, stack).run(invoice)
    ]
    violated += [it.rule for it in collector.violations()]
    return {it.code for it in violated if it.layer == ruleset.name}
