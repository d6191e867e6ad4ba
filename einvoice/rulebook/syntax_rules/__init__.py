"""The mechanical syntax rules of EN 16931 (UBL-CR, UBL-SR, UBL-DT, CII-SR, CII-DT), found while a document is read.

The rules are rows of ``rules/syntax/ubl.csv`` and ``cii.csv``; ``rules/syntax/README.md`` says how a row is written.
A rule book cannot see XML, but these rules are about XML and nothing else.

    notes = Notes(root)
    invoice = read(root, notes)
    for hit in notes.hits(): …

- ``rule``: a row and its notation; ``table``: all rows of a syntax, by context and path
- ``places``: what a row says of a path, worked out once per path; ``notes``: what one document has at those paths
- ``kinds``: what is asked of the elements that a row found; ``ubl``, ``cii``: the words that only one syntax needs
"""
