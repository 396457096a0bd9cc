"""What `docs/generate.py` writes into the pages: one module a subject, each a function from an argument to Markdown."""
