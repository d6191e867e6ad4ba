"""Regular expressions of XPath: read into a tree, then a pattern of Python, or a search without backtracking.

Python searches by trying; a repetition such as `(a+)+` or `(a|aa)+` can then take time that grows exponentially with
the text. Patterns that repeat more than single characters are therefore matched by following all possible places at
once.

Sources: XML Schema Part 2, F (regular expressions); XQuery 1.0 and XPath 2.0 Functions and Operators, 7.6.
"""

from einvoice.schematron.regex.pattern import Pattern, pattern

__all__ = ["Pattern", "pattern"]
