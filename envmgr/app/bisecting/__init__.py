"""Bisecting: where along a line of releases, days, Pythons or nightlies something changed."""
