"""Read the truth and say how it stands; reports never decide (spec 04)."""
