"""Read the vault tolerantly, and write it through one door (spec 03)."""
