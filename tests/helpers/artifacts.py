"""A clock, a source and a renderer for stores of artifacts and links to them."""

import asyncio

from appliance.artifacts.links import ArtifactSource
from appliance.contract.paths import ARTIFACTS

KINDS = ("validation_report_pdf", "readable_invoice_pdf")
MEGABYTE = 1 << 20
STORE_BYTES = 16 * MEGABYTE
"""Size of a small store. An eighth of it is for the log, and as much for what is being written."""
SOURCE = ArtifactSource(b"<Invoice>\nwith\nlines</Invoice>", "Rechnung ü.xml", "en", "compatibility", 1_800_000_000.5)


class Clock:
    def __init__(self):
        self.now = 1_800_000_000.0

    def __call__(self):
        return self.now


def on_disk(folder):
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


class Renderer:
    """Returns a fake PDF that lists its source."""

    def __init__(self):
        self.calls = []

    async def __call__(self, kind, source, holder):
        self.calls.append(kind)
        await asyncio.sleep(0.01)
        return (
            f"%PDF {kind} {source.filename} {source.lang} {source.mode} {source.validated_at} ".encode()
            + source.document
        )


def token_of(link):
    return link.path.removeprefix(f"{ARTIFACTS}/").partition("/")[0]
