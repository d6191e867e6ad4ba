"""Read rule files: rules, contexts, notes, examples and releases."""
