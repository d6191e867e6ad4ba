"""Plans: what the holders of keys may do. A plan stands beside the keys, in the same file or environment:

    EINVOICE_PLAN_TRIAL=can_use_api,can_batch,daily_validation_limit=100

What is not named, the plan has not; a limit that is not named, there is not. `business` is known without a line.
"""

import logging
import re
from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, Field, ValidationError

log = logging.getLogger(__name__)

PREFIX = "EINVOICE_PLAN_"
_LINE = re.compile(rf"{PREFIX}([A-Z0-9_]+)=(.*)")


class Entitlements(BaseModel):
    """What a plan entitles to, as the interface tells it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    plan_type: str = Field(examples=["business"])
    daily_usage_limit: int | None = Field(
        default=None, ge=0, description="Requests a day (UTC); null: as many as one likes."
    )
    daily_validation_limit: int | None = Field(default=None, ge=0, description="Files a day (UTC); null: no limit.")
    can_view_structured_invoice: bool = Field(default=False, examples=[True])
    can_generate_invoice: bool = Field(default=False, examples=[True])
    can_download_readable_pdf: bool = Field(default=False, examples=[True])
    can_export: bool = Field(default=False, examples=[False])
    can_autofix: bool = Field(default=False, examples=[True])
    can_batch: bool = Field(default=False, examples=[True])
    can_use_api: bool = Field(default=False, examples=[True])
    can_use_inbound_email: bool = Field(default=False, examples=[True])


BUSINESS = Entitlements(
    plan_type="business",
    can_view_structured_invoice=True,
    can_generate_invoice=True,
    can_download_readable_pdf=True,
    can_autofix=True,
    can_batch=True,
    can_use_api=True,
    can_use_inbound_email=True,
)


def is_plan(line: str) -> bool:
    """Whether a line of an environment file is about a plan."""
    return line.lstrip().startswith(PREFIX)


def parse_plans(lines: Iterable[str], source: str) -> dict[str, Entitlements]:
    """Return the plans on `lines` by name, and `business` whether it is there or not.

    A damaged line entitles to nothing: it is logged, and its plan is none.
    """
    plans = {BUSINESS.plan_type: BUSINESS}
    for number, line in enumerate(lines, start=1):
        if not is_plan(line):
            continue
        try:
            plan = _plan(line.strip())
        except ValueError:
            log.warning("%s, line %d is no plan and is ignored", source, number)
        else:
            plans[plan.plan_type] = plan
    return plans


def _plan(line: str) -> Entitlements:
    match = _LINE.fullmatch(line)
    if match is None:
        raise ValueError(line)
    name, value = match.groups()
    fields: dict[str, str] = {}
    for word in filter(None, (part.strip() for part in value.split(","))):
        field, _, limit = word.partition("=")
        fields[field] = limit or "true"
    try:
        return Entitlements.model_validate({**fields, "plan_type": name.lower().replace("_", "-")})
    except ValidationError as error:
        raise ValueError(line) from error
