"""The rule book: rules as data, checked against the model and compiled to Python.

`program.engine.rulebook()` runs rules. `einvoice.code_catalog` has their texts, `einvoice.authoring` checks rule files.
`rules/README.md` describes the format of rule files. Rules see the model only, never XML.
"""
