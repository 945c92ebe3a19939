"""Bundles, approvals, apply and undo: everything that changes what is trusted or shared."""
