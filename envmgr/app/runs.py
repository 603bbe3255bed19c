"""Stored runs as a user names them."""

from __future__ import annotations

from envmgr.app.workplace import Workplace
from envmgr.errors import StoreError
from envmgr.model.result import Run
from envmgr.ports import Event
from envmgr.store.query import LATEST, find_run


def stored_run(workplace: Workplace, name: str = LATEST) -> Run:
    """Return a run by (the beginning of) its id, or the latest of a matrix that can be read; later ones are told.

    Raises StoreError when there is none, and when one that is named cannot be read.
    """
    store = workplace.store
    if name != LATEST:
        return store.load(find_run(store.names(), name))
    unread: StoreError | None = None
    for each in reversed(store.names()):
        try:
            if store.head(each).purpose == "matrix":
                return store.load(each)
        except StoreError as error:
            workplace.listener.on_event(Event("warning", f"run {each}", f"left out: {error.what}: {error.why}"))
            unread = unread or error
    if unread is not None:
        raise unread
    return store.load(find_run(()))
