"""Child processes for untrusted work, with memory and time limits.

- `process` starts and replaces them
- `system` is `posix` or `windows`: how a process is started, connected and limited there
- `protocol` is their wire format
"""
