"""Tests of the ways in which a world is served."""
