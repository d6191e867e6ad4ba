"""What a worker writes to its standard error, as lines of the log.

The worker's own log lines are JSON. Other text comes from libraries, the interpreter or the system. It may quote an
invoice, so that it is logged at level "debug" only, once the worker has run a job.
"""

import asyncio
import logging
from typing import Final, cast

from appliance.contract.serialization import from_json

log = logging.getLogger(__name__)

MAX_LINE: Final = 16_384
"""Maximum length of a line in bytes; a longer one is divided."""
MAX_TEXT: Final = 500
"""Number of characters of other text that are logged at once."""
_BYTES_PER_SECOND: Final = 65_536
"""Beyond this, a worker waits until its output is read."""
_LOGGERS: Final = ("appliance.workers.", "einvoice.")
_LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}


class StandardError(asyncio.Protocol):
    """Reads the standard error of a worker and logs it.

    Attributes:
        may_quote: whether the worker has run a job, and its output may quote a document.

    Args:
        pid: process identifier of the worker.
    """

    def __init__(self, pid: int) -> None:
        self.may_quote = False
        self._pid = pid
        self._rest = b""
        self._transport: asyncio.ReadTransport | None = None
        self._bytes = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport (`asyncio.Protocol`)."""
        self._transport = cast("asyncio.ReadTransport", transport)

    def data_received(self, data: bytes) -> None:
        """Log complete lines; if there are too many, let the worker wait (`asyncio.Protocol`)."""
        self._limit(len(data))
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > MAX_LINE:
            lines, self._rest = [*lines, self._rest], b""
        self._log(lines)

    def connection_lost(self, error: Exception | None) -> None:
        """Log what is left (`asyncio.Protocol`)."""
        self._transport = None
        self._log([self._rest])

    def _limit(self, count: int) -> None:
        loop = asyncio.get_running_loop()
        if not self._bytes:
            loop.call_later(1, self._resume)
        self._bytes += count
        if self._bytes > _BYTES_PER_SECOND and self._transport is not None:
            self._transport.pause_reading()

    def _resume(self) -> None:
        self._bytes = 0
        if self._transport is not None and not self._transport.is_reading():
            self._transport.resume_reading()

    def _log(self, lines: list[bytes]) -> None:
        others = [line for line in lines if line.strip() and not self._log_record(line)]
        if not others:
            return
        text = b"\n".join(others)
        fields: dict[str, object] = {"pid": self._pid, "bytes": len(text)}
        if not self.may_quote or log.isEnabledFor(logging.DEBUG):
            fields["text"] = text.decode(errors="replace")[:MAX_TEXT]
        log.warning("A worker wrote to standard error", extra={"fields": fields})

    def _log_record(self, line: bytes) -> bool:
        """Log a line if it is one of the worker's own log; return whether it is."""
        try:
            record = from_json(line)
        except (ValueError, RecursionError):
            return False
        if not isinstance(record, dict) or not isinstance(record.get("message"), str):
            return False
        name, level = str(record.pop("logger", "")), _LEVELS.get(str(record.pop("level", "")))
        if level is None or not name.startswith(_LOGGERS):
            return False
        fields = {key: value for key, value in record.items() if key not in ("time", "message")}
        logging.getLogger(name).log(level, "%s", record["message"], extra={"fields": {**fields, "pid": self._pid}})
        return True
