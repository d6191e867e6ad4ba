"""The semantic invoice model of EN 16931, independent of syntax.

`values`: values of business terms · `group`: declarations of groups · `parties`, `money`, `lines`: the
groups · `invoice`: the invoice with its totals · `terms`: business terms with their names by language ·
`location`: line and XPath of an element · `iteration`: all values of an invoice · `calculation`: the equations of
its amounts.
"""
