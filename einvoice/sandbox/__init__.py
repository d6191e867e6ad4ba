"""Child processes for untrusted work, with limits of memory and time."""
