"""The day of the last use of each API key, in a JSON file: SHA-256 of the key -> ISO date (UTC)."""

import json
import logging
from collections.abc import Callable, Collection
from pathlib import Path

from appliance.access.file_replacement import replace_file

log = logging.getLogger(__name__)

FILE_NAME = "key-usage.json"


class KeyUsage:
    """The file of last uses. It is written at most once a day and key; a file that cannot be read counts as empty."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._days: dict[str, str] | None = None

    def read(self) -> dict[str, str]:
        """Return the days of the last uses, by digest."""
        try:
            content = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        return {str(digest): str(day) for digest, day in content.items()} if isinstance(content, dict) else {}

    def record(self, digest: str, day: str, known: Callable[[], Collection[str]]) -> None:
        """Record a use. Digests that `known` does not return, those of revoked keys, are removed."""
        if self._days is None:
            self._days = self.read()
        if self._days.get(digest) == day:
            return
        valid = known()
        self._days = {other: last for other, last in self._days.items() if other in valid} | {digest: day}
        try:
            replace_file(self._path, json.dumps(self._days, indent=1).encode())
        except OSError as error:
            log.warning("The last use of a key could not be stored: %s", error.strerror)
