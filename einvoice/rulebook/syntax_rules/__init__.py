"""The syntax rules of EN 16931 (UBL-CR, UBL-SR, UBL-DT, CII-SR, CII-DT), checked on elements, not on the model.

The rules are rows of `rules/syntax/ubl.csv` and `cii.csv`; `rules/syntax/README.md` describes the notation.

    collector = Collector(root)
    invoice = read(root, collector)
    for violation in collector.violations(): …

- `rule`: a row and its notation; `table`: all rows of a syntax, as a tree of contexts and paths
- `matcher`: the rules that apply to a path; `collector`: the elements of one document at those paths
- `checks`: the checks that rows name; `ubl`, `cii`, `facturx`, `france`: those of one syntax or rule set
- `conditions`: the conditions that paths name, as XPath
"""
