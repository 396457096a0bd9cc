"""What a run tells: one model and one file an output."""
