"""Rules of one's own: add them, check rule files and run their examples, begin new ones, describe them for editors.

Nothing here is needed to judge an invoice by the shipped rules.
"""
