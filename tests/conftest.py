"""What all tests share."""

from hypothesis import settings

# The same examples in every run, however long one of them takes on a busy machine.
settings.register_profile("same-again", derandomize=True, deadline=None, database=None)
settings.load_profile("same-again")

pytest_plugins = ["pytester"]
