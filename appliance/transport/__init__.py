"""HTTP transport: middleware, uploads, problem responses, static documents, access log."""
