"""Write nodes as faster Python with the same results.

Expressions have no side effects, so parts of them may be evaluated earlier, or not at all:

- `any` and `all` over a term, or over a list of the model, test the first occurrence without a generator. Nearly
  all terms and most lists have only one.
- `any` and counts over groups of the document that have a certain text look at those in an index, if there are any.
- Sums and counts over an empty list are zero without a comprehension, and its members distinct.
- The sum over a list with one member is that member.
- A field that several rules of a context read, or an index, is read once, into a local variable.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from einvoice.rulebook.language.nodes import Call, Clause, Field, Generator, Literal, Name, Node, is_path
from einvoice.rulebook.language.python import MEMBERS, Writer
from einvoice.rulebook.language.types import BOOLEAN

_FIRST: Final = "[0]"
_MIN_READS: Final = 2
"""Number of reads from which a field is kept in a local variable."""
_MAX_STEPS: Final = 4
"""Maximum number of steps of a path that local variables hold."""

#: A variable and the steps that are read from it: `("line", ".taxes", "[0]")`.
Path: TypeAlias = tuple[str, ...]


class QuickWriter(Writer):
    """Writes nodes of the rules of a context, which share local variables.

    It writes them twice: first to find out what is read repeatedly, then with local variables for this.

    Args:
        variables: the invoice, and the variables of the loops around the rules.
        shared: the local variables by the path that they hold, and by the code of the index that they hold.
    """

    def __init__(self, variables: Collection[str] = (), shared: Mapping[Path | str, str] | None = None) -> None:
        super().__init__()
        self._variables = frozenset(variables)
        self._shared = shared or {}
        self._reads: Counter[Path] = Counter()
        self._needed: set[Path] = set()
        self._lookups: Counter[str] = Counter()
        self._replaced: Mapping[str, Path] = {}
        self._is_quick = True
        self._is_local = True  # not in a comprehension
        self._is_counted = True
        self._is_needed = True  # what is written now runs in any case

    # -------------------------------------------------------------------------------- state

    @contextlib.contextmanager
    def _with(self, **state: Any) -> Iterator[None]:
        before = {name: getattr(self, name) for name in state}
        self.__dict__.update(state)
        yield
        self.__dict__.update(before)

    def scope(self) -> contextlib.AbstractContextManager[None]:
        """Return the context for a comprehension: local variables would be slower there."""
        return self._with(_is_local=False)

    def perhaps(self) -> contextlib.AbstractContextManager[None]:
        """Return the context for code that may not run."""
        return self._with(_is_needed=False)

    def rarely(self) -> contextlib.AbstractContextManager[None]:
        """Return the context for code that hardly ever runs: its reads do not count."""
        return self._with(_is_counted=False)

    # -------------------------------------------------------------------------------- local variables

    def shared(self) -> dict[Path | str, str]:
        """Return local variables for what was read repeatedly, and at least once in any case: none reads in vain."""
        found: dict[Path | str, str] = {}
        for path, count in self._reads.items():
            is_readable = path[:-1] in found or not path[1:-1]
            if count >= _MIN_READS and path in self._needed and is_readable and path not in self._shared:
                found[path] = local_name("".join(path))
        found |= {code: local_name(code) for code, count in self._lookups.items() if count >= _MIN_READS}
        return found

    def reading(self, path: Path | str) -> str:
        """Return the code for what a local variable holds; the first member of an empty list is `absent`."""
        if isinstance(path, str):
            return path
        owner = self._resolved(path[:-1])
        return f"{owner}[0] if {owner} else absent" if path[-1] == _FIRST else owner + path[-1]

    def _read(self, node: Name | Field) -> str:
        path = self._path(node)
        if path is None:
            return super()._read(node)
        if not self._is_local:
            return "".join(path)
        if self._is_counted and path[0] in self._variables:
            for end in range(2, min(len(path), 1 + _MAX_STEPS) + 1):
                self._reads[path[:end]] += 1
                if self._is_needed:
                    self._needed.add(path[:end])
        return self._resolved(path)

    def _resolved(self, path: Path) -> str:
        for end in range(len(path), 1, -1):
            if local := self._shared.get(path[:end]):
                return local + "".join(path[end:])
        return "".join(path)

    def _path(self, node: Node) -> Path | None:
        """Return the path that a node reads; None for another node."""
        match node:
            case Name(name=name):
                return self._replaced.get(name, (name,))
            case Field(owner=owner, name=name):
                path = self._path(owner)
                return path and (*path, f".{name}")
        return None

    def _call_and(self, *operands: Node) -> str:
        """After a test that may fail, the next one may not run."""
        codes = []
        is_needed = self._is_needed
        for operand in operands:
            with self._with(_is_needed=is_needed):
                codes.append(self.write(operand))
            is_needed = is_needed and _tests_existence(operand)
        return f"({' and '.join(codes)})"

    # -------------------------------------------------------------------------------- occurrences

    def _call_any(self, members: Generator) -> str:
        source = members.clauses[0].source
        if not self._is_quick:
            return super()._call_any(members)
        if is_path(source) and (not source.type.many or _is_list(source)):
            return self._any_occurrence(members)
        groups, test = self._narrowed(members.clauses, members.member)
        code = f"any({self._loop(members, MEMBERS, groups)})"
        return f"({test} and {code})" if test else code

    def _call_all(self, members: Generator) -> str:
        if not self._is_quick:
            return super()._call_all(members)
        fails = Call(members.at, BOOLEAN, "not", (members.member,))
        return f"(not {self._call_any(replace(members, member=fails))})"

    def _any_occurrence(self, members: Generator) -> str:
        """Return code that tests the first occurrence, then the others; its result is a boolean."""
        clause, *inner = members.clauses
        condition = members.member
        if inner:
            condition = Call(
                members.at, BOOLEAN, "any", (Generator(members.at, members.type, condition, tuple(inner)),)
            )
        if clause.tests:
            condition = Call(members.at, BOOLEAN, "and", (*clause.tests, condition))
        source, path = self.write(clause.source), self._path(clause.source) or ()
        if clause.source.type.many:
            exists, several = f"not not {source}", f"len({self.write(clause.source)}) > 1"
            path, others = (*path, _FIRST), f"{source}[1:]"
        else:
            others = self._content(clause.source, "more")
            exists, several = f"{source} is not absent", f"not not {others}"
        with self._with(_is_quick=False):
            of_rest = replace(members, member=condition, clauses=(replace(clause, tests=()),))
            rest = self._loop(of_rest, f"any({MEMBERS})", others)
        with self._with(_replaced={**self._replaced, clause.name: path}):
            return f"({exists} and ({self.write(condition)} or {several} and {rest}))"

    def _call_all_distinct(self, members: Node) -> str:
        call = self._plain("all_distinct", members)
        if isinstance(members, Generator) and (source := members.clauses[0].source).type.many and is_path(source):
            return f"(not {self.write(source)} or {call})"
        return call

    def _call_count(self, members: Node) -> str:
        if not isinstance(members, Generator):
            return super()._call_count(members)
        groups, test = self._narrowed(members.clauses)
        code = self._count(members, groups)
        if groups:
            return f"({code} if {test} else 0)" if test else code
        return self._zero_if_empty(members, code)

    def _call_sum(self, addends: Generator, template: str = "{}") -> str:
        """Write `sum`; `template` has a function of the sum, which is 0 for 0."""
        call = super()._call_sum(addends)
        match addends.clauses:
            case [Clause(name, Name() as members, ())] if members.type.many:
                with self._with(_replaced={**self._replaced, name: (members.name, _FIRST)}):
                    only = f"(_value if (_value := {self.write(addends.member)}) is not absent else 0)"
                return template.format(f"({only} if len({members.name}) == 1 else {call})")
        return self._zero_if_empty(addends, template.format(call))

    def _call_round2(self, number: Node) -> str:
        """Write `round2`; the sum over an empty list needs no rounding."""
        match number:
            case Call(function="sum", operands=[Generator() as addends]):
                return self._call_sum(addends, "round2({})")
        return self._plain("round2", number)

    def _zero_if_empty(self, members: Generator, code: str) -> str:
        source = members.clauses[0].source
        return f"({code} if {self.write(source)} else 0)" if _is_list(source) else code

    # -------------------------------------------------------------------------------- indices

    def _narrowed(self, clauses: Sequence[Clause], *required: Node) -> tuple[str, str]:
        """Return the groups of a loop that have a certain text in a field, if the loop requires one, from an index.

        Return also the test that there are any, unless they are those of `with_vat`; "" if the groups stay.
        """
        groups = clauses[0].source
        is_lookup = isinstance(groups, Call) and groups.function == "descendants"
        is_indexed = is_lookup or _is_list_of_invoice(groups)
        for owner, field, text in _required_texts(clauses, *required):
            match [(clause.name, clause.source) for clause in clauses]:
                case [(group, _), *_] if is_indexed and group == owner:
                    index = self._lookup(groups, field)
                    return f"{index}[{text!r}]", f"{text!r} in {index}"
                case [(item, _), (tax, Field(owner=Name(name=holder), name="taxes"))]:
                    if (item, tax, "category") == (holder, owner, field) and (is_lookup or is_path(groups)):
                        return f"with_vat({self.write(groups)}, {text!r})", ""
        return "", ""

    def _lookup(self, groups: Node, field: str) -> str:
        with self.scope():  # it is before the local variables
            code = f"with_vat.by_text({self.write(groups)}, {field!r})"
        self._lookups[code] += 1
        return self._shared.get(code, code)


def _required_texts(clauses: Sequence[Clause], *required: Node) -> Iterator[tuple[str, str, str]]:
    """Yield what a loop requires: the name of a group, its field, and a text that an occurrence of it must have."""
    terms: dict[str, tuple[str, str]] = {}  # the group and field that a variable has an occurrence of
    for clause in clauses:
        match clause.source:
            case Field(owner=Name(name=group), name=field) if not clause.source.type.many and is_path(clause.source):
                terms[clause.name] = group, field
    for operand in _conjuncts(*required, *(test for clause in clauses for test in clause.tests)):
        match operand:
            case Call(
                function="==",
                operands=(Field(owner=Name(name=name), name="text"), Literal(value=str(text))),
            ) if name in terms:
                yield *terms[name], text
            case Call(
                function="any_equal",
                operands=(Field(owner=Name(name=group), name=field) as term, Literal(value=str(text))),
            ) if term.type.is_value and not term.type.many:
                yield group, field, text


def _conjuncts(*operands: Node) -> Iterator[Node]:
    for operand in operands:
        match operand:
            case Call(function="and"):
                yield from _conjuncts(*operand.operands)
            case _:
                yield operand


def _tests_existence(operand: Node) -> bool:
    """Return whether an operand tests that a term or list exists, which is the usual case."""
    return isinstance(operand, Call) and operand.function == "exists"


def _is_list(source: Node) -> bool:
    """Return whether a source is a stored list of the model; those of the invoice usually have several members."""
    return isinstance(source, Field) and source.type.many and is_path(source) and not _is_list_of_invoice(source)


def _is_list_of_invoice(source: Node) -> bool:
    match source:
        case Field(owner=Name(name="invoice")):
            return source.type.many and is_path(source)
    return False


def local_name(code: str) -> str:
    """Return a name for a local variable that no rule can use: names that begin with an underscore are reserved."""
    return "_" + "_".join(re.findall(r"\w+", code.replace(_FIRST, ".first")))
