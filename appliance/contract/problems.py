"""Problems: error responses as problem details (RFC 9457, application/problem+json).

Each module declares the problem types it can raise as `ProblemType`. Raising `Problem(TYPE)` while a request is handled
answers the request with that problem. A body has the members `type`, `title`, `status`, `detail` and `code`. Clients
distinguish problems by `code`, which is stable. `appliance.transport.problem_responses` builds the responses; this
module does not import the web framework, because workers import it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from appliance.contract.values import Language

MAX_QUOTED_CHARACTERS = 40
"""Maximum number of characters quoted from a caller's value in a problem."""


def quoted(value: str) -> str:
    r"""Return the beginning of `value`, escaped and at most `MAX_QUOTED_CHARACTERS` long.

    >>> quoted("Grün\n")
    'Grün\\n'
    >>> len(quoted("x" * 50))
    40
    """
    limit = MAX_QUOTED_CHARACTERS
    escaped = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in value[:limit])
    return escaped if len(escaped) <= limit and len(value) <= limit else escaped[: limit - 1] + "…"


@dataclass(frozen=True, slots=True)
class ProblemText:
    """Title and detail in one language; `{name}` in the detail is replaced by the problem's values."""

    title: str
    detail: str


@dataclass(frozen=True, slots=True)
class ProblemType:
    """A problem type.

    Attributes:
        code: stable identifier in snake_case.
        status: HTTP status code.
        de, en: texts.
        example: values for the detail in the OpenAPI document.
    """

    code: str
    status: int
    de: ProblemText
    en: ProblemText
    example: Mapping[str, str | int] = field(default_factory=dict, compare=False)


class Problem(Exception):  # noqa: N818 (the term of RFC 9457)
    """Raised to answer a request with a problem.

    Attributes:
        type: problem type.
        headers: additional HTTP response headers, such as Retry-After.
        values: values for the detail; strings are shortened and escaped.
    """

    def __init__(self, type: ProblemType, *, headers: Mapping[str, str] | None = None, **values: str | int) -> None:
        super().__init__(type.code)
        self.type = type
        self.headers = headers
        self.values = {name: quoted(value) if isinstance(value, str) else value for name, value in values.items()}

    def to_dict(self, language: Language) -> dict[str, Any]:
        """Return the problem details in `language`."""
        text = self.type.en if language == "en" else self.type.de
        return problem_details(self.type.status, self.type.code, text.title, text.detail.format_map(self.values))


def problem_details(status: int, code: str, title: str, detail: str, **extensions: Any) -> dict[str, Any]:
    """Return problem details with the five common members and `extensions`."""
    type_uri = f"urn:einvoice:problem:{code}"
    return {"type": type_uri, "title": title, "status": status, "detail": detail, "code": code, **extensions}


NOT_FOUND = ProblemType(
    "not_found",
    404,
    de=ProblemText("Nicht gefunden", "Unter dieser Adresse gibt es hier nichts. Bitte die Schreibweise prüfen."),
    en=ProblemText("Not found", "This address does not exist. Check its spelling."),
)
METHOD_NOT_ALLOWED = ProblemType(
    "method_not_allowed",
    405,
    de=ProblemText("Methode nicht erlaubt", "Diese Adresse unterstützt die Methode {method} nicht."),
    en=ProblemText("Method not allowed", "This address does not support the method {method}."),
    example={"method": "DELETE"},
)
INTERNAL_ERROR = ProblemType(
    "internal_error",
    500,
    de=ProblemText("Interner Fehler", "Bei der Bearbeitung ist ein interner Fehler aufgetreten."),
    en=ProblemText("Internal error", "An internal error occurred while processing the request."),
)
