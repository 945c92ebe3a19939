"""The home folder: everything of ours that does not belong in a vault."""
