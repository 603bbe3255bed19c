"""From scripts that no longer run to an environment in which they do."""
