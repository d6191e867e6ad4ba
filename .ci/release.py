"""Release command: sets the version, verifies that a checkout can be released, and builds the files of a release.

    .ci/release set-version 0.3.0           before the release: write the version where files state it
    .ci/release check                       verify the checkout of the tag
    .ci/release build [OPTION...]           build dist/; the options are those of `docker build` (see .ci/image)

The version is stated in pyproject.toml; deployment files and the operator's guide name the image and the wheel of that
version, so that their commands can be copied. A release is the checkout of the tag vX.Y.Z. Wheel and sdist are
reproducible: their timestamps are that of the commit. The image is not, because it has the Debian packages of the day.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

NOTES = Path(".ci/docs/release-notes.md")
"""Release notes: a section `## X.Y.Z` for each version."""
_VERSION = r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?"
_STATED = re.compile(rf'(?<=^version = ")({_VERSION})(?="$)', re.MULTILINE)
_FILES = re.compile(rf"(?<=einvoice)(-appliance[:-](?:\$\{{EINVOICE_VERSION:-)?|_toolkit-)({_VERSION})")
"""Image, archive and wheel, whose names have the version."""


class ReleaseError(Exception):
    """The checkout cannot be released, or a step failed."""


def git(root: Path, *arguments: str) -> str:
    """Return what a git command prints."""
    done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


# ---------------------------------------------------------------- the version


def version_of(root: Path) -> str:
    """Return the version stated in pyproject.toml."""
    version: str = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    return version


def image_versions(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files of the folder appliance that name the image, its archive or the wheel, with each version."""
    for file in sorted(path for path in (root / "appliance").rglob("*") if path.is_file() and path.suffix != ".pyc"):
        for _, version in _FILES.findall(file.read_text(encoding="utf-8")):
            yield file.relative_to(root), version


def set_version(root: Path, version: str) -> None:
    """Write the version into pyproject.toml and the files that name the image.

    Raises:
        ReleaseError: not a version.
    """
    if not re.fullmatch(_VERSION, version):
        raise ReleaseError(f"not a version: {version}")
    _rewrite(root / "pyproject.toml", _STATED, version)
    for file in {file for file, _ in image_versions(root)}:
        _rewrite(root / file, _FILES, rf"\g<1>{version}")


def _rewrite(file: Path, pattern: re.Pattern[str], replacement: str) -> None:
    file.write_text(pattern.sub(replacement, file.read_text(encoding="utf-8")), encoding="utf-8")


def notes_of(root: Path, version: str) -> str:
    """Return the section of the release notes about a version, without its heading; "" if there is none."""
    text = (root / NOTES).read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(version)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""


# ---------------------------------------------------------------- checks


def obstacles(root: Path) -> list[str]:
    """Return why the checkout cannot be released; nothing if it can."""
    version = version_of(root)
    tag = f"v{version}"
    found = []
    if changed := git(root, "status", "--porcelain"):
        found.append(f"the checkout has changes or untracked files:\n{changed}")
    tags = git(root, "tag", "--points-at", "HEAD", "v*").split()
    if tags != [tag]:
        found.append(f"the checkout is not that of the tag {tag} alone; tags of this commit: {', '.join(tags) or '-'}")
    found += [
        f"{file} names version {named} instead of {version}; run: .ci/release set-version {version}"
        for file, named in image_versions(root)
        if named != version
    ]
    if not notes_of(root, version):
        found.append(f"{NOTES} has no section about {version}")
    return found


def check(root: Path) -> None:
    """Verify that the checkout can be released.

    Raises:
        ReleaseError: it cannot; the message lists every reason.
    """
    if found := obstacles(root):
        raise ReleaseError("\n".join(found))


# ---------------------------------------------------------------- the files


def build_packages(root: Path, folder: Path, timestamp: int) -> None:
    """Build the sdist and, from it, the wheel; `timestamp` is that of their files, in seconds since 1970."""
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(timestamp)}
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(root)]
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)


def write_checksums(folder: Path) -> None:
    """Write the SHA-256 sums of all files of a folder to SHA256SUMS, as `sha256sum --check` reads them."""
    lines = []
    for file in sorted(folder.iterdir()):
        with file.open("rb") as content:
            lines.append(f"{hashlib.file_digest(content, 'sha256').hexdigest()}  {file.name}\n")
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def build(root: Path, image_options: Sequence[str]) -> Path:
    """Build all files of a release, and return their folder, `dist`.

    Raises:
        ReleaseError: the checkout cannot be released, or the folder is not empty.
    """
    check(root)
    folder = root / "dist"
    if folder.exists() and any(folder.iterdir()):
        raise ReleaseError(f"{folder} is not empty")
    folder.mkdir(exist_ok=True)
    try:
        build_packages(root, folder, int(git(root, "log", "-1", "--format=%ct")))
        subprocess.run([root / ".ci" / "image", folder, *image_options], check=True)
        version = version_of(root)
        (folder / "release-notes.md").write_text(f"{notes_of(root, version)}\n", encoding="utf-8")
        write_checksums(folder)
    except BaseException:
        shutil.rmtree(folder)
        raise
    return folder


def main() -> int:
    """Run the command and return the exit status."""
    root = Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(".ci/release", description="Builds a release from a clean checkout of its tag.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("set-version", help="write the version where files state it").add_argument("version")
    commands.add_parser("check", help="verify the checkout: no changes, the tag, the release notes")
    build_help = "build wheel, sdist, image, SBOM, release notes and SHA-256 sums into dist/; options: see .ci/image"
    commands.add_parser("build", help=build_help)
    options, image_options = parser.parse_known_args()
    if image_options and options.command != "build":
        parser.error(f"unknown arguments: {' '.join(image_options)}")
    try:
        if options.command == "set-version":
            set_version(root, options.version)
        elif options.command == "check":
            check(root)
        else:
            for file in sorted(build(root, image_options).iterdir()):
                print(f"{file.stat().st_size:>12,} {file.name}")
    except (ReleaseError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
