"""What the server and its worker processes say to each other: a head of JSON and parts of plain bytes.

Nothing else crosses: what comes back from a process that has read a stranger's file is no more to be trusted than
the file, so it is never unpickled.
"""

import json
import struct
from dataclasses import dataclass, field
from typing import Any, Self

_FRAME = struct.Struct("!IQ")
HEAD_BYTES = _FRAME.size


@dataclass(frozen=True, slots=True)
class Message:
    """A job or its outcome: `head` is ready for JSON, `parts` are documents or answers."""

    head: dict[str, Any]
    parts: tuple[bytes, ...] = field(default=())

    def pack(self) -> bytes:
        """Return the message as it travels."""
        head = json.dumps([self.head, [len(part) for part in self.parts]]).encode()
        return b"".join((_FRAME.pack(len(head), sum(map(len, self.parts))), head, *self.parts))

    @staticmethod
    def length(start: bytes | bytearray) -> int:
        """Return how long a message is whose first `HEAD_BYTES` bytes are given."""
        head, parts = _FRAME.unpack_from(start)
        return HEAD_BYTES + int(head) + int(parts)

    @classmethod
    def unpack(cls, packed: bytes | bytearray) -> Self:
        """Return the message that `pack` made into bytes."""
        at = HEAD_BYTES + _FRAME.unpack_from(packed)[0]
        head, sizes = json.loads(packed[HEAD_BYTES:at])
        parts = []
        for size in sizes:
            parts.append(bytes(packed[at : at + size]))
            at += size
        return cls(head, tuple(parts))
