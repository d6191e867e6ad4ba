"""API keys: who may call. Only hashes are kept, one line a key in a file that is an environment file too:

    EINVOICE_KEY_ACME_1=acme:business:5f1c…

that is, the holder's name, its plan and the SHA-256 of the key. Plans stand beside them (`appliance.plans`), and the
same variables in the process's environment count as well. The file is read anew when it changes, so adding or revoking
a key needs no restart. A plain SHA-256 is enough because the keys are 256 random bits: there is nothing to guess.
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

from appliance.plans import PREFIX as PLAN_PREFIX
from appliance.plans import Entitlements, is_plan, parse_plans

log = logging.getLogger(__name__)

KEYS_A_NAME = 2
"""So many keys one name can have: the old and the new one while they are exchanged."""

_PREFIX = "EINVOICE_KEY_"
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_LINE = re.compile(rf"{_PREFIX}([A-Z0-9_]+)=({_NAME.pattern}):([a-z][a-z0-9-]{{0,39}}):([0-9a-f]{{64}})")


@dataclass(frozen=True, slots=True)
class Key:
    """One key as it is kept: `label` names the key itself, `name` its holder; `digest` is SHA-256 in hexadecimal."""

    label: str
    name: str
    plan: str
    digest: str

    def line(self) -> str:
        """Return the key as a line of the file."""
        return f"{_PREFIX}{self.label}={self.name}:{self.plan}:{self.digest}"


def digest(plain: str) -> str:
    """Return what is kept of a key: the SHA-256 of its UTF-8 bytes, in hexadecimal."""
    return hashlib.sha256(plain.encode()).hexdigest()


def new_key(label: str, name: str, plan: str) -> tuple[str, Key]:
    """Return a fresh plain key (256 random bits), to be shown once, and what is kept of it."""
    plain = f"ei_{secrets.token_urlsafe(32)}"
    return plain, Key(label, name, plan, digest(plain))


def parse_keys(lines: Iterable[str], source: str) -> list[Key]:
    """Return the keys on `lines`; blank lines and comments are skipped, and others that hold no key are logged.

    A damaged line opens nothing, and it must not lock out the holders of the other keys either.
    """
    keys = []
    for number, line in enumerate(lines, start=1):
        if match := _LINE.fullmatch(line.strip()):
            keys.append(Key(*match.groups()))
        elif line.strip() and not line.lstrip().startswith("#") and not is_plan(line):
            log.warning("%s, line %d holds no key and is ignored", source, number)
    return keys


class KeyFile:
    """The file of keys, to change it: 0600, in a folder of its user's own."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[Key]:
        """Return the keys in the file; a missing file has none."""
        return parse_keys(self.lines(), self.path.name)

    def lines(self) -> list[str]:
        """Return the lines of the file; a missing file has none."""
        if not self.path.exists():
            return []
        return self.path.read_text(encoding="utf-8", errors="replace").splitlines()

    def add(self, name: str, plan: str) -> str:
        """Add a key and return it in plain; it cannot be had again.

        Raises:
            ValueError: the name is not made of a-z, 0-9 and hyphens, or has its two keys already.
        """
        if not _NAME.fullmatch(name):
            raise ValueError(f"a name is made of a-z, 0-9 and hyphens, 40 at most: {name!r}")
        taken = {key.label for key in self.read()}
        stem = name.upper().replace("-", "_")
        free = [label for n in range(KEYS_A_NAME) if (label := f"{stem}_{n + 1}") not in taken]
        if not free:
            raise ValueError(f"{name!r} has {KEYS_A_NAME} keys already; revoke one first")
        plain, key = new_key(free[0], name, plan)
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # One append is one write: two commands at the same time cannot lose each other's key.
        with os.fdopen(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w") as file:
            file.write(f"{key.line()}\n")
        return plain

    def revoke(self, label: str) -> None:
        """Remove the key with this label.

        Raises:
            KeyError: there is none.
        """
        if label not in {key.label for key in self.read()}:
            raise KeyError(label)
        lines = self.path.read_text(encoding="utf-8").splitlines(keepends=True)
        rest = [line for line in lines if not line.lstrip().startswith(f"{_PREFIX}{label}=")]
        fresh = self.path.with_name(f"{self.path.name}.new")
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.writelines(rest)
        fresh.replace(self.path)


class KeyRing:
    """The keys that open a running appliance: the file's, as it is at that moment, and the environment's."""

    def __init__(self, file: Path, environ: Mapping[str, str] = os.environ) -> None:
        self._file = KeyFile(file)
        self._environ = [
            f"{name}={value}" for name, value in environ.items() if name.startswith((_PREFIX, PLAN_PREFIX))
        ]
        self._fixed = parse_keys(self._environ, "environment")
        self._seen: tuple[int, int, int] | None = None
        self._read: list[Key] = []
        self._plans = parse_plans(self._environ, "environment")

    def find(self, plain: str) -> Key | None:
        """Return the key that `plain` is, or None. How long it takes says nothing about the keys there are."""
        presented = digest(plain)
        found = None
        for key in self._keys():
            if hmac.compare_digest(key.digest, presented):
                found = key
        return found

    def entitlements(self, key: Key) -> Entitlements | None:
        """Return what the plan of a key entitles to, None for a plan that there is not."""
        return self._plans.get(key.plan)

    def lend(self) -> str:
        """Return a fresh key that is kept nowhere and ends with this process."""
        plain, key = new_key("LENT", "lent", "business")
        self._fixed.append(key)
        return plain

    def _keys(self) -> list[Key]:
        try:
            status = self._file.path.stat()
            seen = (status.st_mtime_ns, status.st_size, status.st_ino)
        except FileNotFoundError:
            seen = None
        if seen != self._seen:
            self._read = self._file.read() if seen else []
            self._plans = parse_plans([*self._file.lines(), *self._environ], self._file.path.name)
            self._seen = seen
        return self._fixed + self._read
