"""What the routes share: one of each for a running appliance."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from appliance.artifacts import Artifacts
from appliance.gate import KEY_MISSING
from appliance.keys import Key, KeyRing
from appliance.metrics import Metrics
from appliance.plans import Entitlements
from appliance.problems import Problem
from appliance.settings import Settings
from appliance.usage import Usage
from appliance.workers import Workers


@dataclass(frozen=True, slots=True)
class Services:
    """The parts of a running appliance."""

    settings: Settings
    keys: KeyRing
    workers: Workers
    artifacts: Artifacts
    metrics: Metrics
    usage: Usage


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: the key, and what its plan entitles to. `appliance.gate` has found both."""

    key: Key
    rights: Entitlements


async def caller(request: Request) -> Caller:
    """Return who asks.

    Raises:
        Problem: nobody that the gate has let in.
    """
    key, rights = getattr(request.state, "key", None), getattr(request.state, "rights", None)
    if key is None or rights is None:
        raise Problem(KEY_MISSING)
    return Caller(key, rights)


Who = Annotated[Caller, Depends(caller)]
"""Who asks, as the parameter of a route."""
