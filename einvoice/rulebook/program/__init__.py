"""Compiles the rules of a release to one Python program, and runs it."""
