"""What the routes share: one of each for a running appliance."""

from dataclasses import dataclass

from starlette.requests import Request

from appliance.artifacts import Artifacts
from appliance.keys import Key, KeyRing
from appliance.metrics import Metrics
from appliance.plans import Entitlements
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


def caller(request: Request) -> Caller:
    """Return who asks."""
    return Caller(request.state.key, request.state.rights)
