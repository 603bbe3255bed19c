"""Examples take as long as a busy machine makes them take: no deadline."""

from hypothesis import settings

settings.register_profile("envmgr", deadline=None)
settings.load_profile("envmgr")
