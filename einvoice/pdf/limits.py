"""Resource limits for reading one PDF."""

from __future__ import annotations

from typing import Final

MEMORY: Final = 512 << 20
"""Maximum address space of a worker (bytes); an ordinary hybrid takes about 70 MB, libraries included."""

SECONDS: Final = 20
"""Maximum wall time of a worker; half of it is the CPU limit. An ordinary hybrid takes 10 ms."""

FILES: Final = 500
"""Number of files after which the server is replaced, where it reads them itself."""

TIMEOUT: Final = SECONDS + 10
"""Socket timeout of the client (seconds); the worker is killed earlier."""

ANSWER: Final = 24 << 20
"""Maximum size of an answer (bytes): the XML and the description of the PDF."""

PAGES_SECONDS: Final = 3
"""Maximum time to read the text of the pages (seconds); it usually takes 5 ms. The invoice has been sent before."""

HANDOVER: Final = b"!"
"""The byte that accompanies a file descriptor sent to the server."""

HANDOVER_WITH_PAGES: Final = b"p"
"""The same, if the text of the pages is wanted, too."""
