"""REST endpoints, one file a resource family."""
