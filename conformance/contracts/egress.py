"""Family TOOL, continued: where requests go, by which way, and how a tool is described."""
