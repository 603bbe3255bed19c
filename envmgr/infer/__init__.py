"""What a script tells of the environment that it was written for: reading, naming, choosing; nothing here runs."""
