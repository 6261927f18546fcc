"""Reviews, and requests that no client should send."""

from definitions import CRDS, WIDGET
from mutate import mutated

REVIEWS = {
    "subjectaccessreviews": ("authorization.k8s.io", "SubjectAccessReview"),
    "selfsubjectaccessreviews": ("authorization.k8s.io", "SelfSubjectAccessReview"),
    "tokenreviews": ("authentication.k8s.io", "TokenReview"),
}


def add_review(generator, kind) -> None:
    rng = generator.rng
    plural = rng.choice(sorted(REVIEWS))
    group, name = REVIEWS[plural]
    spec = {"resourceAttributes": {"verb": "get", "resource": kind.plural, "group": kind.group,
                                   "namespace": "${ns}"}}
    if plural == "subjectaccessreviews":
        spec |= {"user": "root", "groups": ["system:masters"]}
    if plural == "tokenreviews":
        spec = {"token": "nobody-has-this-token"}
    if generator.chance(0.15):
        path = {"nonResourceAttributes": {"path": "/x", "verb": "get"}}
        spec = rng.choice(({}, {"user": "x"}, path))
    body = {"apiVersion": f"{group}/v1", "kind": name, "spec": spec}
    generator.add("review", plural, "POST", f"/apis/{group}/v1/{plural}", body=body)


def add_odd(generator, kind) -> None:
    rng = generator.rng
    ways = (_definition, _wrong_text, _wrong_type, _wrong_place, _wrong_kind, _wrong_query,
            _wrong_method, _discovery)
    rng.choice(ways)(generator, kind)


def _definition(generator, kind) -> None:
    name = WIDGET["metadata"]["name"].replace("widgets", "wodgets")
    body = {**WIDGET, "metadata": {"name": name}}
    names = {**WIDGET["spec"]["names"], "plural": "wodgets", "singular": "wodget", "kind": "Wodget",
             "listKind": "WodgetList", "shortNames": ["wod"]}
    body["spec"] = {**WIDGET["spec"], "names": names}
    # Wrong types are refused at another moment there (local/apiserver/schema/README.md).
    body |= mutated(generator.rng, {"spec": body["spec"]}, ways=("drop",))
    generator.add("create", "customresourcedefinitions", "POST", CRDS, query={"dryRun": "All"},
                  body=body)


def _wrong_text(generator, kind) -> None:
    text = generator.rng.choice(("", "{", "[]", "null", "\"x\"", "{\"metadata\":{}} x", "a: b"))
    generator.add("create", kind, "POST", kind.collection, body={"$text": text})


def _wrong_type(generator, kind) -> None:
    content = generator.rng.choice(("text/plain", "application/xml", "application/yaml",
                                    "application/json; charset=utf-8", "nonsense"))
    if generator.chance(0.5):
        generator.add("create", kind, "POST", kind.collection,
                      body=generator.body(kind, generator.name(kind)),
                      headers={"Content-Type": content})
    else:
        generator.add("patch", kind, "PATCH", generator.path(kind, generator.known(kind)),
                      body={"metadata": {"labels": {"x": "y"}}}, headers={"Content-Type": content})


def _wrong_place(generator, kind) -> None:
    body = generator.body(kind, "a", wrong=0)
    change = generator.rng.choice(({"namespace": "elsewhere"}, {"name": "${ns}-Not_A_Name"},
                                   {"name": "x" * 300}, {"name": ""}))
    body["metadata"] |= change
    if generator.chance(0.5):
        generator.add("create", kind, "POST", kind.collection, body=body)
    else:
        generator.add("update", kind, "PUT", generator.path(kind, generator.name(kind)), body=body)


def _wrong_kind(generator, kind) -> None:
    body = generator.body(kind, generator.name(kind), wrong=0)
    body |= generator.rng.choice(({"kind": "Nothing"}, {"apiVersion": "nothing/v1"}, {"kind": ""},
                                  {"kind": "Pod", "apiVersion": "v1"}, {"apiVersion": ""}))
    generator.add("create", kind, "POST", kind.collection, body=body)


def _wrong_query(generator, kind) -> None:
    query = generator.rng.choice((
        {"limit": "x"}, {"labelSelector": "a b"}, {"fieldSelector": "nothing=1"},
        {"resourceVersion": "x"}, {"resourceVersionMatch": "Exact"}, {"continue": "junk"},
        {"resourceVersion": "0", "resourceVersionMatch": "Exact"}, {"fieldSelector": "a"},
        {"resourceVersionMatch": "Newest", "resourceVersion": "1"}, {"labelSelector": "a in (b"},
        {"watch": "1", "sendInitialEvents": "true"}, {"sendInitialEvents": "true"}))
    generator.add("list", kind, "GET", kind.collection, query=query)
    write = generator.rng.choice(({"dryRun": "Some"}, {"fieldValidation": "Loud"},
                                  {"fieldManager": "x" * 200}, {"force": "true"}))
    generator.add("create", kind, "POST", kind.collection, query=write,
                  body=generator.body(kind, generator.name(kind)))


def _wrong_method(generator, kind) -> None:
    ways = [("GET", kind.collection + "/a/nothing"), ("GET", kind.root + "/nothings"),
            ("GET", "/apis/nothing.example.com/v1"), ("GET", "/api/v2/pods"), ("GET", "/nothing")]
    if not kind.custom:
        ways += [("PUT", kind.collection), ("PATCH", kind.collection), ("HEAD", kind.collection),
                 ("POST", generator.path(kind, "a"))]
    method, path = generator.rng.choice(ways)
    body = {"metadata": {"name": "a"}} if method in ("PUT", "POST", "PATCH") else None
    generator.add("odd", kind, method, path, body=body)


def _discovery(generator, kind) -> None:
    path = generator.rng.choice(("/api", "/apis", kind.root, f"/apis/{kind.group}" if kind.group
                                 else "/api", "/version", "/healthz", "/readyz"))
    generator.add("discovery", kind, "GET", path)
