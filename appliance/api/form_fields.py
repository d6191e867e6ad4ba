"""Form fields that several requests share."""

from collections.abc import Mapping
from typing import TypeVar

from appliance.access.auth import RIGHT_REQUIRED
from appliance.contract.problems import Problem, ProblemType
from appliance.contract.schemas import Entitlements
from appliance.contract.values import ENGINES, Engine, Mode

T = TypeVar("T")

INVALID_ENGINE = ProblemType("invalid_engine", 422, example={"known": "native | reference | both", "value": "java"})
INVALID_MODE = ProblemType(
    "invalid_validation_mode", 422, example={"known": "current | compatibility", "value": "strict"}
)
INVALID_TO = ProblemType("invalid_to", 422, example={"known": "UBL | CII", "value": "PDF"})

_TARGETS: dict[str, str | None] = {"UBL": "UBL", "CII": "CII"}


def form_target(fields: Mapping[str, str]) -> str | None:
    """Return the syntax to convert to; None if the field is missing or empty.

    Raises:
        Problem: unknown syntax.
    """
    return _choice(fields, "to", _TARGETS, "", INVALID_TO) if fields.get("to") else None


def form_mode(fields: Mapping[str, str], modes: Mapping[str, Mode]) -> Mode:
    """Return the validation mode from a form, one of `modes`; "current" if the field is missing.

    Raises:
        Problem: unknown mode.
    """
    return _choice(fields, "validation_mode", modes, "current", INVALID_MODE)


def form_engine(fields: Mapping[str, str], default: Engine, entitlements: Entitlements) -> Engine:
    """Return the engine from a form; `default` if the field is missing.

    Raises:
        Problem: unknown engine, or the plan does not include the reference engine, which `default` does not use.
    """
    engine = _choice(fields, "engine", ENGINES, default, INVALID_ENGINE)
    if engine != "native" and default == "native" and not entitlements.can_use_reference:
        raise Problem(RIGHT_REQUIRED, right="can_use_reference")
    return engine


def _choice(fields: Mapping[str, str], name: str, choices: Mapping[str, T], default: str, problem: ProblemType) -> T:
    value = fields.get(name, default)
    if value not in choices:
        raise Problem(problem, known=" | ".join(choices), value=value)
    return choices[value]
