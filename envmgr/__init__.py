"""Reproducible environments without Docker, and a matrix of machine-learning stacks."""
