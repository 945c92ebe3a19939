"""Find what is worth a human's minute; each proposer turns what changed into items."""
