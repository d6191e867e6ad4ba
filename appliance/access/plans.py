"""Plans: the entitlements and limits of API keys. A plan is a line of the key file, or an environment variable:

    EINVOICE_PLAN_TRIAL=can_use_api,can_batch,daily_validation_limit=100,requests_per_minute=60,concurrent_requests=2

Plan not listed are not granted; limits not listed do not apply. The plan `business` is built in.
"""

import logging
import re
from collections.abc import Iterable
from typing import TypeAlias

from pydantic import ValidationError

from appliance.contract.schemas import Plan

log = logging.getLogger(__name__)

PREFIX = "EINVOICE_PLAN_"
_LINE = re.compile(rf"{PREFIX}([A-Z0-9_]+)=(.*)")

BUSINESS = Plan(
    plan_type="business",
    can_view_structured_invoice=True,
    can_generate_invoice=True,
    can_download_readable_pdf=True,
    can_autofix=True,
    can_batch=True,
    can_use_api=True,
    can_use_inbound_email=True,
    can_convert=True,
    can_extract=True,
    can_fix=True,
    can_read=True,
    can_diff=True,
    can_use_jobs=True,
)


Line: TypeAlias = tuple[str, str]
"""Where a line is, for messages, and the line."""


def numbered(lines: Iterable[str], source: str) -> list[Line]:
    """Return the lines of a file with their numbers."""
    return [(f"{source}, line {number}", line) for number, line in enumerate(lines, start=1)]


def is_plan_line(line: str) -> bool:
    """Return whether a line of an environment file defines a plan."""
    return line.lstrip().startswith(PREFIX)


def parse_plans(lines: Iterable[Line]) -> dict[str, Plan]:
    """Return the plans in `lines`, and `business`, by name. An invalid line is logged and skipped."""
    plans = {BUSINESS.plan_type: BUSINESS}
    for place, line in lines:
        if not is_plan_line(line):
            continue
        try:
            plan = parse_plan(line)
        except ValueError as error:
            log.error("%s: not a valid plan, ignored: %s", place, error)
        else:
            plans[plan.plan_type] = plan
    return plans


def parse_plan(line: str) -> Plan:
    """Return the plan that a line defines.

    Raises:
        ValueError: the line is wrong; the message says why.
    """
    match = _LINE.fullmatch(line.strip())
    if match is None:
        raise ValueError(f"must be {PREFIX}NAME=…, with a name of A-Z, 0-9 and _")
    name, value = match.groups()
    fields: dict[str, str] = {}
    for item in filter(None, (part.strip() for part in value.split(","))):
        field, _, limit = item.partition("=")
        fields[field] = limit or "true"
    try:
        return Plan.model_validate({**fields, "plan_type": name.lower().replace("_", "-")})
    except ValidationError as error:
        wrong = error.errors()[0]
        raise ValueError(f"{wrong['loc'][0]}: {wrong['msg']}") from None
