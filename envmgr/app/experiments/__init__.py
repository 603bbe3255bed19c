"""The laboratory in which worlds are built and probed, each apart from all others."""
