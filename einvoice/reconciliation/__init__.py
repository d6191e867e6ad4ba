"""Reconciles the numbers of an invoice: which equations of EN 16931 fail, and which number explains that.

It works on the model alone; `einvoice.repair` turns what it proves into changes of the document.
"""
