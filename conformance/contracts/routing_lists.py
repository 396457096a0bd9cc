"""Family ROUTE, continued: how often, and of whom, lists of plugins are asked for."""
