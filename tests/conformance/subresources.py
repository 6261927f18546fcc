"""Steps on the parts of objects: status and scale, and what pods and service accounts can do."""

import functools

MERGE = {"Content-Type": "application/merge-patch+json"}


def ways(generator, kind) -> dict:
    """What can be done with this kind, with weights."""
    found = {}
    if kind.status:
        found[add_status] = 4
    if kind.scale:
        found[add_scale] = 3
    if kind.plural == "pods":
        found |= {add_evict: 1, add_bind: 2}
    if kind.plural == "serviceaccounts":
        found[add_token] = 2
    return {functools.partial(add, generator): weight for add, weight in found.items()}


def add_status(generator, kind) -> None:
    name, query = generator.known(kind), generator.write_query()
    path = generator.path(kind, name, "status")
    status = {"status": kind.status(generator.rng)}
    if generator.chance(0.2):
        step = generator.add("get", kind, "GET", path)
    elif generator.chance(0.5):
        if generator.chance(0.3):
            status["metadata"] = {"labels": {"app": "b"}}
        step = generator.add("patch", kind, "PATCH", path, body=status, query=query, headers=MERGE)
    else:
        body = generator.body(kind, name, wrong=0) | status
        if version := generator.version(kind, name):
            body["metadata"]["resourceVersion"] = version
        step = generator.add("update", kind, "PUT", path, body=body, query=query)
    generator.saw(kind, name, step)


def add_scale(generator, kind) -> None:
    name, query = generator.known(kind), generator.write_query()
    path = generator.path(kind, name, "scale")
    # One that is there already would only move owners; docs/reference/conformance.md.
    generator.scaled += 2
    wanted = generator.scaled if generator.chance(0.7) else -1
    replicas = {"spec": {"replicas": wanted}}
    if generator.chance(0.3):
        generator.add("get scale", kind, "GET", path)
    elif generator.chance(0.5):
        generator.add("patch scale", kind, "PATCH", path, body=replicas, query=query, headers=MERGE)
    else:
        body = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": name}}
        generator.add("update scale", kind, "PUT", path, body=body | replicas)


def add_evict(generator, kind) -> None:
    name = generator.known(kind)
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    if generator.chance(0.3):
        body["deleteOptions"] = {"gracePeriodSeconds": 0}
    generator.add("evict", kind, "POST", generator.path(kind, name, "eviction"), body=body)


def add_bind(generator, kind) -> None:
    name = generator.known(kind)
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
            "target": {"kind": "Node", "name": generator.rng.choice(("n1", "n2"))}}
    generator.add("bind", kind, "POST", generator.path(kind, name, "binding"), body=body)


def add_token(generator, kind) -> None:
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
            "spec": {"expirationSeconds": generator.rng.choice((600, 3600, 10))}}
    path = generator.path(kind, generator.known(kind), "token")
    generator.add("token", kind, "POST", path, body=body)
