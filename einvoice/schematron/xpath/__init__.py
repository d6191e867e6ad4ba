"""XPath 2.0, as far as Schematron uses it: text -> nodes of `nodes` -> functions of Python.

Source: XML Path Language (XPath) 2.0 (Second Edition), W3C Recommendation 14 December 2010; a few constructs of
XPath 3.1 that sheets use: `let`, `!`, `||`, `=>`.
"""
