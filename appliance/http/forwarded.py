"""Addresses: who asks, and under which address the appliance is known to them, behind a reverse proxy too.

`X-Forwarded-For`, `-Proto`, `-Host` and `-Prefix` are believed only from the proxies that the operator trusts;
`EINVOICE_PUBLIC_URL` stands above them all.
"""

import ipaddress
import re
from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from appliance.settings import Network, Settings

_HOST = re.compile(r"[A-Za-z0-9.-]{1,253}(:\d{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](:\d{1,5})?")
_PREFIX = re.compile(r"(/[A-Za-z0-9._~-]+)+")


def base_url(scope: Scope) -> str:
    """Return the address that the paths of the appliance begin with for this caller, without a slash at its end."""
    base: str = scope["state"]["base_url"]
    return base


class Addresses:
    """Works out the base address of each request, and takes the path's prefix off if the proxy has not."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self._public = settings.public_url
        self._prefix = settings.path_prefix
        self._trusted = settings.trusted_proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on with the address in its state as `base_url`."""
        if scope["type"] == "http":
            self._locate(scope)
        await self.app(scope, receive, send)

    def _locate(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        scheme, host, prefix = scope["scheme"], headers.get("host", ""), self._prefix
        client = scope["client"][0] if scope.get("client") else ""
        if _is_in(client, self._trusted):
            forwarded = headers.get("x-forwarded-proto", "").strip().lower()
            scheme = forwarded if forwarded in ("http", "https") else scheme
            host = headers.get("x-forwarded-host", host).strip()
            asked = headers.get("x-forwarded-prefix", "").rstrip("/")
            prefix = prefix or (asked if _PREFIX.fullmatch(asked) and not asked.startswith("/api") else "")
            scope["client"] = (self._caller(client, headers.getlist("x-forwarded-for")), 0)
        if not _HOST.fullmatch(host):
            host = ":".join(map(str, filter(None, scope.get("server") or ("localhost",))))
        scope["scheme"] = scheme
        if prefix:
            # As often as it is there: what stands behind the gate would take it off once more.
            while scope["path"].startswith(f"{prefix}/"):
                scope["path"] = scope["path"].removeprefix(prefix)
            scope["root_path"] = prefix
        scope.setdefault("state", {})["base_url"] = self._public or f"{scheme}://{host}{prefix}"

    def _caller(self, client: str, forwarded: Sequence[str]) -> str:
        """The nearest address that is no trusted proxy: what stands before it, anybody may have written."""
        for address in reversed([part.strip() for line in forwarded for part in line.split(",")]):
            if not _is_address(address):
                break
            client = address
            if not _is_in(address, self._trusted):
                break
        return client


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_in(address: str, networks: Sequence[Network]) -> bool:
    return bool(networks) and _is_address(address) and any(ipaddress.ip_address(address) in net for net in networks)
