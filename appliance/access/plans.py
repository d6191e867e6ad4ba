"""Plans: the entitlements and limits of API keys. A plan is a line of the key file, or an environment variable:

    EINVOICE_PLAN_TRIAL=can_use_api,can_batch,daily_validation_limit=100,requests_per_minute=60,concurrent_requests=2

Plan not listed are not granted; limits not listed do not apply. The plan `business` is built in.
"""

import logging
import re
from collections.abc import Iterable

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
)


def is_plan_line(line: str) -> bool:
    """Return whether a line of an environment file defines a plan."""
    return line.lstrip().startswith(PREFIX)


def parse_plans(lines: Iterable[str], source: str) -> dict[str, Plan]:
    """Return the plans in `lines`, and `business`, by name. An invalid line is logged and skipped."""
    plans = {BUSINESS.plan_type: BUSINESS}
    for number, line in enumerate(lines, start=1):
        if not is_plan_line(line):
            continue
        try:
            plan = _parse_plan(line.strip())
        except ValueError:
            log.warning("%s, line %d: not a valid plan, ignored", source, number)
        else:
            plans[plan.plan_type] = plan
    return plans


def _parse_plan(line: str) -> Plan:
    match = _LINE.fullmatch(line)
    if match is None:
        raise ValueError(line)
    name, value = match.groups()
    fields: dict[str, str] = {}
    for item in filter(None, (part.strip() for part in value.split(","))):
        field, _, limit = item.partition("=")
        fields[field] = limit or "true"
    try:
        return Plan.model_validate({**fields, "plan_type": name.lower().replace("_", "-")})
    except ValidationError as error:
        raise ValueError(line) from error
