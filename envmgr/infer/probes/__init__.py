"""Stand-alone scripts that environments' interpreters run; nothing here is imported by envmgr."""
