"""API keys. Only hashes are stored, one key per line, in the format of an environment file:

    EINVOICE_KEY_ACME_1=acme:business:5f1c…:created=2026-11-20:expires=2027-11-20

that is, the holder's name, the plan, the SHA-256 of the key, and optional dates: the key is valid until the end of the
day `expires` (UTC). Plans (`appliance.access.plans`) are lines of the same file. The same variables in the environment
of the process are read as well. The file is read again when it changes, so adding or revoking a key needs no restart.
Plain SHA-256 is sufficient: keys are 256 random bits and cannot be guessed.
"""

import datetime
import hashlib
import hmac
import logging
import os
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from appliance.access.file_replacement import locked_folder, replace_file
from appliance.access.key_usage import KeyUsage
from appliance.access.plans import PREFIX as PLAN_PREFIX
from appliance.access.plans import Line, is_plan_line, numbered, parse_plan, parse_plans
from appliance.contract.schemas import Plan

log = logging.getLogger(__name__)

MAX_KEYS_PER_NAME = 2
"""Maximum number of keys per holder: two, so that a key can be rotated without downtime."""

PREFIX = "EINVOICE_KEY_"
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_DATE = r"\d{4}-\d\d-\d\d"
_LINE = re.compile(
    rf"{PREFIX}([A-Z0-9_]+)=({_NAME.pattern}):([a-z][a-z0-9-]{{0,39}}):([0-9a-f]{{64}})"
    rf"(?::created=({_DATE}))?(?::expires=({_DATE}))?"
)
_BYTE_ORDER_MARK = "\ufeff"


def today() -> datetime.date:
    """Return the current day (UTC)."""
    return datetime.datetime.now(datetime.UTC).date()


@dataclass(frozen=True, slots=True)
class Key:
    """A stored key.

    Attributes:
        label: identifies the key.
        name: identifies its holder.
        plan: name of the plan.
        digest: SHA-256 in hexadecimal.
        created: day of its creation (UTC), if known.
        expires: last day on which it is valid (UTC), or None.
    """

    label: str
    name: str
    plan: str
    digest: str
    created: datetime.date | None = None
    expires: datetime.date | None = None

    def line(self) -> str:
        """Return the key as a line of the file."""
        dates = {"created": self.created, "expires": self.expires}
        members = [self.name, self.plan, self.digest, *(f"{name}={day}" for name, day in dates.items() if day)]
        return f"{PREFIX}{self.label}={':'.join(members)}"

    def fields(self) -> dict[str, Any]:
        """Return what a log line says about the key."""
        return {"key": self.label, "name": self.name, "plan": self.plan, "expires": str(self.expires or "") or None}


class KeyExpired(Exception):  # noqa: N818 (the event)
    """An expired key was presented.

    Attributes:
        day: last day on which the key was valid (UTC).
    """

    def __init__(self, day: datetime.date) -> None:
        super().__init__(f"the key expired on {day}")
        self.day = day


def digest(plain: str) -> str:
    """Return the SHA-256 of a key (UTF-8) in hexadecimal."""
    return hashlib.sha256(plain.encode()).hexdigest()


def generate_key(label: str, name: str, plan: str, expires: datetime.date | None = None) -> tuple[str, Key]:
    """Return a new plain key (256 random bits) and its stored form."""
    plain = f"ei_{secrets.token_urlsafe(32)}"
    return plain, Key(label, name, plan, digest(plain), today(), expires)


def parse_key(line: str) -> Key | None:
    """Return the key in a line of an environment file, or None if it is not a valid key."""
    match = _LINE.fullmatch(line.strip())
    if match is None:
        return None
    *members, created, expires = match.groups()
    try:
        dates = [datetime.date.fromisoformat(day) if day else None for day in (created, expires)]
    except ValueError:
        return None
    return Key(*members, *dates)  # type: ignore[arg-type]


def parse_keys(lines: Iterable[Line]) -> list[Key]:
    """Return the keys in `lines`. Blank lines, comments and plans are skipped; an invalid line is logged and skipped.

    An invalid line must not lock out the holders of other keys.
    """
    keys = []
    for place, line in lines:
        if key := parse_key(line):
            keys.append(key)
        elif _is_key_expected(line):
            log.warning("%s: not a valid key, ignored", place)
    return keys


def check_lines(lines: Iterable[Line]) -> None:
    """Raise ValueError if a line is neither a valid key, nor a valid plan, a comment or blank."""
    for place, line in lines:
        if is_plan_line(line):
            try:
                parse_plan(line)
            except ValueError as error:
                raise ValueError(f"{place}: not a valid plan: {error}") from None
        elif _is_key_expected(line) and parse_key(line) is None:
            raise ValueError(f"{place}: not a key, a plan or a comment")


