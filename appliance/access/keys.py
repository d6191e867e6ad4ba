"""API keys. Only hashes are stored, one key per line, in the format of an environment file:

    EINVOICE_KEY_ACME_1=acme:business:5f1c…

that is, the holder's name, the plan, and the SHA-256 of the key. Plans (`appliance.access.plans`) are lines of the same
file. The same variables in the environment of the process are read as well. The file is read again when it changes, so
adding or revoking a key needs no restart. Plain SHA-256 is sufficient: keys are 256 random bits and cannot be guessed.
"""

import hashlib
import hmac
import logging
import os
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from appliance.access.plans import PREFIX as PLAN_PREFIX
from appliance.access.plans import is_plan_line, parse_plans
from appliance.contract.schemas import Entitlements

log = logging.getLogger(__name__)

MAX_KEYS_PER_NAME = 2
"""Maximum number of keys per holder: two, so that a key can be rotated without downtime."""

_PREFIX = "EINVOICE_KEY_"
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_LINE = re.compile(rf"{_PREFIX}([A-Z0-9_]+)=({_NAME.pattern}):([a-z][a-z0-9-]{{0,39}}):([0-9a-f]{{64}})")


@dataclass(frozen=True, slots=True)
class Key:
    """A stored key.

    Attributes:
        label: identifies the key.
        name: identifies its holder.
        plan: name of the plan.
        digest: SHA-256 in hexadecimal.
    """

    label: str
    name: str
    plan: str
    digest: str

    def line(self) -> str:
        """Return the key as a line of the file."""
        return f"{_PREFIX}{self.label}={self.name}:{self.plan}:{self.digest}"


def digest(plain: str) -> str:
    """Return the SHA-256 of a key (UTF-8) in hexadecimal."""
    return hashlib.sha256(plain.encode()).hexdigest()


def generate_key(label: str, name: str, plan: str) -> tuple[str, Key]:
    """Return a new plain key (256 random bits) and its stored form."""
    plain = f"ei_{secrets.token_urlsafe(32)}"
    return plain, Key(label, name, plan, digest(plain))


def parse_keys(lines: Iterable[str], source: str) -> list[Key]:
    """Return the keys in `lines`. Blank lines, comments and plans are skipped; an invalid line is logged and skipped.

    An invalid line must not lock out the holders of other keys.
    """
    keys = []
    for number, line in enumerate(lines, start=1):
        if match := _LINE.fullmatch(line.strip()):
            keys.append(Key(*match.groups()))
        elif line.strip() and not line.lstrip().startswith("#") and not is_plan_line(line):
            log.warning("%s, line %d: not a valid key, ignored", source, number)
    return keys


class KeyFile:
    """The key file, for reading and editing. It is created with mode 0600, its folder with mode 0700."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[Key]:
        """Return the keys in the file; an empty list if the file is missing."""
        return parse_keys(self.lines(), self.path.name)

    def lines(self) -> list[str]:
        """Return the lines of the file; an empty list if the file is missing."""
        if not self.path.exists():
            return []
        return self.path.read_text(encoding="utf-8", errors="replace").splitlines()

    def add(self, name: str, plan: str) -> str:
        """Add a key and return it in plain; it cannot be retrieved later.

        Raises:
            ValueError: invalid name, or the name already has `MAX_KEYS_PER_NAME` keys.
        """
        if not _NAME.fullmatch(name):
            raise ValueError(f"the name must consist of at most 40 of the characters a-z, 0-9 and hyphen, not {name!r}")
        labels = {key.label for key in self.read()}
        stem = name.upper().replace("-", "_")
        free = [label for n in range(MAX_KEYS_PER_NAME) if (label := f"{stem}_{n + 1}") not in labels]
        if not free:
            raise ValueError(f"{name!r} has {MAX_KEYS_PER_NAME} keys already; revoke one first")
        plain, key = generate_key(free[0], name, plan)
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # A single append: two concurrent commands cannot overwrite each other's key.
        with os.fdopen(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w") as file:
            file.write(f"{key.line()}\n")
        return plain

    def revoke(self, label: str) -> None:
        """Remove the key with this label.

        Raises:
            KeyError: there is no such key.
        """
        if label not in {key.label for key in self.read()}:
            raise KeyError(label)
        lines = self.path.read_text(encoding="utf-8").splitlines(keepends=True)
        remaining = [line for line in lines if not line.lstrip().startswith(f"{_PREFIX}{label}=")]
        temporary = self.path.with_name(f"{self.path.name}.new")
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.writelines(remaining)
        temporary.replace(self.path)


class KeyRing:
    """The valid keys and plans, read from the environment and from the current content of the file."""

    def __init__(self, file: Path, environ: Mapping[str, str] = os.environ) -> None:
        self._file = KeyFile(file)
        self._environ = [
            f"{name}={value}" for name, value in environ.items() if name.startswith((_PREFIX, PLAN_PREFIX))
        ]
        self._fixed_keys = parse_keys(self._environ, "environment")
        self._file_version: tuple[int, int, int] | None = None
        self._file_keys: list[Key] = []
        self._plans = parse_plans(self._environ, "environment")

    def find(self, plain: str) -> Key | None:
        """Return the stored key that matches `plain`, or None. The time taken does not depend on which key matches."""
        presented = digest(plain)
        match = None
        for key in self._keys():
            if hmac.compare_digest(key.digest, presented):
                match = key
        return match

    def entitlements(self, key: Key) -> Entitlements | None:
        """Return the entitlements of the key's plan, or None if the plan is unknown."""
        return self._plans.get(key.plan)

    def issue_temporary(self) -> str:
        """Return a new key that is valid until this process ends; it is not stored."""
        plain, key = generate_key("TEMPORARY", "temporary", "business")
        self._fixed_keys.append(key)
        return plain

    def _keys(self) -> list[Key]:
        try:
            status = self._file.path.stat()
            version = (status.st_mtime_ns, status.st_size, status.st_ino)
        except FileNotFoundError:
            version = None
        if version != self._file_version:
            self._file_keys = self._file.read() if version else []
            self._plans = parse_plans([*self._file.lines(), *self._environ], self._file.path.name)
            self._file_version = version
        return self._fixed_keys + self._file_keys
