"""Diagnosis: what broke, found by experiment, and the fix that was seen to work."""
