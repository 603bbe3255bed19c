"""The only door to processes, clocks and the disk."""
