"""The release command: version, checks of the checkout, reproducible packages."""

import importlib.util
import shutil
import subprocess

import pytest

from tests.helpers.paths import ROOT

_spec = importlib.util.spec_from_file_location("release_command", ROOT / ".ci" / "release.py")
release = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(release)

GUIDE = """sha256sum --check einvoice-appliance-{0}.sha256
docker run localhost/einvoice-appliance:{0}
einvoice-appliance keys list
"""
FILES = {
    "pyproject.toml": '[project]\nname = "x"\nversion = "{0}"\nrequires-python = ">=3.11"\n',
    "appliance/README.md": GUIDE,
    "appliance/compose.yaml": "image: localhost/einvoice-appliance:${{EINVOICE_VERSION:-{0}}}\n",
    "appliance/kubernetes.yaml": "image: localhost/einvoice-appliance:{0}\n",
    str(release.NOTES): "# Release notes\n\n## {0}\n\nMended: this.\n\n## 0.0.9\n\nThe first.\n",
}


@pytest.fixture
def checkout(tmp_path):
    """Return a repository with the tag v1.2.3."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text.format("1.2.3"))
    release.git(tmp_path, "init", "--quiet")
    commit(tmp_path, "v1.2.3")
    return tmp_path


def commit(folder, *tags):
    identity = ("-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")
    release.git(folder, "add", "--all")
    release.git(folder, *identity, "commit", "--quiet", "--allow-empty", "-m", "Commit")
    for tag in tags:
        release.git(folder, "tag", tag)


def replace(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


# ---------------------------------------------------------------- this project


def test_files_of_the_project_name_one_version():
    versions = list(release.image_versions(ROOT))
    assert {str(file) for file, _ in versions} == {
        "appliance/README.md",
        "appliance/compose.yaml",
        "appliance/kubernetes.yaml",
    }
    assert {version for _, version in versions} == {release.version_of(ROOT)}


def test_release_notes_of_the_project_describe_the_version():
    assert "- " in release.notes_of(ROOT, release.version_of(ROOT))


# ---------------------------------------------------------------- checks


def test_checkout_of_the_tag_can_be_released(checkout):
    assert release.obstacles(checkout) == []


def test_new_version_is_written_to_every_file(checkout):
    release.set_version(checkout, "1.3.0")
    for name in FILES:
        if name != str(release.NOTES):
            assert (checkout / name).read_text() == FILES[name].format("1.3.0"), name


@pytest.mark.parametrize("version", ["v1.3.0", "1.3", "", "1.3.0 "])
def test_other_texts_are_not_versions(checkout, version):
    with pytest.raises(release.ReleaseError, match="not a version"):
        release.set_version(checkout, version)
    assert release.version_of(checkout) == "1.2.3"


@pytest.mark.parametrize("name", ["pyproject.toml", "untracked.txt"])
def test_changed_checkout_is_refused(checkout, name):
    with (checkout / name).open("a") as file:
        file.write("# changed\n")
    (obstacle,) = release.obstacles(checkout)
    assert name in obstacle


def test_checkout_without_a_tag_is_refused(checkout):
    commit(checkout)
    (obstacle,) = release.obstacles(checkout)
    assert "tag v1.2.3" in obstacle


@pytest.mark.parametrize("tag", ["v1.2.4", "v1.2.3rc1"])
def test_tag_of_another_version_is_refused(checkout, tag):
    release.git(checkout, "tag", tag)
    (obstacle,) = release.obstacles(checkout)
    assert tag in obstacle


@pytest.mark.parametrize("text", ["## 1.2.30\n\nText\n", "## 1.2.3\n\n## 0.0.9\n\nThe first.\n"])
def test_missing_or_empty_release_notes_are_refused(checkout, text):
    (checkout / release.NOTES).write_text(text)
    release.git(checkout, "tag", "-d", "v1.2.3")
    commit(checkout, "v1.2.3")
    (obstacle,) = release.obstacles(checkout)
    assert "no section about 1.2.3" in obstacle


def test_image_of_another_version_is_refused(checkout):
    replace(checkout / "appliance" / "kubernetes.yaml", "1.2.3", "1.2.2")
    release.git(checkout, "tag", "-d", "v1.2.3")
    commit(checkout, "v1.2.3")
    (obstacle,) = release.obstacles(checkout)
    assert obstacle.startswith("appliance/kubernetes.yaml names version 1.2.2")


def test_all_reasons_are_reported_together(checkout):
    replace(checkout / "pyproject.toml", "1.2.3", "1.2.4")
    with pytest.raises(release.ReleaseError) as caught:
        release.build(checkout, [])
    for reason in ("has changes", "tag v1.2.4", "names version 1.2.3", "no section about 1.2.4"):
        assert reason in str(caught.value)
    assert not (checkout / "dist").exists()


def test_notes_end_at_the_next_version(checkout):
    assert release.notes_of(checkout, "1.2.3") == "Mended: this."
    assert release.notes_of(checkout, "0.0.9") == "The first."


# ---------------------------------------------------------------- the files


def test_build_collects_all_files_with_their_checksums(checkout, monkeypatch):
    monkeypatch.setattr(release, "build_packages", lambda root, folder, timestamp: (folder / "x.whl").write_text("w"))
    image = checkout / ".ci" / "image"
    image.write_text('#!/bin/sh\nprintf "%s" "$2" >"$1/image.tar.gz"\n')
    image.chmod(0o755)
    (checkout / ".gitignore").write_text("dist/\n")
    release.git(checkout, "tag", "-d", "v1.2.3")
    commit(checkout, "v1.2.3")
    folder = release.build(checkout, ["--pull"])
    assert sorted(file.name for file in folder.iterdir()) == [
        "SHA256SUMS",
        "image.tar.gz",
        "release-notes.md",
        "x.whl",
    ]
    assert (folder / "image.tar.gz").read_text() == "--pull"
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=folder, check=True, capture_output=True)
    assert len((folder / "SHA256SUMS").read_text().splitlines()) == 3
    with pytest.raises(release.ReleaseError, match="not empty"):
        release.build(checkout, [])


def test_failed_build_leaves_no_files(checkout, monkeypatch):
    def fail(root, folder, timestamp):
        (folder / "x.whl").write_text("w")
        raise subprocess.CalledProcessError(1, "build")

    monkeypatch.setattr(release, "build_packages", fail)
    with pytest.raises(subprocess.CalledProcessError):
        release.build(checkout, [])
    assert not (checkout / "dist").exists()


@pytest.mark.slow
def test_packages_are_reproducible(tmp_path):
    files = release.git(ROOT, "ls-files").splitlines()
    built = []
    for name in ("one", "two"):
        source, folder = tmp_path / name, tmp_path / f"dist-{name}"
        for file in filter(lambda path: (ROOT / path).is_file(), files):
            (source / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, source / file)  # with the time of the copy
        release.build_packages(source, folder, 1_790_000_000)
        built.append({file.name: file.read_bytes() for file in folder.iterdir()})
    one, two = built
    version = release.version_of(ROOT)
    assert set(one) == {f"einvoice_toolkit-{version}.tar.gz", f"einvoice_toolkit-{version}-py3-none-any.whl"}
    assert one == two
