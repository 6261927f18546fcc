"""Random patches and apply configurations."""

import json

from mutate import mutated

LABEL = "/metadata/labels/app"


def random_patch(generator, kind) -> tuple[str, object]:
    """Content type and body."""
    ways = [("application/json-patch+json", json_patch), ("application/merge-patch+json", merge)]
    ways.append(("application/strategic-merge-patch+json", strategic))
    content, make = generator.rng.choice(ways)
    return content, make(generator, kind)


def json_patch(generator, kind) -> list:
    rng = generator.rng
    body = kind.body(rng)
    key = rng.choice(sorted(body)) if body else "nothing"
    operations = [
        {"op": "add", "path": LABEL, "value": rng.choice("ab")},
        {"op": "add", "path": "/metadata/labels", "value": {"app": rng.choice("ab")}},
        {"op": "replace", "path": LABEL, "value": "b"},
        {"op": "remove", "path": LABEL},
        {"op": "test", "path": LABEL, "value": rng.choice("ab")},
        {"op": "add", "path": "/metadata/annotations", "value": {"n": rng.choice("12")}},
        {"op": "copy", "from": LABEL, "path": "/metadata/labels/copy"},
        {"op": "move", "from": LABEL, "path": "/metadata/labels/moved"},
        {"op": "add", "path": "/metadata/finalizers", "value": ["example.com/a"]},
        {"op": "remove", "path": "/metadata/finalizers"},
        {"op": "replace", "path": "/metadata/name", "value": "other"},
        {"op": rng.choice(("add", "replace")), "path": f"/{key}", "value": body.get(key)},
        {"op": "bogus", "path": "/x"},
    ]
    return rng.sample(operations, rng.choice((1, 1, 2)))


def merge(generator, kind) -> dict:
    rng = generator.rng
    change = {}
    if generator.chance(0.6):
        change["metadata"] = {"labels": {"app": rng.choice(("a", "b", None))}}
    if generator.chance(0.2):
        change.setdefault("metadata", {})["finalizers"] = rng.choice((None, ["example.com/a"]))
    if generator.chance(0.5):
        body = kind.body(rng)
        if body:
            key = rng.choice(sorted(body))
            change[key] = body[key]
    return change


def strategic(generator, kind) -> dict:
    rng = generator.rng
    change = merge(generator, kind)
    if generator.chance(0.2):
        change.setdefault("metadata", {})["$deleteFromPrimitiveList/finalizers"] = ["example.com/a"]
        change["metadata"].pop("finalizers", None)
    if kind.plural == "pods" and generator.chance(0.6):
        change["spec"] = {"containers": [{"name": "c", "image": rng.choice(("busybox:2", "b:3"))}]}
    if kind.plural == "deployments" and generator.chance(0.6):
        change["spec"] = {"template": {"spec": {"containers": [rng.choice((
            {"name": "c", "image": "busybox:2"}, {"name": "e", "image": "new"},
            {"name": "d", "$patch": "delete"},
            {"name": "c", "env": [{"name": "A", "value": "9"}, {"name": "Z", "value": "z"}]},
            {"name": "c", "env": [{"name": "A", "$patch": "delete"}]},
        ))]}}}
    if kind.plural == "services" and generator.chance(0.5):
        change["spec"] = {"ports": [{"port": rng.choice((80, 90)), "name": "a"}]}
    return change


def configuration(generator, kind, name: str) -> dict:
    """What a manager applies: some of a body, so that managers share and give up fields."""
    rng = generator.rng
    body = kind.body(rng)
    if kind.plural in ("configmaps", "secrets", "widgets") and generator.chance(0.5):
        for value in body.values():
            if isinstance(value, dict) and len(value) > 1:
                value.pop(rng.choice(sorted(value)))
    labels = {"app": rng.choice("ab")} if generator.chance(0.6) else {}
    if not kind.namespaced:
        labels["seq"] = "${ns}"
    metadata = {"name": name} | ({"labels": labels} if labels else {})
    if generator.chance(0.05):
        metadata["managedFields"] = []
    if generator.chance(0.1):
        metadata["finalizers"] = ["example.com/a"]
    about = {"apiVersion": kind.api_version, "kind": kind.kind}
    whole = about | {"metadata": metadata} | body
    if not generator.chance(0.06):
        return whole
    if kind.plural == "widgets":
        body["spec"].pop("unknownField", None)  # one mistake: several come in an order of chance
    wrong = mutated(rng, whole, ("unknown", "other")) | about
    # A null that is not allowed is left out here; docs/reference/conformance.md.
    return whole if kind.custom and "null" in json.dumps(wrong) else wrong
