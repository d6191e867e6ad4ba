"""Problems: what the appliance answers when it cannot do what was asked (RFC 9457, application/problem+json).

A kind of problem is declared where it arises, as a `ProblemKind` with its words in both languages; raising
`Problem(KIND)` anywhere in a request answers it. The answer's members are `type`, `title`, `status`, `detail` and
`code`; clients tell problems apart by `code`, which never changes. How they are answered, `appliance.answers` knows:
the processes that judge documents need no web framework to say what is wrong.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Language = Literal["de", "en"]

QUOTED = 40
"""So many characters of an offending value a problem quotes at most."""


def quoted(value: str) -> str:
    r"""Return the beginning of `value`, safe to show: escaped, `QUOTED` characters at most.

    >>> quoted("Grün\n")
    'Grün\\n'
    >>> len(quoted("x" * 50))
    40
    """
    escaped = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in value[:QUOTED])
    return escaped if len(escaped) <= QUOTED and len(value) <= QUOTED else escaped[: QUOTED - 1] + "…"


@dataclass(frozen=True, slots=True)
class Words:
    """One language's texts of a problem; `{name}` in the detail is filled from the problem's values."""

    title: str
    detail: str


@dataclass(frozen=True, slots=True)
class ProblemKind:
    """A kind of problem: its stable code (snake_case), the HTTP status it answers with, its words.

    `example` has values that its details may quote, for the description of the interface.
    """

    code: str
    status: int
    de: Words
    en: Words
    example: Mapping[str, str | int] = field(default_factory=dict, compare=False)


class Problem(Exception):  # noqa: N818 (the word of RFC 9457)
    """Raised to answer a request with a problem.

    Attributes:
        kind: which one.
        headers: HTTP headers that belong to the answer, such as Retry-After.
        values: what the detail quotes; texts from the caller are shortened and escaped here.
    """

    def __init__(self, kind: ProblemKind, *, headers: Mapping[str, str] | None = None, **values: str | int) -> None:
        super().__init__(kind.code)
        self.kind = kind
        self.headers = headers
        self.values = {name: quoted(value) if isinstance(value, str) else value for name, value in values.items()}

    def told(self, language: Language) -> dict[str, Any]:
        """Return the members of the answer in `language`."""
        words = self.kind.en if language == "en" else self.kind.de
        return members(self.kind.status, self.kind.code, words.title, words.detail.format_map(self.values))


def members(status: int, code: str, title: str, detail: str, **further: Any) -> dict[str, Any]:
    """Return the members of a problem: the five that each has, and `further` ones."""
    kind = f"urn:einvoice:problem:{code}"
    return {"type": kind, "title": title, "status": status, "detail": detail, "code": code, **further}


NOT_FOUND = ProblemKind(
    "not_found",
    404,
    de=Words("Nicht gefunden", "Unter dieser Adresse gibt es hier nichts. Bitte die Schreibweise prüfen."),
    en=Words("Not found", "There is nothing at this address. Please check its spelling."),
)
METHOD_NOT_ALLOWED = ProblemKind(
    "method_not_allowed",
    405,
    de=Words("Methode nicht erlaubt", "Diese Adresse kennt die Methode {method} nicht."),
    en=Words("Method not allowed", "This address does not know the method {method}."),
    example={"method": "DELETE"},
)
INTERNAL_ERROR = ProblemKind(
    "internal_error",
    500,
    de=Words("Interner Fehler", "Hier ist ein Fehler passiert, der nicht an Ihrer Anfrage liegen muss."),
    en=Words("Internal error", "Something went wrong here; the fault need not be in your request."),
)
