"""Mutated invoices, validated natively and with the official EN 16931 stylesheet."""
