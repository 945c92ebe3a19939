"""Recall, store, forget, and the finders of duplicates and contradictions."""
