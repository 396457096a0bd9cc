"""Family EXT, continued: what an extension touches of its host: modules, context members, settings, the log."""
