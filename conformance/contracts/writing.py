"""Family TOOL, continued: tools that change something, and tools that claim not to."""
