"""The HTTP contract: its types, paths, JSON bodies and problem types. Free of web framework and server state."""
