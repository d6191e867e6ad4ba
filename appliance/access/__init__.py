"""Access control: API keys, plans, daily quotas, and the middleware that enforces them."""
