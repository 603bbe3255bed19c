"""Two environments, locks, runs or hosts side by side."""
