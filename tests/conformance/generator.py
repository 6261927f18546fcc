"""Random sequences from a seed: few names and few values, so that requests meet each other."""

import random

import patches
import reviews
import subresources
from kinds import KINDS, Kind
from mutate import mutated

STEPS = (6, 18)
NAMES = ("a", "b", "c")
LABELS = ({"app": "a"}, {"app": "b", "tier": "x"}, {"app": "a", "tier": "y"}, {})
SELECTORS = ("app=a", "app!=b", "tier", "!tier", "app in (a,b),tier notin (x)", "app=zzz")
# A label selector and the labels that its marker needs.
WATCHED = (("app=a", {"app": "a"}), ("app!=b", {"app": "m"}), ("tier", {"tier": "x"}))
MANAGERS = ("alice", "bob")
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"


class Generator:
    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        self.steps: list[dict] = []
        # (kind, name) -> ids of steps that answered with the object, oldest first
        self.seen: dict[tuple[Kind, str], list[str]] = {}
        self.generated: set[tuple[Kind, str]] = set()  # prefixes of generateName
        self.scaled = 3  # the last number of replicas that a scale asked for
        rng = self.rng
        weights = [kind.weight for kind in KINDS.values()]
        self.kinds = rng.choices(list(KINDS.values()), weights, k=rng.choice((1, 1, 2)))

    def sequence(self) -> list[dict]:
        body = {"metadata": {"name": "${ns}", "labels": {"seq": "${ns}"}}}
        self.add("create", "namespaces", "POST", "/api/v1/namespaces", body=body)
        for _ in range(self.rng.randint(*STEPS)):
            self.step()
        return self.steps

    def step(self) -> None:
        kind = self.rng.choice(self.kinds)
        ways = {self.create: 9, self.get: 3, self.read_list: 5, self.delete: 5, self.watch: 2,
                self.delete_collection: 1, self.review: 0.3, self.odd: 0.6}
        if kind.changes:
            ways |= {self.update: 6, self.patch: 9, self.apply: 6}
        ways |= subresources.ways(self, kind)
        self.rng.choices(list(ways), list(ways.values()))[0](kind)

    # --- what steps are made of

    def add(self, verb, kind, method, path, *, query=None, body=None, headers=None, **more) -> str:
        step = {"id": f"s{len(self.steps)}", "verb": verb,
                "kind": kind if isinstance(kind, str) else kind.plural,
                "method": method, "path": path}
        if query:
            step["query"] = query
        if body is not None:
            step["body"] = body
            headers = {"Content-Type": "application/json"} | (headers or {})
        if headers:
            step["headers"] = headers
        self.steps.append(step | more)
        return step["id"]

    def name(self, kind: Kind) -> str:
        name = self.rng.choice(NAMES)
        return name if kind.namespaced else "${ns}-" + name

    def path(self, kind: Kind, name: str, subresource: str = "") -> str:
        return f"{kind.collection}/{name}" + (f"/{subresource}" if subresource else "")

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def saw(self, kind: Kind, name: str, step: str) -> None:
        self.seen.setdefault((kind, name), []).append(step)

    def metadata(self, kind: Kind, name: str) -> dict:
        labels = dict(self.rng.choice(LABELS))
        if not kind.namespaced:
            labels["seq"] = "${ns}"
        found = {"name": name} | ({"labels": labels} if labels else {})
        if self.chance(0.15):
            found["annotations"] = {"note": self.rng.choice("xy")}
        if self.chance(0.1):
            found["finalizers"] = [self.rng.choice(["example.com/a", "example.com/b"])]
        if self.chance(0.1):
            # An owner that stays: there is no garbage collector beside the real server.
            found["ownerReferences"] = [{"apiVersion": "v1", "kind": "Namespace",
                                         "name": "${ns}", "uid": "${uid:s0}"}]
        return found

    def body(self, kind: Kind, name: str, wrong: float = 0.08) -> dict:
        body = {"apiVersion": kind.api_version, "kind": kind.kind,
                "metadata": self.metadata(kind, name)} | kind.body(self.rng)
        return mutated(self.rng, body) if self.chance(wrong) else body

    def write_query(self) -> dict:
        query = {}
        if self.chance(0.12):
            query["dryRun"] = "All"
        if self.chance(0.25):
            query["fieldValidation"] = self.rng.choice(("Strict", "Warn", "Ignore"))
        if self.chance(0.25):
            query["fieldManager"] = self.rng.choice(MANAGERS)
        return query

    def version(self, kind: Kind, name: str) -> str | None:
        """The newest version that was shown, an older one, or none."""
        steps = self.seen.get((kind, name))
        if not steps or self.chance(0.3):
            return None
        step = steps[-1] if self.chance(0.7) else self.rng.choice(steps)
        return "${rv:" + step + "}"

    # --- verbs

    def create(self, kind: Kind) -> None:
        name, query = self.name(kind), self.write_query()
        body = self.body(kind, name)
        metadata = body.get("metadata")
        # Two names from one prefix would be listed in an order that chance decides.
        fresh = (kind, name) not in self.generated and kind.plural != "jobs"
        if self.chance(0.1) and isinstance(metadata, dict) and fresh:
            self.generated.add((kind, name))
            metadata.pop("name", None)
            metadata["generateName"] = name + "-"
            step = self.add("create", kind, "POST", kind.collection, query=query, body=body)
            self.saw(kind, "${name:" + step + "}", step)
            return
        step = self.add("create", kind, "POST", kind.collection, query=query, body=body)
        self.saw(kind, name, step)

    def known(self, kind: Kind) -> str:
        """A name, more likely of an object that was there once."""
        names = [name for known, name in self.seen if known is kind]
        return self.rng.choice(names) if names and self.chance(0.85) else self.name(kind)

    def get(self, kind: Kind) -> None:
        name, more, query = self.known(kind), {}, {}
        if self.chance(0.2):
            more["headers"] = {"Accept": self.rng.choice((TABLE, PARTIAL))}
        elif self.chance(0.2):
            query["resourceVersion"] = "0"
            more["settle"] = kind.collection
        step = self.add("get", kind, "GET", self.path(kind, name), query=query, **more)
        if not more.get("headers"):
            self.saw(kind, name, step)

    def read_list(self, kind: Kind) -> None:
        query, more = {} if kind.namespaced else {"labelSelector": "seq=${ns}"}, {}
        if self.chance(0.4):
            extra = self.rng.choice(SELECTORS)
            query["labelSelector"] = ",".join(filter(None, (query.get("labelSelector"), extra)))
        elif self.chance(0.25):
            query["fieldSelector"] = self.rng.choice(("metadata.name=a", "metadata.name!=b",
                                                      *kind.fields, "metadata.uid=1"))
        if self.chance(0.25):
            more["headers"] = {"Accept": self.rng.choice((TABLE, TABLE, PARTIAL_LIST))}
        self.versions_of_list(kind, query, more)
        # With a selector the real server may end by an empty page, ours never does.
        if self.chance(0.4) and "labelSelector" not in query and "fieldSelector" not in query:
            query["limit"] = self.rng.choice(("1", "2"))
        step = self.add("list", kind, "GET", kind.collection, query=query, **more)
        while query.get("limit") and self.chance(0.6):
            for name in ("resourceVersion", "resourceVersionMatch"):
                query = {k: v for k, v in query.items() if k != name}
            query = query | {"continue": "${continue:" + step + "}"}
            step = self.add("list", kind, "GET", kind.collection, query=query,
                            **({"headers": more["headers"]} if "headers" in more else {}))

    def versions_of_list(self, kind: Kind, query: dict, more: dict) -> None:
        steps = [step for (known, _), found in self.seen.items() if known is kind for step in found]
        if self.chance(0.1):
            query["resourceVersion"] = "0"
            more["settle"] = kind.collection
        elif steps and self.chance(0.2):
            query["resourceVersion"] = "${rv:" + self.rng.choice(steps) + "}"
            query["resourceVersionMatch"] = self.rng.choice(("Exact", "NotOlderThan"))

    def update(self, kind: Kind) -> None:
        name = self.known(kind)
        version, steps = self.version(kind, name), self.seen.get((kind, name))
        if steps and self.chance(0.5):  # what careful clients do: read, change, write
            body = {"$from": self.rng.choice(steps[-2:]), "$merge": patches.merge(self, kind)}
        else:
            body = self.body(kind, name)
            if version and isinstance(body.get("metadata"), dict):
                body["metadata"]["resourceVersion"] = version
        step = self.add("update", kind, "PUT", self.path(kind, name), query=self.write_query(),
                        body=body)
        self.saw(kind, name, step)

    def patch(self, kind: Kind) -> None:
        name = self.known(kind)
        content, body = patches.random_patch(self, kind)
        step = self.add("patch", kind, "PATCH", self.path(kind, name), query=self.write_query(),
                        body=body, headers={"Content-Type": content})
        self.saw(kind, name, step)

    def apply(self, kind: Kind) -> None:
        name = self.known(kind) if self.chance(0.6) else self.name(kind)
        body = patches.configuration(self, kind, name)
        query = self.write_query() | {"fieldManager": self.rng.choice(MANAGERS)}
        if self.chance(0.3):
            query["force"] = self.rng.choice(("true", "false"))
        step = self.add("apply", kind, "PATCH", self.path(kind, name), query=query, body=body,
                        headers={"Content-Type": "application/apply-patch+yaml"})
        self.saw(kind, name, step)

    def delete(self, kind: Kind) -> None:
        name, body, query = self.known(kind), {}, {}
        steps = self.seen.get((kind, name))
        if self.chance(0.3) and steps:
            which = self.rng.choice(("resourceVersion", "uid"))
            step = self.rng.choice(steps)
            body["preconditions"] = {which: "${" + {"uid": "uid"}.get(which, "rv") + f":{step}}}"}
        # Nobody works off what the other policies leave behind; a job's default is one of them.
        if self.chance(0.3) or kind.plural == "jobs":
            body["propagationPolicy"] = "Background"
        if self.chance(0.3):
            body["gracePeriodSeconds"] = self.rng.choice((0, 0, 1, 30))
        if self.chance(0.1):
            query["dryRun"] = "All"
        if body and self.chance(0.7):
            body |= {"apiVersion": "v1", "kind": "DeleteOptions"}
        self.add("delete", kind, "DELETE", self.path(kind, name), query=query, body=body or None)

    def delete_collection(self, kind: Kind) -> None:
        if kind.plural == "jobs":
            return self.delete(kind)
        query = {"labelSelector": "app=a" if kind.namespaced else "seq=${ns},app=a"}
        if kind.namespaced and self.chance(0.5):
            query = {}
        self.add("deletecollection", kind, "DELETE", kind.collection, query=query)

    def review(self, kind: Kind) -> None:
        reviews.add_review(self, kind)

    def odd(self, kind: Kind) -> None:
        reviews.add_odd(self, kind)

    def watch(self, kind: Kind) -> None:
        """Opened here, read after the sequence until a marker arrives."""
        query, more, labels = {"watch": "1", "timeoutSeconds": "120"}, {}, {}
        name = "marker" if kind.namespaced else "${ns}-marker"
        selectors = [] if kind.namespaced else ["seq=${ns}"]
        if self.chance(0.4):
            selector, labels = self.rng.choice(WATCHED)
            selectors.append(selector)
        elif self.chance(0.2):
            name = self.name(kind)
            query["fieldSelector"] = f"metadata.name={name}"
        if selectors:
            query["labelSelector"] = ",".join(selectors)
        if self.chance(0.3):
            query |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan",
                      "allowWatchBookmarks": "true"}
        elif (steps := self.seen.get((kind, self.known(kind)))) and self.chance(0.6):
            query["resourceVersion"] = "${rv:" + self.rng.choice(steps) + "}"
        elif self.chance(0.3):
            query["resourceVersion"] = "0"
        if self.chance(0.15):
            more["headers"] = {"Accept": self.rng.choice((TABLE, PARTIAL))}
        fresh = random.Random(self.rng.random())
        content = {} if kind.plural == "secrets" else kind.body(fresh)  # some types need keys
        metadata = {"name": name, "labels": labels | ({} if kind.namespaced else {"seq": "${ns}"})}
        body = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata}
        self.add("watch", kind, "GET", kind.collection, query=query, settle=kind.collection,
                 marker={"path": self.path(kind, name), "body": body | content}, **more)
