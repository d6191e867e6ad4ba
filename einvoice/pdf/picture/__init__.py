"""Compares what the pages of a hybrid PDF show with its XML.

`page_text` reads the pages, in the sandbox; `values` reads numbers, dates and account numbers as people write them;
`comparison` compares. A contradiction is claimed only where a word for a value, such as "Gesamtbetrag", stands beside
another value, and that of the XML is found nowhere.
"""
