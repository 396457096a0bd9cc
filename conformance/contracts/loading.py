"""Family EXT, continued: what loading an extension asks of Gerrit, takes from others, and can be done twice."""
