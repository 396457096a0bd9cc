"""The core tools, one file a topic."""
