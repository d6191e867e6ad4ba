"""The fields of a draft, one module for each group of business terms."""
