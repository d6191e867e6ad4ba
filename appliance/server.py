"""The HTTP server, with a delay before it shuts down."""

import logging
import threading
from types import FrameType

import uvicorn

log = logging.getLogger(__name__)


class DrainingServer(uvicorn.Server):
    """Accepts requests for `seconds` after the signal to stop, so that load balancers can notice that it is not ready.

    Args:
        config: configuration of the server.
        seconds: length of the delay; a second signal ends it.
        draining: set at the first signal.
    """

    def __init__(self, config: uvicorn.Config, seconds: float, draining: threading.Event) -> None:
        super().__init__(config)
        self._seconds = seconds
        self._draining = draining

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Start the delay, or stop the server."""
        if not self._seconds or self._draining.is_set():
            super().handle_exit(sig, frame)
            return
        self._draining.set()
        log.info("Draining", extra={"fields": {"seconds": self._seconds}})
        timer = threading.Timer(self._seconds, super().handle_exit, (sig, frame))
        timer.daemon = True
        timer.start()
