"""The rule book: rules as data, checked against the model and compiled to Python, and the catalog of their texts.

`program.engine.rulebook()` runs rules, `catalog.catalog()` explains codes, `check` checks rule files and creates
new ones. `rules/README.md` describes the format of rule files. Rules see the model only, never XML.
"""
