"""Families EXT and TOOL, continued: many calls at once, and calls that wait."""
