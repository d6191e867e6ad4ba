"""Packaging: dependency ranges, lock files, and the wheel in a clean environment."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import requires
from pathlib import Path

import httpx
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.helpers.paths import ROOT
from tests.helpers.waiting import SECONDS, wait_until

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCKS = {"everything": ROOT / ".ci" / "requirements.lock", "server": ROOT / "appliance" / "requirements.lock"}

UBL = ROOT / "einvoice" / "sample_invoices" / "xrechnung-ubl.xml"


# ---------------------------------------------------------------- ranges and locks


def locked(lock: Path) -> dict[str, set[str]]:
    """Return the versions of each package; more than one where Pythons differ."""
    versions: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==(\S+)", lock.read_text(), flags=re.M):
        versions.setdefault(canonicalize_name(name), set()).add(version)
    return versions


def requirements(*extras: str) -> Iterator[Requirement]:
    optional = PYPROJECT["project"]["optional-dependencies"]
    for text in [*PYPROJECT["project"]["dependencies"], *(line for extra in extras for line in optional[extra])]:
        yield Requirement(text)


@pytest.mark.parametrize(
    ("lock", "extras"),
    [("everything", list(PYPROJECT["project"]["optional-dependencies"])), ("server", ["pdf", "appliance"])],
)
def test_locked_versions_satisfy_the_ranges(lock, extras):
    versions = locked(LOCKS[lock])
    assert len(versions) > 20
    for requirement in requirements(*extras):
        for version in versions[canonicalize_name(requirement.name)]:
            assert requirement.specifier.contains(version), f"{requirement} is locked to {version}: run .ci/lock"


@pytest.mark.parametrize("lock", LOCKS.values(), ids=LOCKS.keys())
def test_lock_contains_only_packages_with_hashes(lock):
    package = re.compile(r"[\w.-]+==[^\s;]+( ; [^\\]+)? \\\n(    --hash=sha256:[0-9a-f]{64}( \\)?\n)+")
    assert package.sub("", lock.read_text()) == ""


def test_server_lock_has_the_tested_versions():
    everything, server = locked(LOCKS["everything"]), locked(LOCKS["server"])
    assert {name: everything.get(name) for name in server} == server


def test_core_dependencies():
    core = [Requirement(line) for line in requires("einvoice-toolkit") or []]
    names = {requirement.name for requirement in core if not requirement.marker}
    assert names == {"lxml", "pydantic", "python-stdnum", "factur-x"}


# ---------------------------------------------------------------- the wheel


def run(*command: str | Path, ok: bool = True, cwd: Path | None = None, **settings: str) -> str:
    """Run a command without this project's environment but with `settings`, and return what it prints."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    environ |= settings
    done = subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, timeout=300)
    assert (done.returncode == 0) is ok, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the sdist, and from it the wheel, as an index would get them."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    (built,) = folder.glob("*.whl")
    return built


#: What a user types in an empty folder: from the installation to the most frequent errors of a folder of invoices.
TRANSCRIPT = """
python -m venv env
env/bin/pip install --quiet {wheel}
env/bin/einvoice validate --lang en --summary invoices
"""


@pytest.fixture(scope="module")
def transcript(wheel: Path) -> list[str]:
    """Return the three commands."""
    commands = TRANSCRIPT.format(wheel=wheel).strip().splitlines()
    assert len(commands) == 3
    return commands


