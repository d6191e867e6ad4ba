"""Problems: error responses as problem details (RFC 9457, application/problem+json).

Each module declares the problem types it can raise as `ProblemType`. Raising `Problem(TYPE)` while a request is handled
answers the request with that problem. A body has the members `type`, `title`, `status`, `detail` and `code`. Clients
distinguish problems by `code`, which is stable. `appliance.transport.problem_responses` builds the responses; this
module does not import the web framework, because workers import it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from appliance.contract.values import Language
from einvoice.localization import Messages

_TITLES: Final = Messages("appliance", "problem_titles")
_DETAILS: Final = Messages("appliance", "problem_details")

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
class ProblemType:
    """A problem type. Its title is in the message files under its code, its detail under `message`.

    Attributes:
        code: stable identifier in snake_case.
        status: HTTP status code.
        example: values for the detail in the OpenAPI document.
        message: key of the detail; by default the code. Types with the same code differ in it.
    """

    code: str
    status: int
    example: Mapping[str, str | int] = field(default_factory=dict, compare=False)
    message: str = ""

    def title(self, language: Language) -> str:
        """Return the title in `language`."""
        return _TITLES[language][self.code]


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
        detail = _DETAILS[language][self.type.message or self.type.code].format_map(self.values)
        return problem_details(self.type.status, self.type.code, self.type.title(language), detail)


def problem_details(status: int, code: str, title: str, detail: str, **extensions: Any) -> dict[str, Any]:
    """Return problem details with the five common members and `extensions`."""
    type_uri = f"urn:einvoice:problem:{code}"
    return {"type": type_uri, "title": title, "status": status, "detail": detail, "code": code, **extensions}


NOT_FOUND = ProblemType("not_found", 404)
METHOD_NOT_ALLOWED = ProblemType("method_not_allowed", 405, example={"method": "DELETE"})
INTERNAL_ERROR = ProblemType("internal_error", 500)
