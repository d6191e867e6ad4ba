"""The rule book: rules as data, proven against the model, fused into code and run; and the catalog of their texts.

``engine.rulebook()`` runs rules, ``catalog.catalog()`` says what a code means, ``check.check_all()`` and
``check.new_rule()`` serve those who write rules. How a rule file is written stands in ``rules/README.md``. A rule sees
the model only: nothing here knows XML.
"""