@pytest.fixture(scope="module")
def clean_environment(transcript: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an environment outside the checkout with the first two commands; return its folder of commands."""
    folder = tmp_path_factory.mktemp("clean")
    (folder / "constraints.txt").write_text("\n".join(pins()))
    for command in transcript[:2]:
        typed(command, folder)
    return folder / "env" / "bin"


def pins() -> list[str]:
    """Return the tested versions as constraints for pip."""
    return re.findall(r"^[\w.-]+==[^\\\n]+", LOCKS["everything"].read_text(), flags=re.M)


def typed(command: str, folder: Path, ok: bool = True) -> str:
    """Run a command as typed in a folder, with the tested versions for pip; return what it prints."""
    name, *arguments = shlex.split(command)
    program = sys.executable if name == "python" else folder / name
    settings = {"PIP_CONSTRAINT": "constraints.txt", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_COMPILE": "1"}
    return run(program, *arguments, ok=ok, cwd=folder, **settings)


@pytest.mark.slow
def test_wheel_contains_rules_and_no_development_files(wheel):
    shipped = set(zipfile.ZipFile(wheel).namelist())
    rules = {f"einvoice/{path.relative_to(ROOT)}" for path in (ROOT / "rules").rglob("*") if path.is_file()}
    assert rules
    assert rules <= shipped
    assert {"einvoice/sample_invoices/xrechnung-ubl.xml", "einvoice/sample_invoices/xrechnung-cii.xml"} <= shipped
    folders = {name.split("/")[0] for name in shipped}
    assert {folder for folder in folders if not folder.endswith(".dist-info")} == {"einvoice", "appliance"}
    assert not {name for name in shipped if name.endswith((".lock", "/run", ".pyc"))}


@pytest.mark.slow
def test_command_works_with_core_dependencies_only(clean_environment):
    run(clean_environment / "einvoice", "validate", UBL, cwd=clean_environment)
    wrong = clean_environment.parent / "wrong.xml"
    wrong.write_bytes(
        UBL.read_bytes().replace(b">693.00</cbc:LineExtensionAmount>", b">692.99</cbc:LineExtensionAmount>")
    )
    assert "BR-CO-10" in run(clean_environment / "einvoice", "validate", wrong, ok=False, cwd=clean_environment)


@pytest.mark.slow
def test_three_commands_lead_to_the_worst_rules_of_a_folder(clean_environment, transcript):
    folder = clean_environment.parent.parent
    write_invoices(folder / "invoices", {"BR-CO-10": 7, "BR-DE-15": 5, "BR-CO-09": 3, "BR-DE-7": 1})
    printed = typed(transcript[-1], folder, ok=False)  # exit status 1: there are errors
    headline, _, *rules = printed.splitlines()
    assert headline == "20 files: 4 valid, 16 not valid"
    worst = [line.split()[:3] for line in rules[:4]]
    # a wrong sum violates a second rule, which depends on it
    assert worst == [["BR-CO-10", "7", "files"], ["BR-CO-13", "7", "files"], ["BR-DE-15", "5", "files"],
                     ["BR-CO-09", "3", "files"]]  # fmt: skip
    assert rules[0].endswith("The line net amounts do not add up")


def write_invoices(folder: Path, planted: dict[str, int]) -> None:
    """Write 20 invoices, each with at most one error: `planted` has the number of invoices by rule."""
    changes = {
        "BR-CO-10": (rb">693.00</cbc:LineExtensionAmount>", b">692.99</cbc:LineExtensionAmount>"),
        "BR-DE-15": (rb"\s*<cbc:BuyerReference>.*?</cbc:BuyerReference>", b""),
        "BR-CO-09": (rb"<cbc:CompanyID>DE", b"<cbc:CompanyID>"),
        "BR-DE-7": (rb"\s*<cbc:ElectronicMail>.*?</cbc:ElectronicMail>", b""),
    }
    folder.mkdir()
    errors = [code for code, count in planted.items() for _ in range(count)]
    for number in range(20):
        data = UBL.read_bytes()
        if number < len(errors):
            data, count = re.subn(*changes[errors[number]], data, count=1)
            assert count == 1
        (folder / f"{number:02}.xml").write_bytes(data)


IMPORTED = """
import sys, einvoice
einvoice.validate({file!r}).is_valid
print(*(name for name in sys.modules if name.startswith("einvoice.rulebook")))
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["xrechnung-ubl.xml", "xrechnung-cii.xml"])
def test_first_validation_compiles_no_rules_unless_they_have_changed(clean_environment, tmp_path, name):
    script = IMPORTED.format(file=str(UBL.with_name(name)))

    def modules() -> str:
        return run(clean_environment / "python", "-c", script, cwd=tmp_path, EINVOICE_CACHE="")

    assert "einvoice.rulebook.program.engine" in modules()
    assert "einvoice.rulebook.program.build" not in modules()
    (rule,) = clean_environment.parent.rglob("einvoice/rules/en16931/BR-CO-10.toml")
    before = rule.read_bytes()
    try:
        rule.write_bytes(before + b"# another rule\n")
        assert "einvoice.rulebook.program.build" in modules()
    finally:
        rule.write_bytes(before)


@pytest.mark.slow
def test_wheel_is_small(wheel):
    assert wheel.stat().st_size < 8 << 20


@pytest.mark.slow
def test_server_works_with_its_extra(clean_environment, wheel):
    typed(f"env/bin/pip install --quiet {wheel}[appliance]", clean_environment.parent.parent)
    command = [clean_environment / "einvoice-appliance", "serve", "--try-out", "--port", "0"]
    environ = {"EINVOICE_DATA": str(clean_environment.parent / "data"), "PATH": os.environ["PATH"]}
    with subprocess.Popen(command, cwd=clean_environment, env=environ, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            call = next(shlex.split(line) for line in server.stdout if line.strip().startswith("curl "))
            ready = httpx.URL(call[-1]).copy_with(path="/readyz", query=None)
            wait_until(lambda: httpx.get(ready, timeout=SECONDS).status_code == 200)
            name, _, key = call[call.index("-H") + 1].partition(": ")
            answer = httpx.post(call[-1], headers={name: key}, files={"file": UBL.read_bytes()}, timeout=60)
        finally:
            server.terminate()
    assert answer.status_code == 200, answer.text
    assert answer.json()["is_valid"]
