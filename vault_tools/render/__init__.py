"""Templates to text: a sandbox, filters that make foreign text harmless, contexts."""
