"""Messages between the server and its worker processes: a JSON header and binary parts.

Messages are never pickled: a process that has read an untrusted file is no more trustworthy than the file.
"""

import struct
from dataclasses import dataclass, field
from typing import Any, Self

from appliance.contract.serialization import from_json, to_json

_PREFIX = struct.Struct("!IQ")
PREFIX_BYTES = _PREFIX.size


@dataclass(frozen=True, slots=True)
class Message:
    """A job or its outcome.

    Attributes:
        head: JSON object.
        parts: documents or response bodies.
    """

    head: dict[str, Any]
    parts: tuple[bytes, ...] = field(default=())

    def pack(self) -> bytes:
        """Return the message as bytes."""
        head = to_json([self.head, [len(part) for part in self.parts]])
        return b"".join((_PREFIX.pack(len(head), sum(map(len, self.parts))), head, *self.parts))

    @staticmethod
    def length(prefix: bytes | bytearray) -> int:
        """Return the length in bytes of the message that begins with `prefix`, its first `PREFIX_BYTES` bytes."""
        head, parts = _PREFIX.unpack_from(prefix)
        return PREFIX_BYTES + int(head) + int(parts)

    @classmethod
    def unpack(cls, packed: bytes | bytearray) -> Self:
        """Return the message packed by `pack`."""
        position = PREFIX_BYTES + _PREFIX.unpack_from(packed)[0]
        head, sizes = from_json(packed[PREFIX_BYTES:position])
        parts = []
        for size in sizes:
            parts.append(bytes(packed[position : position + size]))
            position += size
        return cls(head, tuple(parts))
