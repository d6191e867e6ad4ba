"""Write nodes as Python.

Short code is written inline, because a rule may run a thousand times for an invoice.
"""

from __future__ import annotations

import contextlib
import keyword
from contextlib import AbstractContextManager
from decimal import Decimal
from typing import Final

from einvoice.rulebook.language.nodes import Call, Clause, Field, Generator, Literal, Name, Node, is_path
from einvoice.rulebook.language.types import DOUBLE

#: Prefixes of the globals for code lists: as a set of codes, and joined into one text.
CODES: Final = "_codes_"
CODE_TEXT: Final = "_code_text_"

#: Functions that are written inline.
_INLINE: Final = {
    "contains": "({1} in {0})",
    "decimals": "len({0}.partition('.')[2])",
    "length": "len({0})",
    "not": "(not {0})",
    "starts_with": "{0}.startswith({1})",
    "string": "({0} or '')",
}

#: Comprehensions: the members, and a list of those that are not absent.
MEMBERS: Final = "{member} {clauses}"
PRESENT: Final = "[_value {clauses} if (_value := {member}) is not absent]"


class Writer:
    """Writes nodes as Python expressions, which have no side effects. Their globals are `functions.GLOBALS`, and:

    Attributes:
        numbers: the exact numbers that the code uses, by name.
        lists: the names for code lists that it uses; see `bind`.
    """

    def __init__(self) -> None:
        self.numbers: dict[str, Decimal] = {}
        self.lists: set[str] = set()

    def write(self, node: Node) -> str:
        """Return the code of a node; that of an operator is in brackets."""
        match node:
            case Name() | Field():
                return self._read(node)
            case Call():
                return self._call(node)
            case Literal():
                return self._literal(node)
            case Generator():
                return f"[{self._loop(node, MEMBERS)}]"
        raise TypeError(type(node))

    def source(self, node: Node) -> str:
        """Return the code for what a loop runs over: a sequence, or a single value with its further occurrences."""
        code = self.write(node)
        if node.type.many:
            return code
        if not is_path(node):
            return f"occurrences({code})"
        with self.perhaps():
            return f"(() if {code} is absent else ({code}, *{self._content(node, 'more')}))"

    def items(self, generator: Generator, item: str) -> str:
        """Return the code for a list with the code of an item for each member."""
        return f"[{self._loop(generator, f'{item} {{clauses}}')}]"

    def scope(self) -> AbstractContextManager[None]:
        """Return the context for code in a scope of its own, which comprehensions have."""
        return contextlib.nullcontext()

    def perhaps(self) -> AbstractContextManager[None]:
        """Return the context for code that may not run."""
        return contextlib.nullcontext()

    def _read(self, node: Name | Field) -> str:
        return node.name if isinstance(node, Name) else f"{self.write(node.owner)}.{node.name}"

    def _content(self, value: Node, name: str) -> str:
        """Return the code that reads the content of a value, such as its `text`."""
        return self._read(Field(value.at, value.type, value, name))

    def _literal(self, node: Literal) -> str:
        if not isinstance(node.value, Decimal):
            return repr(node.value)
        name = "_" + str(node.value).replace(".", "_")
        self.numbers[name] = node.value
        return name

    def _loop(self, generator: Generator, template: str, source: str = "") -> str:
        """Return a comprehension: `template` with `{member}` and `{clauses}`; `source` replaces the first."""
        first, *others = generator.clauses
        source = source or self.source(first.source)
        with self.scope():
            clauses = [self._clause(first, source), *(self._clause(it, self.source(it.source)) for it in others)]
            return template.format(member=self.write(generator.member), clauses=" ".join(clauses))

    def _clause(self, clause: Clause, source: str) -> str:
        return f"for {clause.name} in {source}" + "".join(f" if {self.write(test)}" for test in clause.tests)

    # -------------------------------------------------------------------------------- functions and operators

    def _call(self, call: Call) -> str:
        special = getattr(self, f"_call_{call.function}", None)
        if special:
            return str(special(*call.operands))
        codes = [self.write(operand) for operand in call.operands]
        if call.function in _INLINE:
            return _INLINE[call.function].format(*codes)
        if call.function == "/":
            return f"{'_divide_double' if call.type == DOUBLE else '_divide'}({', '.join(codes)})"
        if call.function.isidentifier() and not keyword.iskeyword(call.function):
            return f"{call.function}({', '.join(codes)})"
        return f"({f' {call.function} '.join(codes)})" if codes[1:] else f"({call.function}{codes[0]})"

    def _plain(self, function: str, *operands: Node) -> str:
        return f"{function}({', '.join(map(self.write, operands))})"

    def _call_in(self, operand: Node, *constants: Node) -> str:
        listed = ", ".join(map(self.write, constants))
        # Python compiles a set of texts to one constant; numbers are global names, so they stay a tuple.
        members = f"{{{listed}}}" if operand.type.sort == "text" else f"({listed},)"
        return f"({self.write(operand)} in {members})"

    def _call_if(self, test: Node, then: Node, otherwise: Node) -> str:
        condition = self.write(test)
        with self.perhaps():
            return f"({self.write(then)} if {condition} else {self.write(otherwise)})"

    def _call_all(self, members: Generator) -> str:
        return f"all({self._loop(members, MEMBERS)})"

    def _call_any(self, members: Generator) -> str:
        return f"any({self._loop(members, MEMBERS)})"

    def _call_any_equal(self, value: Node, text: Node) -> str:
        """For a value and a text, the function is called for further occurrences only, which are rare."""
        call = self._plain("any_equal", value, text)
        if not value.type.is_value or value.type.many or text.type.cls is not str or text.type.many:
            return call
        further = f"not not {self._content(value, 'more')} and {call}"
        return f"({self._content(value, 'text')} == {self.write(text)} or {further})"

    def _call_count(self, members: Node) -> str:
        return self._count(members) if isinstance(members, Generator) else f"len({self.write(members)})"

    def _count(self, members: Generator, source: str = "") -> str:
        is_present = isinstance(members.member, Name | Literal)
        present = "" if is_present else " if {member} is not absent"
        return f"len([{self._loop(members, f'1 {{clauses}}{present}', source)}])"

    def _call_default(self, value: Node, otherwise: Node) -> str:
        test = f"(_value := {self.write(value)}) is not absent"
        with self.perhaps():
            return f"(_value if {test} else {self.write(otherwise)})"

    def _call_descendants(self, group: Literal) -> str:
        return f"descendants({group.value!r}, ())"

    def _call_exists(self, operand: Node) -> str:
        code = self.write(operand)
        return f"(not not {code})" if operand.type.many else f"({code} is not absent)"

    def _call_in_code_list(self, text: Node, name: Literal) -> str:
        """The unchanged text is looked up first, since most texts have no blanks."""
        listed, code = self._list(CODES, name), self.write(text)
        call = f"in_code_list({code}, {listed})"
        return f"({code} in {listed} or {call})" if _content_of_path(text) else call

    def _call_joined_codes(self, name: Literal) -> str:
        return self._list(CODE_TEXT, name)

    def _list(self, prefix: str, name: Literal) -> str:
        self.lists.add(f"{prefix}{name.value}")
        return f"{prefix}{name.value}"

    def _call_non_blank(self, operand: Node) -> str:
        """The function is called for further occurrences only."""
        call = self._plain("non_blank", operand)
        if not operand.type.is_value:
            return call
        further = f"not not {self._content(operand, 'more')} and {call}"
        return f"({self.write(operand)} is not absent and ({self._content(operand, 'filled')} or {further}))"

    def _call_normalize_space(self, string: Node) -> str:
        """The call is skipped for alphanumeric texts, which contain no white space."""
        call, code = self._plain("normalize_space", string), self.write(string)
        return f"({code} if {code}.isalnum() else {call})" if _content_of_path(string) else call

    def _call_substring(self, text: Node, start: Literal, length: Literal) -> str:
        first = int(start.value) - 1
        return f"{self.write(text)}[{first}:{first + int(length.value)}]"

    def _call_sum(self, addends: Generator) -> str:
        return f"reduce(add, {self._loop(addends, PRESENT)} or (0,))"


def _content_of_path(string: Node) -> bool:
    """Return whether a text is that of a value or text which may be read repeatedly."""
    match string:
        case Call(function="string", operands=[Field(name="raw", owner=owner)]):
            return is_path(owner)
        case Call(function="string", operands=[operand]):
            return is_path(operand)
    return False
