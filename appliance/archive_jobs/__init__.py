"""Jobs: a ZIP of many invoices is stored, validated in the background, and its results are kept for a while.

    upload -> zip_directory -> job_store -> runner -> results, by block

Everything is in an artifact store, in blocks whose names follow from their numbers. A block that was being made when
the server ended is made again under the same name, so that each file has exactly one result.
"""
