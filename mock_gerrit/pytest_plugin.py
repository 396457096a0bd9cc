"""The pytest fixtures of the simulated Gerrit."""
