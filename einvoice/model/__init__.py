"""The invoice as EN 16931 means it, whatever file it came from.

``values`` what one business term holds · ``group`` how groups of them are declared · ``parties``, ``money``,
``lines`` those groups · ``invoice`` what has them all · ``terms`` their names in German and English · ``source`` where
in a document a value stood.
"""
