"""Pages for browsers: the web app, the interface documentation, and the error catalog."""
