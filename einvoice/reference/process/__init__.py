"""The child process that runs stylesheets with Saxon."""
