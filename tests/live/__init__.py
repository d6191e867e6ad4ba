"""The live test: mutated invoices, judged by us and by the official EN 16931 stylesheet itself."""
