"""Client address and base URL behind a reverse proxy.

`X-Forwarded-For`, `-Proto`, `-Host` and `-Prefix` are honoured only from trusted proxies (EINVOICE_TRUSTED_PROXIES);
EINVOICE_PUBLIC_URL takes precedence over all of them.
"""

import ipaddress
import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from appliance.settings import Network, Settings

_HOST = re.compile(r"[A-Za-z0-9.-]{1,253}(:\d{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](:\d{1,5})?")
_PREFIX = re.compile(r"(/[A-Za-z0-9._~-]+)+")


def base_url(scope: Scope) -> str:
    """Return the base URL of the service as the client knows it, without a trailing slash."""
    url: str = scope["state"]["base_url"]
    return url


class ForwardedHeaders:
    """ASGI middleware: sets scheme, client address and `state["base_url"]`, and strips the path prefix.

    Redirects, which the router builds from the request, are directed to the base URL.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self._public_url = settings.public_url
        self._prefix = settings.path_prefix
        self._trusted = settings.trusted_proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with the resolved addresses."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        self._resolve(scope)

        async def redirecting_send(message: Message) -> None:
            if message["type"] == "http.response.start" and 300 <= message["status"] < 400:
                headers = MutableHeaders(scope=message)
                if location := headers.get("location"):
                    parts = urlsplit(location)
                    query = f"?{parts.query}" if parts.query else ""
                    headers["location"] = f"{base_url(scope)}{parts.path}{query}"
            await send(message)

        await self.app(scope, receive, redirecting_send)

    def _resolve(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        scheme, host, prefix = scope["scheme"], headers.get("host", ""), self._prefix
        peer = scope["client"][0] if scope.get("client") else ""
        if is_in(peer, self._trusted):
            forwarded_scheme = headers.get("x-forwarded-proto", "").strip().lower()
            scheme = forwarded_scheme if forwarded_scheme in ("http", "https") else scheme
            host = headers.get("x-forwarded-host", host).strip()
            prefix = prefix or _valid_prefix(headers.get("x-forwarded-prefix", "").rstrip("/"))
            scope["client"] = (self._client(peer, headers.getlist("x-forwarded-for")), 0)
        if not _HOST.fullmatch(host):
            host = ":".join(map(str, filter(None, scope.get("server") or ("localhost",))))
        scope["scheme"] = scheme
        if prefix:
            # Repeatedly: the router would strip `root_path` once more, past the check of the API key.
            while scope["path"].startswith(f"{prefix}/"):
                scope["path"] = scope["path"].removeprefix(prefix)
            scope["root_path"] = prefix
        scope.setdefault("state", {})["base_url"] = self._public_url or f"{scheme}://{host}{prefix}"

    def _client(self, peer: str, forwarded: Sequence[str]) -> str:
        """Return the nearest address that is not a trusted proxy; anything to its left can be forged."""
        for address in reversed([part.strip() for line in forwarded for part in line.split(",")]):
            if not _is_address(address):
                break
            peer = address
            if not is_in(address, self._trusted):
                break
        return peer


def _valid_prefix(prefix: str) -> str:
    return prefix if _PREFIX.fullmatch(prefix) and not prefix.startswith("/api") else ""


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def is_in(address: str, networks: Sequence[Network]) -> bool:
    """Return whether an address belongs to one of the networks."""
    return bool(networks) and _is_address(address) and any(ipaddress.ip_address(address) in net for net in networks)
