"""Databases: the memory tables, their history, and the review ledger."""
