"""Finds the files to validate: paths, folders, patterns, archives, pairs of name and bytes."""
