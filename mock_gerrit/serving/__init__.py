"""The four ways in which a world is served."""
