"""Logs: one JSON object a line on standard error, and never anything that an invoice or a key says."""

import datetime
import json
import logging
import sys
import traceback
from typing import Any

_PLACES = 5
"""So many of the innermost calls of a fault are logged."""
_HEARD = ("appliance", "einvoice", "uvicorn", "asyncio")


class JsonLines(logging.Formatter):
    """A record as one line of JSON; `extra={"fields": {…}}` adds members.

    Of an exception its type and places are told, not its message: that could quote an invoice.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        time = datetime.datetime.fromtimestamp(record.created, datetime.UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {"time": time, "level": record.levelname.lower(), "logger": record.name}
        line["message"] = record.getMessage()
        line.update(getattr(record, "fields", {}))
        if record.exc_info and record.exc_info[1]:
            line["fault"] = type(record.exc_info[1]).__name__
            line["places"] = places(record.exc_info[1])
        return json.dumps(line, ensure_ascii=False)


def places(error: BaseException) -> list[str]:
    """Return where an exception arose, the outermost place first, without what it says."""
    frames = traceback.extract_tb(error.__traceback__)[-_PLACES:]
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]


def set_up(level: str) -> None:
    """Let this process log in this way from `level` on: our own loggers and the server's, no other library's.

    What reads or draws documents may quote them in what it logs.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[logging.NullHandler()], force=True)
    for name in _HEARD:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level.upper())
        logger.propagate = False
    logging.getLogger("uvicorn.access").disabled = True  # `appliance.journal` logs requests
