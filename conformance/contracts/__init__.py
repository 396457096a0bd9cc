"""The clauses, one file a family."""
