#!/usr/bin/env python3
"""Writes local/apiserver/kinds/builtin_schemas.json: the structure of the built-in kinds.

Read from a real kube-apiserver's /openapi/v3. Kept are names, types, formats, required, enums,
defaults and how lists and maps merge; texts are not ours and are dropped. What OpenAPI does not
tell is how absent and zero values are written; that is read from the field tags of the Go modules
the test cluster was built from:

  x-amdahl-keep: true    zero (0, false, "") is not the same as absent
  x-amdahl-zero: VALUE   written when absent

  builtin_openapi.py            start the test cluster, read it, write the file
  builtin_openapi.py --check    fail when the file is not what the server says
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "local" / "apiserver" / "kinds" / "builtin_schemas.json"
REF = "#/components/schemas/"

# Document of /openapi/v3 -> the kinds whose structure is needed.
DOCUMENTS = {
    "api/v1": (
        "Binding ConfigMap Endpoints Event Namespace Node PersistentVolume PersistentVolumeClaim"
        " Pod Secret Service ServiceAccount DeleteOptions Eviction TokenRequest"
    ),
    "apis/apiextensions.k8s.io/v1": "CustomResourceDefinition",
    "apis/apps/v1": "Deployment ReplicaSet Scale",
    "apis/authentication.k8s.io/v1": "SelfSubjectReview TokenReview",
    "apis/authorization.k8s.io/v1": (
        "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview"
        " SubjectAccessReview"
    ),
    "apis/batch/v1": "Job",
    "apis/coordination.k8s.io/v1": "Lease",
    "apis/discovery.k8s.io/v1": "EndpointSlice",
    "apis/events.k8s.io/v1": "Event",
    "apis/rbac.authorization.k8s.io/v1": "ClusterRole ClusterRoleBinding Role RoleBinding",
    "apis/scheduling.k8s.io/v1": "PriorityClass",
}
ZEROS = {"array": None, "object": None, "string": "", "integer": 0, "number": 0, "boolean": False}
KINDS_OF_A_SCHEMA = "x-kubernetes-group-version-kind"


def reduced(node):
    """Without texts, and with {"allOf": [{"$ref": "#/components/schemas/X"}]} as {"$ref": "X"}."""
    if isinstance(node, list):
        return [reduced(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {}
    for name, value in node.items():
        if name == "properties":
            # Below are names of fields, one of which may be "description".
            kept[name] = {field: reduced(schema) for field, schema in value.items()}
        elif name == "$ref":
            kept[name] = value.removeprefix(REF)
        elif name == "allOf" and len(value) == 1 and "$ref" in value[0]:
            kept["$ref"] = value[0]["$ref"].removeprefix(REF)
        elif name == KINDS_OF_A_SCHEMA:
            kept[name] = value[:1]  # DeleteOptions is listed once for each group there is
        elif name != "description":
            kept[name] = reduced(value)
    return kept


def references(node):
    if isinstance(node, list):
        for item in node:
            yield from references(item)
    elif isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from references(value)


def go_folder(schema: str) -> tuple[str, str]:
    """("k8s.io/api", "core/v1") of "io.k8s.api.core.v1.Pod"."""
    parts = schema.split(".")[2:-1]
    return "k8s.io/" + parts[0], "/".join(parts[1:])


def go_structs(text: str) -> dict[str, list[tuple[str, str, str]]]:
    """Struct -> (JSON name, Go type, tag); an inlined struct has an empty name."""
    structs = {}
    for name, body in re.findall(r"^type (\w+) struct \{\n(.*?)^\}", text, re.M | re.S):
        rows = re.findall(r"^\t(?:\w+ +)?(\S+) +`[^`\n]*?json:\"([^,\"]*)([^\"]*)\"", body, re.M)
        structs[name] = [(field, go_type, tag) for go_type, field, tag in rows]
    return structs


def go_fields(structs: dict, name: str):
    for field, go_type, tag in structs.get(name, ()):
        if field:
            yield field, go_type, tag
        else:
            yield from go_fields(structs, go_type.rpartition(".")[2])


def zero_values(schema: dict, fields) -> None:
    """Adds what the tags tell to the properties of one schema."""
    for field, go_type, tag in fields:
        target = schema.get("properties", {}).get(field)
        if target is None:
            continue
        last = go_type.rpartition(".")[2]
        always = "omitempty" not in tag and "omitzero" not in tag
        if go_type.startswith("*"):
            if target.get("type") in ("string", "integer", "number", "boolean"):
                target["x-amdahl-keep"] = True
        elif last in ("Time", "MicroTime") and "omitzero" not in tag:
            target["x-amdahl-zero"] = None
        elif last == "Quantity":
            target["x-amdahl-zero"] = "0"
        elif last == "IntOrString":
            target["x-amdahl-zero"] = 0
        elif always and target.get("type") in ZEROS:
            target["x-amdahl-zero"] = ZEROS[target["type"]]


def add_zero_values(schemas: dict, module_of) -> None:
    """`module_of` gives the folder of a Go module."""
    texts: dict[tuple[str, str], dict] = {}
    for name, schema in schemas.items():
        where = go_folder(name)
        if where not in texts:
            # Inlined structs come from the package of the object references, too.
            core = module_of("k8s.io/api") / "core" / "v1"
            texts[where] = {}
            for folder in (core, module_of(where[0]) / where[1]):
                for file in sorted(folder.glob("types*.go")):
                    texts[where].update(go_structs(file.read_text()))
        zero_values(schema, go_fields(texts[where], name.rpartition(".")[2]))


def schema_of(schemas: dict, kind: str, api_version: str) -> str:
    """The name of the schema that says it is the kind; Scale and Eviction are of other groups."""
    group = api_version.rpartition("/")[0] if "/" in api_version else ""
    fits = []
    for name, schema in schemas.items():
        kinds = [k for k in schema.get(KINDS_OF_A_SCHEMA, ()) if k["kind"] == kind]
        if kinds:
            fits.append((all(k["group"] != group for k in kinds), name))
    if not fits:
        raise SystemExit(f"{api_version} has no kind {kind}")
    return min(fits)[1]


def collect(read) -> dict:
    """`read` gives the document of a path such as "apis/apps/v1"."""
    found: dict[str, dict] = {}
    for path, kinds in DOCUMENTS.items():
        schemas = read(path)["components"]["schemas"]
        todo = [schema_of(schemas, kind, path.partition("/")[2]) for kind in kinds.split()]
        while todo:
            name = todo.pop()
            if name not in found:
                found[name] = reduced(schemas[name])
                todo.extend(references(found[name]))
    return found


def written(schemas: dict) -> str:
    rows = (
        f"{json.dumps(name)}:{json.dumps(schemas[name], separators=(',', ':'), sort_keys=True)}"
        for name in sorted(schemas)
    )
    return "{\n" + ",\n".join(rows) + "\n}\n"


def read_server() -> dict:
    sys.path.insert(0, str(ROOT / "tests" / "cluster"))
    import build
    import testbed

    with testbed.Cluster("builtin-openapi") as cluster:
        schemas = collect(lambda path: cluster.request("GET", f"/openapi/v3/{path}")[1])
    go = [build.find_go(), "env", "GOMODCACHE"]
    cache = Path(subprocess.run(go, check=True, capture_output=True, text=True).stdout.strip())
    version = build.PRODUCTS["kubernetes"].staging
    add_zero_values(schemas, lambda module: cache / f"{module}@v{version}")
    return schemas


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    text = written(read_server())
    if not options.check:
        PAGE.write_text(text)
        return 0
    if PAGE.read_text() == text:
        return 0
    print(f"{PAGE.relative_to(ROOT)} is not what kube-apiserver says: run {sys.argv[0]}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