def _is_key_expected(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#") and not is_plan_line(line)


class KeyFile:
    """The key file, for reading and editing. It is created with mode 0600, its folder with mode 0700.

    A change replaces the whole file, so that a reader never sees a part. Comments may be in any encoding.

    Args:
        path: path of the file.
        environ: environment variables, which may define further plans.
    """

    def __init__(self, path: Path, environ: Mapping[str, str] = os.environ) -> None:
        self.path = path
        self._environ = environ

    def check_readable(self, *, must_exist: bool) -> None:
        """Raise ValueError if the file cannot be read, or if it must exist and is missing."""
        try:
            self.path.read_bytes()
        except FileNotFoundError:
            if must_exist:
                raise ValueError(f"the key file {self.path} of EINVOICE_KEYS is missing; create or mount it") from None
        except OSError as error:
            user = os.geteuid()
            raise ValueError(
                f"the key file {self.path} cannot be read: {error.strerror}. It must be readable for user {user}, and "
                "so must its folder"
            ) from None

    def read(self) -> list[Key]:
        """Return the keys in the file; an empty list if the file is missing."""
        return parse_keys(self.lines())

    def environment_keys(self) -> list[Key]:
        """Return the keys in the environment."""
        return parse_keys(environment_lines(self._environ))

    def plans(self) -> dict[str, Plan]:
        """Return the plans in the file and in the environment, by name."""
        return parse_plans([*self.lines(), *environment_lines(self._environ)])

    def lines(self) -> list[Line]:
        """Return the lines of the file with their places; an empty list if the file is missing."""
        return numbered(map(_decode, self._bytes().splitlines()), self.path.name)

    def add(self, name: str, plan: str, expires: datetime.date | None = None) -> str:
        """Add a key and return it in plain; it cannot be retrieved later.

        Raises:
            ValueError: invalid name, unknown plan, a day in the past, the name already has `MAX_KEYS_PER_NAME` keys,
                or the file has an invalid line.
            OSError: the file cannot be written.
        """
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with locked_folder(self.path.parent):
            plain, key = self.new(name, plan, expires)
            content = self._bytes()
            separator = b"" if not content or content.endswith(b"\n") else b"\n"
            replace_file(self.path, content + separator + f"{key.line()}\n".encode())
        return plain

    def new(self, name: str, plan: str, expires: datetime.date | None = None) -> tuple[str, Key]:
        """Return a new key in plain and its stored form, without storing it. Its label is the next free one.

        Raises:
            ValueError: see `add`.
            OSError: the file cannot be read.
        """
        if not _NAME.fullmatch(name):
            raise ValueError(f"the name must consist of at most 40 of the characters a-z, 0-9 and hyphen, not {name!r}")
        if expires is not None and expires < today():
            raise ValueError(f"the key would have expired already, on {expires}")
        self._check(plan)
        return generate_key(self._free_label(name), name, plan, expires)

    def new_elsewhere(self, name: str, plan: str, expires: datetime.date | None = None) -> tuple[str, Key]:
        """Return a new key as `new` does, for a place that this file does not know, such as a secret store.

        Its label ends with the first digits of its hash: a line with a label that exists there would replace that key.
        """
        plain, key = self.new(name, plan, expires)
        stem = key.label.rpartition("_")[0]
        return plain, replace(key, label=f"{stem}_{key.digest[:6].upper()}")

    def revoke(self, label: str) -> None:
        """Remove the key with this label, whatever the other lines are. On a full volume its line is commented out.

        Raises:
            KeyError: there is no such key.
            OSError: the file cannot be written.
        """
        if label not in {key.label for key in self.read()}:
            raise KeyError(label)
        with locked_folder(self.path.parent):
            lines = self._bytes().splitlines(keepends=True)
            remaining = [line for line in lines if not _defines(line, label)]
            try:
                replace_file(self.path, b"".join(remaining))
            except OSError:
                self._comment_out(lines, label)

    def _check(self, plan: str) -> None:
        """Raise ValueError unless all lines are valid and the plan is known."""
        try:
            check_lines(self.lines())
        except ValueError as error:
            folder = self.path.parent
            raise ValueError(f"{folder}/{error}. Nothing was changed; correct or remove the line first") from None
        if plan not in (plans := self.plans()):
            message = unknown_plan(plan, plans)
            if (variable := plan_variable(plan)) not in map(plan_variable, plans):
                message += f". Define it first: {variable}=… in {self.path}"
            raise ValueError(message)

    def _free_label(self, name: str) -> str:
        labels = {key.label for key in (*self.read(), *self.environment_keys())}
        stem = name.upper().replace("-", "_")
        for number in range(1, MAX_KEYS_PER_NAME + 1):
            if (label := f"{stem}_{number}") not in labels:
                return label
        raise ValueError(f"{name!r} has {MAX_KEYS_PER_NAME} keys already; revoke one first")

    def _comment_out(self, lines: list[bytes], label: str) -> None:
        """Overwrite the first character of the key's lines in place, which needs no space."""
        with self.path.open("r+b", buffering=0) as file:
            position = 0
            for line in lines:
                if _defines(line, label):
                    file.seek(position + line.index(PREFIX.encode()))
                    file.write(b"#")
                position += len(line)
            os.fsync(file.fileno())

    def _bytes(self) -> bytes:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return b""


def _decode(line: bytes) -> str:
    return line.decode(errors="replace").removeprefix(_BYTE_ORDER_MARK)


def _defines(line: bytes, label: str) -> bool:
    return _decode(line).lstrip().startswith(f"{PREFIX}{label}=")


def environment_lines(environ: Mapping[str, str]) -> list[Line]:
    """Return the variables that define keys or plans, as lines whose place is the name of the variable."""
    names = [name for name in environ if name.startswith((PREFIX, PLAN_PREFIX))]
    return [(f"variable {name}", f"{name}={environ[name]}") for name in names]


def unknown_plan(plan: str, plans: Iterable[str]) -> str:
    """Return the message about a plan that is not one of `plans`; it names the one that differs in case only."""
    known = sorted(plans)
    meant = next((name for name in known if plan_variable(name) == plan_variable(plan)), None)
    return f"no plan {plan!r}; " + (f"did you mean {meant!r}?" if meant else f"known: {', '.join(known)}")


def plan_variable(plan: str) -> str:
    """Return the name of the variable that defines a plan."""
    return f"{PLAN_PREFIX}{plan.upper().replace('-', '_')}"


class KeyRing:
    """The valid keys and plans, read from the environment and from the current content of the file.

    Args:
        file: path of the key file.
        environ: environment variables.
        usage: records when each key was last used.
        clock: returns the current day (UTC).
    """

    def __init__(
        self,
        file: Path,
        environ: Mapping[str, str] = os.environ,
        usage: KeyUsage | None = None,
        clock: Callable[[], datetime.date] = today,
    ) -> None:
        self._file = KeyFile(file, environ)
        self._environ = environment_lines(environ)
        self._usage = usage
        self._clock = clock
        self._fixed_keys = parse_keys(self._environ)
        self._file_version: tuple[int, int, int] | None = None
        self._file_keys: list[Key] = []
        self._plans = parse_plans(self._environ)
        self._readable = True
        self._loaded = False
        self.keys()
        self._loaded = True

    def check_environment(self) -> None:
        """Raise ValueError if a variable is not a valid key or plan, or if it names an unknown plan.

        Variables are read at the start only, so that an error in them is one of the start. The file may change at any
        time, and an error in it must not lock out the holders of other keys: it is logged.
        """
        check_lines(self._environ)
        for key in parse_keys(self._environ):
            if key.plan not in self._plans:
                raise ValueError(f"variable {PREFIX}{key.label}: {unknown_plan(key.plan, self._plans)}")

    def find(self, plain: str) -> Key | None:
        """Return the stored key that matches `plain`, or None. The time taken does not depend on which key matches.

        Raises:
            KeyExpired: the key is no longer valid.
        """
        presented = digest(plain)
        match = None
        for key in self.keys():
            if hmac.compare_digest(key.digest, presented):
                match = key
        if match is None:
            return None
        day = self._clock()
        if match.expires is not None and match.expires < day:
            log.warning("An expired key was refused", extra={"fields": match.fields()})
            raise KeyExpired(match.expires)
        if self._usage is not None:
            self._usage.record(match.digest, day.isoformat(), lambda: {key.digest for key in self.keys()})
        return match

    def valid_key(self, name: str) -> Key | None:
        """Return a key of this holder that has not expired, or None."""
        day = self._clock()
        valid = (key for key in self.keys() if key.name == name and (key.expires is None or key.expires >= day))
        return next(valid, None)

    def entitlements(self, key: Key) -> Plan | None:
        """Return the key's plan, or None if the plan is unknown."""
        return self._plans.get(key.plan)

    def days_left(self) -> dict[str, int]:
        """Return the days until the last day of each key that expires, by label; negative for an expired one."""
        day = self._clock()
        return {key.label: (key.expires - day).days for key in self.keys() if key.expires is not None}

    def issue_temporary(self) -> str:
        """Return a new key that is valid until this process ends; it is not stored."""
        plain, key = generate_key("TEMPORARY", "temporary", "business")
        self._fixed_keys.append(key)
        return plain

    def keys(self) -> list[Key]:
        """Return all keys, expired ones as well. While the file cannot be read, those read last stay valid."""
        try:
            version = self._current_version()
            if version != self._file_version:
                self._reload()
                self._file_version = version
            self._readable = True
        except OSError as error:
            if self._readable:
                log.error("The key file cannot be read; the keys read last stay valid: %s", error)
            self._readable = False
        return self._fixed_keys + self._file_keys

    def _current_version(self) -> tuple[int, int, int] | None:
        try:
            status = self._file.path.stat()
        except FileNotFoundError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def _reload(self) -> None:
        lines = self._file.lines()
        keys = parse_keys(lines)
        self._plans = self._file.plans()
        before, now = ({key.digest: key for key in some} for some in (self._file_keys, keys))
        self._file_keys = keys
        for key in keys:
            if key.plan not in self._plans:
                log.error("A key has an unknown plan and grants nothing", extra={"fields": key.fields()})
            if self._loaded and key.digest not in before:
                log.info("Key added", extra={"fields": key.fields()})
        for key in before.values():
            if key.digest not in now:
                log.info("Key revoked", extra={"fields": key.fields()})
        log.info("Keys loaded", extra={"fields": {"keys": len(keys), "plans": len(self._plans)}})
