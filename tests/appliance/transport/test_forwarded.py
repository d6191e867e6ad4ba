"""Client address and base URL behind a reverse proxy."""

import ipaddress

import pytest

from appliance.settings import Settings
from appliance.transport.forwarded import ForwardedHeaders
from tests.helpers.served import http

PROXY = ("10.1.2.3", 4000)


async def resolve(settings, client=PROXY, path="/api/x", **headers):
    """Return the scope after the middleware."""
    scope = {}

    async def app(scope, receive, send):
        scope.update(scope)

    given = {"host": "inside:8080", **{name.replace("_", "-"): value for name, value in headers.items()}}
    scope = {
        "type": "http",
        "scheme": "http",
        "path": path,
        "client": client,
        "server": ("127.0.0.1", 8080),
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
    }
    await ForwardedHeaders(app, Settings(**settings))(scope, None, None)
    return scope


FORWARDED = {
    "x_forwarded_proto": "https",
    "x_forwarded_host": "invoices.example",
    "x_forwarded_prefix": "/inv/",
    "x_forwarded_for": "1.1.1.1, 2.2.2.2, 10.1.2.9",
}
TRUSTING = {"trusted_proxies": "10.1.0.0/16"}


@pytest.mark.anyio
async def test_headers_of_a_trusted_proxy():
    scope = await resolve(TRUSTING, **FORWARDED)
    assert scope["state"]["base_url"] == "https://invoices.example/inv"
    assert scope["client"][0] == "2.2.2.2", "addresses left of the first untrusted one can be forged"


@pytest.mark.anyio
@pytest.mark.parametrize("settings", [{}, {"trusted_proxies": "10.2.0.0/16,::1"}])
async def test_headers_of_other_peers_are_ignored(settings):
    scope = await resolve(settings, **FORWARDED)
    assert scope["state"]["base_url"] == "http://inside:8080"
    assert scope["client"] == PROXY


@pytest.mark.anyio
async def test_public_url_takes_precedence():
    scope = await resolve({**TRUSTING, "public_url": "https://example.org/e/"}, **FORWARDED)
    assert scope["state"]["base_url"] == "https://example.org/e"


@pytest.mark.anyio
@pytest.mark.parametrize("path", ["/e/api/x", "/api/x", "/e/e/e/api/x"])
async def test_prefix_is_stripped(path):
    scope = await resolve({"public_url": "https://example.org/e"}, path=path)
    assert (scope["root_path"], scope["path"]) == ("/e", "/api/x")


@pytest.mark.anyio
@pytest.mark.parametrize("host", ["evil/path", "a b", '"', "", "x" * 300])
async def test_invalid_host(host):
    assert (await resolve({}, host=host))["state"]["base_url"] == "http://127.0.0.1:8080"


@pytest.mark.anyio
@pytest.mark.parametrize("prefix", ["//evil.example", "/api", "x", "/a/../b?c", '/"'])
async def test_invalid_prefix(prefix):
    scope = await resolve(TRUSTING, x_forwarded_prefix=prefix)
    assert scope["state"]["base_url"] == "http://inside:8080"


@pytest.mark.parametrize("address", ["example.org", "ftp://example.org", "https://x/?q", "https://x/api/y", "https://"])
def test_invalid_public_url(address):
    with pytest.raises(ValueError, match="address"):
        Settings(public_url=address)


def test_comma_separated_settings(monkeypatch):
    monkeypatch.setenv("EINVOICE_TRUSTED_PROXIES", "10.0.0.0/8, ::1")
    networks = Settings().trusted_proxies
    assert networks == (ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("::1/128"))


@pytest.mark.slow
def test_redirects_keep_the_public_url(prefixed):
    for path in ("/healthz/", "/e/healthz/"):
        response = prefixed.client.get(path, params={"a": "b"}, follow_redirects=False)
        assert (response.status_code, response.headers["location"]) == (307, "https://example.org/e/healthz?a=b")


@pytest.mark.slow
def test_prefix_does_not_bypass_authentication(prefixed):
    for path in ("/api", "/e/api", "/e/e/api", "/e/e/e/api", "//api", "/e//api", "/e/./api"):
        for rest in ("/external/capabilities", "/external/errors/catalog", "/external/schemas/invoice-draft.json"):
            address = f"{str(prefixed.base).rstrip('/')}{path}{rest}"
            assert http.get(address).status_code in (401, 404), address
    response = prefixed.client.get("/e/api/external/capabilities").json()
    assert response["endpoints"]["validate"] == "https://example.org/e/api/external/validate"
