"""The core tools, one file a topic; `catalogue.py` lists them."""
