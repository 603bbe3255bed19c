"""Stand-alone scripts that foreign interpreters run; nothing here is imported by envmgr."""
