"""Logging: one JSON object per line on standard error, with no content from invoices or keys."""

import datetime
import logging
import sys
import traceback
from typing import Any

from appliance.contract.serialization import to_json

_MAX_FRAMES = 5
"""Innermost stack frames logged for an exception."""
_LOGGERS = ("appliance", "einvoice", "uvicorn", "asyncio")


class JsonFormatter(logging.Formatter):
    """Formats a record as a line of JSON; `extra={"fields": {…}}` adds members.

    An exception is logged with its type and stack frames but not its message, which may quote an invoice.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        time = datetime.datetime.fromtimestamp(record.created, datetime.UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {"time": time, "level": record.levelname.lower(), "logger": record.name}
        line["message"] = record.getMessage()
        line.update(getattr(record, "fields", {}))
        if record.exc_info and record.exc_info[1]:
            line["exception"] = type(record.exc_info[1]).__name__
            line["stack"] = stack_frames(record.exc_info[1])
        return to_json(line).decode()


def error_line(logger: str, message: str) -> str:
    """Return an error as a line of the log, for use before `configure`."""
    return JsonFormatter().format(logging.LogRecord(logger, logging.ERROR, "", 0, message, None, None))


def stack_frames(error: BaseException) -> list[str]:
    """Return the innermost stack frames of an exception, outermost first."""
    frames = traceback.extract_tb(error.__traceback__)[-_MAX_FRAMES:]
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]


def configure(level: str, handler: logging.Handler | None = None) -> None:
    """Log messages of `level` and above from the appliance, einvoice, uvicorn and asyncio.

    Other loggers are silenced: libraries that parse or render documents may quote them in their log messages.

    Args:
        level: minimum level.
        handler: what writes the lines; by default, one that waits until standard error takes them.
    """
    # The lines say neither thread, process nor caller; collecting these takes longer than formatting a line.
    # See "Optimization" in the logging HOWTO of Python.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging._srcfile = None
    handler = handler or logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(handlers=[logging.NullHandler()], force=True)
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level.upper())
        logger.propagate = False
    logging.getLogger("uvicorn.access").disabled = True  # replaced by `appliance.transport.access_log`
