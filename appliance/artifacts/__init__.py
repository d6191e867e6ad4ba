"""Short-lived PDFs behind links: the links, the rendering, and the stores."""
