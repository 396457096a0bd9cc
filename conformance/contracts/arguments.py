"""Family TOOL, continued: arguments of every kind, and where they end up in a request."""
