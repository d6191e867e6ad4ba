"""ForwardedHeaders behind a reverse proxy: whom to believe, and which address callers are told."""

import ipaddress

import httpx
import pytest
from served import serving

from appliance.settings import Settings
from appliance.transport.forwarded import ForwardedHeaders

PROXY = ("10.1.2.3", 4000)


async def located(settings, client=PROXY, path="/api/x", **headers):
    """The scope that the application sees."""
    seen = {}

    async def app(scope, receive, send):
        seen.update(scope)

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
    return seen


FORWARDED = {
    "x_forwarded_proto": "https",
    "x_forwarded_host": "invoices.example",
    "x_forwarded_prefix": "/inv/",
    "x_forwarded_for": "1.1.1.1, 2.2.2.2, 10.1.2.9",
}
TRUSTING = {"trusted_proxies": "10.1.0.0/16"}


@pytest.mark.anyio
async def test_a_trusted_proxy_is_believed():
    seen = await located(TRUSTING, **FORWARDED)
    assert seen["state"]["base_url"] == "https://invoices.example/inv"
    assert seen["client"][0] == "2.2.2.2", "what stands before the first stranger, anybody may have written"


@pytest.mark.anyio
@pytest.mark.parametrize("settings", [{}, {"trusted_proxies": "10.2.0.0/16,::1"}])
async def test_anybody_else_is_not(settings):
    seen = await located(settings, **FORWARDED)
    assert seen["state"]["base_url"] == "http://inside:8080"
    assert seen["client"] == PROXY


@pytest.mark.anyio
async def test_the_public_address_stands_above_all():
    seen = await located({**TRUSTING, "public_url": "https://example.org/e/"}, **FORWARDED)
    assert seen["state"]["base_url"] == "https://example.org/e"


@pytest.mark.anyio
@pytest.mark.parametrize("path", ["/e/api/x", "/api/x", "/e/e/e/api/x"])
async def test_the_prefix_may_come_along_or_not(path):
    seen = await located({"public_url": "https://example.org/e"}, path=path)
    assert (seen["root_path"], seen["path"]) == ("/e", "/api/x")


@pytest.mark.anyio
@pytest.mark.parametrize("host", ["evil/path", "a b", '"', "", "x" * 300])
async def test_hosts_that_are_none(host):
    assert (await located({}, host=host))["state"]["base_url"] == "http://127.0.0.1:8080"


@pytest.mark.anyio
@pytest.mark.parametrize("prefix", ["//evil.example", "/api", "x", "/a/../b?c", '/"'])
async def test_prefixes_that_are_none(prefix):
    seen = await located(TRUSTING, x_forwarded_prefix=prefix)
    assert seen["state"]["base_url"] == "http://inside:8080"


@pytest.mark.parametrize("address", ["example.org", "ftp://example.org", "https://x/?q", "https://x/api/y", "https://"])
def test_public_addresses_that_are_none(address):
    with pytest.raises(ValueError, match="address"):
        Settings(public_url=address)


def test_lists_in_variables(monkeypatch):
    monkeypatch.setenv("EINVOICE_TRUSTED_PROXIES", "10.0.0.0/8, ::1")
    networks = Settings().trusted_proxies
    assert networks == (ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("::1/128"))


def test_a_prefix_opens_no_way_around_the_gate(tmp_path):
    with serving(tmp_path / "data", workers=1, public_url="https://example.org/e") as server:
        for path in ("/api", "/e/api", "/e/e/api", "/e/e/e/api", "//api", "/e//api", "/e/./api"):
            for rest in ("/external/capabilities", "/external/errors/catalog", "/external/schemas/invoice-draft.json"):
                address = f"{str(server.base).rstrip('/')}{path}{rest}"
                assert httpx.get(address).status_code in (401, 404), address
        answer = server.client.get("/e/api/external/capabilities").json()
        assert answer["endpoints"]["validate"] == "https://example.org/e/api/external/validate"
