"""Comparison cases: documents with the verdicts of the official stylesheets.

The generated cases are part of the project: ``bases`` has valid documents made by the generators of the tests, and
``expected.jsonl`` the edits and the official verdict of each case. ``python -m tests.cases.generate`` makes both.

Further cases may lie beside the checkout; tests run on these too if available. Both have the same form.
"""
