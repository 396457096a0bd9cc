"""Family TOOL, continued: what a tool does when an answer is missing, damaged, or holds less than usual."""
