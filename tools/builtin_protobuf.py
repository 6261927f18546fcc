#!/usr/bin/env python3
"""Writes local/apiserver/protobuf/messages.txt: field numbers of the built-in kinds.

Read from the Go modules the test cluster was built from: generated.proto tells numbers and types,
the tags of the Go structs what a field is called in JSON. One block a message:

  core.v1.Volume                          the message
  1 name string                           number, JSON name, type
  2 - core.v1.VolumeSource                "-": its fields stand among those of the message
  6 args *string                          "*": a list
  11 labels %string                       "%": a map with strings as keys
  3 optional ?bool                        "?": zero is not the same as absent

A line "@ v1 Pod core.v1.Pod" says which message a kind is. What JSON does not write as an object
(times, quantities, raw JSON ...) has a "!" in front of its type; local/apiserver/protobuf reads
those by hand.

  builtin_protobuf.py            write the file
  builtin_protobuf.py --check    fail when the file is not what the modules say
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "local" / "apiserver" / "protobuf" / "messages.txt"

# Package below k8s.io -> (apiVersion, the kinds that come in request bodies).
PACKAGES = {
    "api/core/v1": (
        "v1",
        "Binding ConfigMap Endpoints Event Namespace Node PersistentVolume PersistentVolumeClaim"
        " Pod Secret Service ServiceAccount",
    ),
    "api/apps/v1": ("apps/v1", "Deployment ReplicaSet"),
    "api/authentication/v1": (
        "authentication.k8s.io/v1", "SelfSubjectReview TokenRequest TokenReview"),
    "api/authorization/v1": (
        "authorization.k8s.io/v1",
        "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview"
        " SubjectAccessReview",
    ),
    "api/autoscaling/v1": ("autoscaling/v1", "Scale"),
    "api/batch/v1": ("batch/v1", "Job"),
    "api/coordination/v1": ("coordination.k8s.io/v1", "Lease"),
    "api/discovery/v1": ("discovery.k8s.io/v1", "EndpointSlice"),
    "api/events/v1": ("events.k8s.io/v1", "Event"),
    "api/policy/v1": ("policy/v1", "Eviction"),
    "api/rbac/v1": (
        "rbac.authorization.k8s.io/v1", "ClusterRole ClusterRoleBinding Role RoleBinding"),
    "api/scheduling/v1": ("scheduling.k8s.io/v1", "PriorityClass"),
    "apiextensions-apiserver/pkg/apis/apiextensions/v1": (
        "apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    # A DeleteOptions may name any group: it is registered in all of them.
    "apimachinery/pkg/apis/meta/v1": ("*", "DeleteOptions"),
    "apimachinery/pkg/api/resource": ("", ""),
    "apimachinery/pkg/runtime": ("", ""),
    "apimachinery/pkg/util/intstr": ("", ""),
}
SCALARS = {"string", "bytes", "bool", "int32", "int64", "double"}
# Messages whose JSON form is not an object with their fields.
SPECIAL = {
    "meta.v1.Time": "!time",
    "meta.v1.MicroTime": "!microtime",
    "meta.v1.FieldsV1": "!json",
    "api.resource.Quantity": "!quantity",
    "util.intstr.IntOrString": "!int-or-string",
    "pkg.runtime.RawExtension": "!json",
    "apiextensions.v1.JSON": "!json",
    "apiextensions.v1.JSONSchemaPropsOrArray": "!schema-or-array",
    "apiextensions.v1.JSONSchemaPropsOrBool": "!schema-or-bool",
    "apiextensions.v1.JSONSchemaPropsOrStringArray": "!schema-or-strings",
    "authentication.v1.ExtraValue": "!strings",
    "authorization.v1.ExtraValue": "!strings",
}
FIELD = re.compile(
    r"^\s*(?:(optional|repeated)\s+(\S+)|map<string,\s*(\S+?)>)\s+(\w+)\s*=\s*(\d+);", re.M)


def short(package: str) -> str:
    """"core.v1" of "k8s.io.api.core.v1" or "api/core/v1"."""
    return ".".join(re.split(r"[./]", package)[-2:])


def proto_messages(text: str) -> dict[str, list[tuple[str, str, int]]]:
    """Message -> (JSON-less name, type, number); types are "core.v1.Pod" or a scalar's name."""
    own = re.search(r"^package (\S+);", text, re.MULTILINE)[1]
    text = re.sub(r"//.*", "", text)
    messages = {}
    for name, body in re.findall(r"^message (\w+) \{\n(.*?)^\}", text, re.M | re.S):
        rows = []
        for label, plain, value, field, number in FIELD.findall(body):
            prefix = "%" if value else "*" if label == "repeated" else ""
            rows.append((field, prefix + full_type(value or plain, own), int(number)))
        messages[f"{short(own)}.{name}"] = rows
    return messages


