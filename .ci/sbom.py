"""Prints what a container image is made of, as CycloneDX 1.6 in JSON. It runs inside the image and sees what is there:

    docker run --rm -i --network none --entrypoint python IMAGE - <.ci/sbom.py >sbom.cdx.json

Python packages and Debian packages are components with a purl each, so that any scanner can look them up.
"""

import importlib.metadata
import json
import platform
import subprocess
import sys
from typing import Any
from urllib.parse import quote

PRODUCT = "einvoice-toolkit"
LEAST = {"pypi": 30, "deb": 80}
"""Fewer of a kind would mean that they have not been found, not that they are not there."""

Component = dict[str, Any]


def component(purl: str, name: str, version: str, **more: Any) -> Component:
    """Return a library as CycloneDX wants it; what is empty in `more` is left out."""
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl} | {
        member: value for member, value in more.items() if value
    }


def of_python() -> list[Component]:
    """Return the installed distributions."""
    found = []
    for package in importlib.metadata.distributions():
        name, version = package.metadata["Name"], package.version
        expression = package.metadata.get("License-Expression")
        purl = f"pkg:pypi/{name.lower().replace('_', '-')}@{quote(version)}"
        licenses = [{"expression": expression}] if expression else []
        found.append(component(purl, name, version, licenses=licenses, description=package.metadata.get("Summary")))
    return found


def of_debian() -> list[Component]:
    """Return the installed packages, with the source package that security notices name."""
    form = "${db:Status-Status}\t${Package}\t${Version}\t${Architecture}\t${source:Package}\t${source:Version}\n"
    told = subprocess.run(["dpkg-query", "-W", "-f", form], check=True, capture_output=True, text=True).stdout
    release = platform.freedesktop_os_release()
    distro = f"{release['ID']}-{release['VERSION_ID']}"
    found = []
    for line in told.splitlines():
        status, name, version, architecture, source, source_version = line.split("\t")
        if status != "installed":
            continue
        purl = f"pkg:deb/debian/{quote(name)}@{quote(version)}?arch={architecture}&distro={distro}"
        origin = [{"name": "source", "value": f"{source}@{source_version}"}]
        found.append(component(purl, name, version, properties=origin))
    return found


def main() -> None:
    """Print the list.

    Raises:
        SystemExit: it is too short to be true.
    """
    python, debian = of_python(), of_debian()
    product = next((package for package in python if package["name"] == PRODUCT), None)
    if product is None or len(python) < LEAST["pypi"] or len(debian) < LEAST["deb"]:
        sys.exit(f"not everything was found: {len(python)} Python packages, {len(debian)} Debian packages")
    rest = sorted((package for package in python + debian if package is not product), key=lambda one: one["purl"])
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": product | {"type": "application"}},
        "components": rest,
    }
    json.dump(bill, sys.stdout, indent=1, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main()
