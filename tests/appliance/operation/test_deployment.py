"""The files for deployment: Compose, proxy, image."""

import datetime
import json
import re
import shutil
import subprocess

import pytest
import yaml

from appliance.access.keys import KeyFile
from appliance.contract.schemas import ProblemDetails
from appliance.settings import Settings, variable_name
from tests.helpers.served import ROOT, http

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


def test_errors_of_the_proxy_are_problems():
    configuration = (APPLIANCE / "tls-proxy.conf").read_text()
    texts = re.findall(r"map \$arg_lang \$(\w+) \{\s+default '(.*)';\s+en +'(.*)';", configuration)
    answers = re.findall(r"location = /.problem/(\w+) \{[^}]+?return (\d+) '(.*)';", configuration)
    assert {name for name, *_ in texts} == {name for name, *_ in answers}
    pages = re.findall(r"error_page .* /.problem/(\w+)\?lang=\$arg_lang;", configuration)
    assert {name for name, *_ in answers} == set(pages)
    for name, *translated in texts:
        ((status, body),) = [rest for other, *rest in answers if other == name]
        for text in translated:
            problem = ProblemDetails.model_validate_json(body.replace(f"${name}", text))
            assert (problem.status, problem.code) == (int(status), name)
            assert problem.type == f"urn:einvoice:problem:{name}"


@pytest.mark.parametrize("address", ["0.0.0.0", "::"])
def test_health_check_of_the_image_reaches_a_wildcard_address(address):
    check = re.search(r"a = e\['EINVOICE_HOST'\].*?HTTPConnection\((.*?), int", (ROOT / "Dockerfile").read_text())
    assert check is not None
    assert eval(check[1], {"a": address}) == "127.0.0.1"


@pytest.mark.slow
def test_systemd_unit_is_valid(tmp_path):
    verify = shutil.which("systemd-analyze")
    if verify is None:
        pytest.skip("systemd-analyze is not installed")
    unit = (APPLIANCE / "systemd" / "einvoice-appliance.service").read_text()
    assert "/opt/einvoice/bin/einvoice-appliance" in unit
    copy = tmp_path / "einvoice-appliance.service"
    copy.write_text(unit.replace("/opt/einvoice/bin/einvoice-appliance", "/bin/true"))  # the program must exist
    done = subprocess.run([verify, "verify", "--man=no", copy], capture_output=True, text=True, timeout=60)
    assert [line for line in done.stderr.splitlines() if copy.name in line] == []
    settings = set(re.findall(r"EINVOICE_[A-Z_]+(?==)", unit))
    assert settings <= {variable_name(name) for name in Settings.model_fields} | {"EINVOICE_CACHE"}


def test_kubernetes_manifests_fit_together():
    manifests = {item["kind"]: item for item in yaml.safe_load_all((APPLIANCE / "kubernetes.yaml").read_text())}
    assert set(manifests) == {"ConfigMap", "Service", "NetworkPolicy", "StatefulSet"}
    spec = manifests["StatefulSet"]["spec"]
    labels = spec["template"]["metadata"]["labels"]
    assert labels == spec["selector"]["matchLabels"] == manifests["Service"]["spec"]["selector"]
    assert labels == manifests["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"]
    pod = spec["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["enableServiceLinks"] is False, "EINVOICE_PORT of the service would be read as a setting"
    assert container["envFrom"] == [{"configMapRef": {"name": manifests["ConfigMap"]["metadata"]["name"]}}]
    volumes = {volume["name"] for volume in pod["volumes"]}
    volumes |= {claim["metadata"]["name"] for claim in spec["volumeClaimTemplates"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == volumes
    settings = manifests["ConfigMap"]["data"]
    values = {name.removeprefix("EINVOICE_").lower(): value for name, value in settings.items()}
    stop = float(Settings(**values).drain_seconds) + Settings(**values).shutdown_seconds
    assert pod["terminationGracePeriodSeconds"] > stop
    assert all(isinstance(value, str) for value in settings.values())


@pytest.mark.slow
def test_alerts_and_dashboard_use_existing_metrics(server):
    server.validate()
    server.client.get("/healthz", headers={"X": "x" * 70_000})
    KeyFile(server.data / "keys.env").add("expiring", "business", datetime.date(2999, 12, 31))
    exported = http.get(server.base.join("/metrics")).text
    dashboard = json.loads((APPLIANCE / "monitoring" / "dashboard.json").read_text())
    alerts = yaml.safe_load((APPLIANCE / "monitoring" / "alerts.yaml").read_text())
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    expressions += [rule["expr"] for group in alerts["groups"] for rule in group["rules"]]
    assert len(expressions) > 10
    for expression in expressions:
        for name in re.findall(r"einvoice_\w+", expression):
            assert re.search(rf"^{name}[ {{]", exported, re.MULTILINE), name
