"""Frozen, versioned, plain nouns: no I/O, no clock."""
