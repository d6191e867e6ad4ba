"""Worker processes that read documents: the pool in the server, the protocol, and the code inside a worker."""
