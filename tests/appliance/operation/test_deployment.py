"""The files for deployment: Compose, proxy, image."""

import re

import pytest
import yaml
from served import ROOT

from appliance.settings import Settings, variable_name

APPLIANCE = ROOT / "appliance"


def test_compose_file_does_not_override_the_settings_of_the_operator():
    service = yaml.safe_load((APPLIANCE / "compose.yaml").read_text())["services"]["appliance"]
    settings = {variable_name(name) for name in Settings.model_fields}
    assert settings.isdisjoint(service.get("environment", {}))
    assert [file["path"] for file in service["env_file"]] == ["compose.env", "appliance.env"], "later files win"
    defaults = dict(line.split("=") for line in (APPLIANCE / "compose.env").read_text().splitlines() if "=" in line)
    assert set(defaults) <= settings
    network = yaml.safe_load((APPLIANCE / "compose.yaml").read_text())["services"]["proxy"]["networks"]["internal"]
    assert defaults["EINVOICE_TRUSTED_PROXIES"] == network["ipv4_address"]


@pytest.mark.parametrize("path", ["/metrics", "/metrics/", "/einvoice/metrics", "/a/b/metrics/"])
def test_proxy_hides_the_metrics_with_any_prefix(path):
    configuration = (APPLIANCE / "tls-proxy.conf").read_text()
    (pattern,) = re.findall(r"location ~ (\S+) \{\s+return 404;", configuration)
    assert re.search(pattern, path)
    assert not re.search(pattern, "/catalog/metrics-1")


@pytest.mark.parametrize("address", ["0.0.0.0", "::"])
def test_health_check_of_the_image_reaches_a_wildcard_address(address):
    check = re.search(r"a = e\['EINVOICE_HOST'\].*?HTTPConnection\((.*?), int", (ROOT / "Dockerfile").read_text())
    assert check is not None
    assert eval(check[1], {"a": address}) == "127.0.0.1"
