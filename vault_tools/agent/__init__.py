"""What agents may call; nothing in here approves."""
