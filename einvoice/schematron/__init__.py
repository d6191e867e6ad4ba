"""Official Schematron, compiled to Python: a second tier beside the rules that are written for einvoice.

    sheet (ISO Schematron, or compiled to XSLT) -> `sheets` -> `program` -> reports on a document

An imported assertion is a condition for one syntax. It has the exact code, severity, place and message of its sheet,
but knows no expected value and no cause. Where the sheet would end without a verdict, so does the program
(`errors.Stopped`).

Sources: ISO/IEC 19757-3:2016 (Schematron), XSL Transformations 2.0, XPath 2.0, and the Functions and Operators of both.
"""
