"""What is shipped: the ranges and the locked versions, the wheel, and that it works where nothing else is."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import requires
from pathlib import Path

import httpx
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCKS = {"everything": ROOT / ".ci" / "requirements.lock", "server": ROOT / "appliance" / "requirements.lock"}
# One worker runs them all: the wheel is built and installed once.
pytestmark = pytest.mark.xdist_group("packaging")

UBL = ROOT / "appliance" / "samples" / "xrechnung-ubl.xml"


# ---------------------------------------------------------------- ranges and locks


def locked(lock: Path) -> dict[str, set[str]]:
    """Return the versions of each package; more than one where Pythons differ."""
    versions: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==(\S+)", lock.read_text(), flags=re.M):
        versions.setdefault(canonicalize_name(name), set()).add(version)
    return versions


def asked(*extras: str) -> Iterator[Requirement]:
    optional = PYPROJECT["project"]["optional-dependencies"]
    for text in [*PYPROJECT["project"]["dependencies"], *(line for extra in extras for line in optional[extra])]:
        yield Requirement(text)


@pytest.mark.parametrize(
    ("lock", "extras"),
    [("everything", list(PYPROJECT["project"]["optional-dependencies"])), ("server", ["pdf", "appliance"])],
)
def test_a_lock_meets_the_ranges(lock, extras):
    versions = locked(LOCKS[lock])
    assert len(versions) > 20
    for requirement in asked(*extras):
        for version in versions[canonicalize_name(requirement.name)]:
            assert requirement.specifier.contains(version), f"{requirement} is locked to {version}: run .ci/lock"


@pytest.mark.parametrize("lock", LOCKS.values(), ids=LOCKS.keys())
def test_a_lock_holds_packages_with_hashes_and_nothing_else(lock):
    package = re.compile(r"[\w.-]+==[^\s;]+( ; [^\\]+)? \\\n(    --hash=sha256:[0-9a-f]{64}( \\)?\n)+")
    assert package.sub("", lock.read_text()) == ""


def test_the_server_is_locked_to_the_tested_versions():
    everything, server = locked(LOCKS["everything"]), locked(LOCKS["server"])
    assert {name: everything.get(name) for name in server} == server


def test_the_core_needs_three_packages():
    core = [Requirement(line) for line in requires("einvoice-toolkit") or []]
    names = {requirement.name for requirement in core if not requirement.marker}
    assert names == {"lxml", "pydantic", "factur-x"}


# ---------------------------------------------------------------- the wheel


def run(*command: str | Path, ok: bool = True, cwd: Path | None = None) -> str:
    """Run a command without this project's environment, and return what it prints."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(command, cwd=cwd, env=kept, capture_output=True, text=True, timeout=300)
    assert (done.returncode == 0) is ok, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the sdist, and from it the wheel, as an index would get them."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def elsewhere(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an empty environment outside the checkout, install the core there, and return its folder of commands."""
    home = tmp_path_factory.mktemp("elsewhere")
    venv.create(home, with_pip=True)
    install(home / "bin", str(wheel))
    return home / "bin"


def install(commands: Path, what: str) -> None:
    constraints = commands.parent / "constraints.txt"
    pins = re.findall(r"^[\w.-]+==[^\\\n]+", LOCKS["everything"].read_text(), flags=re.M)
    constraints.write_text("\n".join(pins))
    pip = [commands / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run(*pip, "--constraint", constraints, what, cwd=commands)


@pytest.mark.slow
def test_the_wheel_carries_the_rules_and_nothing_of_the_workshop(wheel):
    shipped = set(zipfile.ZipFile(wheel).namelist())
    rules = {f"einvoice/{path.relative_to(ROOT)}" for path in (ROOT / "rules").rglob("*") if path.is_file()}
    assert rules
    assert rules <= shipped
    assert {"appliance/samples/xrechnung-ubl.xml", "appliance/samples/xrechnung-cii.xml"} <= shipped
    tops = {name.split("/")[0] for name in shipped}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"einvoice", "appliance"}
    assert not {name for name in shipped if name.endswith((".lock", "/run", ".pyc"))}


@pytest.mark.slow
def test_the_command_works_with_the_core_alone(elsewhere):
    run(elsewhere / "einvoice", "validate", UBL, cwd=elsewhere)
    wrong = elsewhere.parent / "wrong.xml"
    wrong.write_bytes(
        UBL.read_bytes().replace(b">693.00</cbc:LineExtensionAmount>", b">692.99</cbc:LineExtensionAmount>")
    )
    assert "BR-CO-10" in run(elsewhere / "einvoice", "validate", wrong, ok=False, cwd=elsewhere)


@pytest.mark.slow
def test_the_server_works_with_its_extra(elsewhere, wheel):
    install(elsewhere, f"{wheel}[appliance]")
    command = [elsewhere / "einvoice-appliance", "serve", "--try-out", "--port", "0"]
    environ = {"EINVOICE_DATA": str(elsewhere.parent / "data"), "PATH": os.environ["PATH"]}
    with subprocess.Popen(command, cwd=elsewhere, env=environ, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            call = next(shlex.split(line) for line in server.stdout if line.strip().startswith("curl "))
            name, _, key = call[call.index("-H") + 1].partition(": ")
            answer = httpx.post(call[-1], headers={name: key}, files={"file": UBL.read_bytes()})
        finally:
            server.terminate()
    assert answer.status_code == 200, answer.text
    assert answer.json()["is_valid"]
