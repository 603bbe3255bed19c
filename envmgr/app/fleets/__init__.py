"""The main job over many hosts."""
