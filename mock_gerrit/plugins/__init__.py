"""Simulated Gerrit plugins and the small API with which anyone adds one."""
