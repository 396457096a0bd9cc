"""The operators of the change query language, one family a file."""
