"""The invoice as EN 16931 means it, whatever file it came from.

``values`` what one business term holds · ``group`` how groups of them are declared · ``invoice`` all groups, in the
norm's order · ``terms`` their names in German and English · ``source`` where in a document a value stood.
"""