def full_type(name: str, package: str) -> str:
    if name in SCALARS:
        return name
    if "." not in name:
        name = f"{package}.{name}"
    where, _, last = name.lstrip(".").rpartition(".")
    return f"{short(where)}.{last}"


def json_names(text: str) -> dict[str, dict[int, tuple[str, bool]]]:
    """Go struct -> field number -> name in JSON, whether zero is written there.

    The name is "-" when the fields stand in the struct itself.
    """
    structs = {}
    for name, body in re.findall(r"^type (\w+) struct \{\n(.*?)^\}", text, re.M | re.S):
        names = {}
        for go_type, tag in re.findall(r"^\t(?:\w+ +)?(\S+) +`([^`\n]*)`", body, re.M):
            wire = re.search(r'protobuf:"\w+,(\d+),', tag)
            field = re.search(r'json:"([^,"]*)([^"]*)', tag)
            if wire and field:
                zero = go_type.startswith("*") or "omitempty" not in field[2]
                names[int(wire[1])] = (field[1] or "-", zero)
        structs[name] = names
    return structs


def collect(folder_of) -> tuple[dict, dict]:
    """Messages with JSON names, and the names; `folder_of` gives the folder of a package."""
    messages, names = {}, {}
    for package in PACKAGES:
        folder = folder_of(package)
        messages |= proto_messages((folder / "generated.proto").read_text())
        for file in sorted(folder.glob("*.go")):
            if file.name.endswith("_test.go") or file.name.startswith(("zz_", "generated")):
                continue
            for struct, fields in json_names(file.read_text()).items():
                names[f"{short(package)}.{struct}"] = fields
    return messages, names


def row(message: str, field: tuple[str, str, int], names: dict) -> tuple[int, str, str]:
    proto_name, kind, number = field
    if number not in names.get(message, {}):
        raise SystemExit(f"{message}: no Go tag tells the JSON name of field {number} {proto_name}")
    prefix = kind[0] if kind[0] in "*%" else ""
    plain = kind.removeprefix(prefix)
    name, zero = names[message][number]
    if plain in SCALARS and zero:
        prefix = prefix or "?"
    return number, name, prefix + SPECIAL.get(plain, plain)


def written(messages: dict, names: dict) -> str:
    kinds = []
    for package, (api_version, found) in PACKAGES.items():
        kinds += [(api_version, kind, f"{short(package)}.{kind}") for kind in found.split()]
    # What is read by hand holds a schema, which holds nearly everything else.
    todo, done = [message for _, _, message in kinds], {}
    while todo:
        message = todo.pop()
        if message in done:
            continue
        done[message] = [row(message, field, names) for field in messages[message]]
        types = (kind.lstrip("*%?") for _, _, kind in done[message])
        todo += [kind for kind in types if kind not in SCALARS and not kind.startswith("!")]
    lines = [f"@ {' '.join(kind)}" for kind in kinds]
    for message in sorted(done):
        lines.append(message)
        lines += [f"{number} {name} {kind}" for number, name, kind in sorted(done[message])]
    return "\n".join(lines) + "\n"


def read_modules() -> str:
    sys.path.insert(0, str(ROOT / "tests" / "cluster"))
    import build

    go = [build.find_go(), "env", "GOMODCACHE"]
    cache = Path(subprocess.run(go, check=True, capture_output=True, text=True).stdout.strip())
    version = build.PRODUCTS["kubernetes"].staging

    def folder_of(package: str) -> Path:
        module, _, rest = package.partition("/")
        return cache / "k8s.io" / f"{module}@v{version}" / rest

    return written(*collect(folder_of))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    text = read_modules()
    if not options.check:
        PAGE.write_text(text)
        return 0
    if PAGE.read_text() == text:
        return 0
    print(f"{PAGE.relative_to(ROOT)} is not what the Go modules say: run {sys.argv[0]}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
