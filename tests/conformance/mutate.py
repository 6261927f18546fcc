"""Makes a good body a little wrong."""

import copy
import random

STRINGS = ("", "Bad_Name!", "x" * 300, "1")
WAYS = ("drop", "other", "string", "unknown", "number")
OTHERS = (None, True, -1, 1.5, "text", [], {}, ["a"], {"a": "b"})


def places(value, path=()):
    """Every place inside a body, as a path of keys and positions."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*path, key)
            yield from places(item, (*path, key))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield (*path, at)
            yield from places(item, (*path, at))


def at(value, path):
    for key in path:
        value = value[key]
    return value


def mutated(rng: random.Random, body: dict, ways=WAYS) -> dict:
    result = copy.deepcopy(body)
    # An owner that is not there would be the garbage collector's business.
    spots = [path for path in places(result) if "ownerReferences" not in path[:-1]]
    path = rng.choice(sorted(spots, key=str))
    parent, key = at(result, path[:-1]), path[-1]
    how = rng.choice(ways)
    if how == "drop":
        del parent[key]
    elif how == "other":
        parent[key] = rng.choice(OTHERS)
    elif how == "string" and isinstance(parent[key], str):
        parent[key] = rng.choice(STRINGS)
    elif how == "number" and isinstance(parent[key], int):
        parent[key] = rng.choice((-1, 0, 70000, 2**33))
    elif isinstance(parent, dict):
        parent["unknownField"] = rng.choice(("x", 1, {"y": 2}))
    return _headless(result)


def _headless(body: dict) -> dict:
    """A service that lost its "None" would get an address."""
    if body.get("kind") == "Service" and isinstance(body.get("spec"), dict):
        body["spec"]["clusterIP"] = "None"
    return body
