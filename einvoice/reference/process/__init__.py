"""The sandboxed worker process that runs XML schemas and stylesheets."""
