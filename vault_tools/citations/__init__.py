"""Cited retrieval: one door to the files that memories and answers quote."""
