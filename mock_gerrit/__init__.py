"""A simulated Gerrit: several hosts in one process, each with its own content and plugins."""
