"""Child processes for untrusted work, with memory and time limits (`process`), and their wire format (`protocol`)."""
