"""The pytest hooks of the conformance suite."""
