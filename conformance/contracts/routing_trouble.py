"""Family ROUTE, continued: lists that change or cannot be read, strange addresses, and the host's part."""
