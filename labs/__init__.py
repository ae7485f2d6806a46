"""The complete days: the one source that `labs/` is generated from."""
