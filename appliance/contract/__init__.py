"""The HTTP contract: its types, paths, JSON bodies and problem types. Independent of web framework and server state."""
