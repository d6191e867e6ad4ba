"""Garbage collection of the server and its workers."""

import gc
import weakref

import pytest

from appliance.workers.memory import collect_garbage


class Node:
    def __init__(self):
        self.itself = self


@pytest.fixture(autouse=True)
def unfrozen():
    gc.collect()
    yield
    gc.unfreeze()


@pytest.mark.slow
def test_what_stays_is_examined_once():
    cache = [Node() for _ in range(1000)]
    garbage = weakref.ref(Node())
    collect_garbage()
    assert garbage() is None
    assert gc.get_freeze_count() >= len(cache)
    assert not any(isinstance(each, Node) for each in gc.get_objects())
