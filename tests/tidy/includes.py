"""Who may include whom, and which headers stay out of our headers."""

import re
from typing import Iterator

from tree import TEST, Finding, Tree, line_of, rule

# The arrows of ARCHITECTURE.md: a folder, and the folders it may include besides itself. A new
# arrow is a decision and gets a page in docs/adr.
ARROWS = {
    "base": (),
    "cmake": (),
    "kernels": (),
    "checkpoint/format": ("kernels", "base"),
    "checkpoint/store": ("checkpoint/format", "kernels", "base"),
    "checkpoint/engine": ("checkpoint/store", "checkpoint/format", "kernels", "base"),
    "operator/api": ("base",),
    "operator/kube": ("base",),
    "operator/controller": ("operator/kube", "base"),
    "operator/training": ("operator/training/diagnose", "operator/waste", "operator/api",
                          "operator/controller", "operator/kube", "base"),
    "operator/report": ("operator/api", "operator/controller", "operator/kube", "base"),
    "operator/waste": ("operator/api", "base"),
    "operator/training/diagnose": ("operator/api", "operator/kube", "base"),
    "operator/process": ("operator/training", "operator/report", "operator/api",
                         "operator/controller", "operator/kube", "checkpoint/engine",
                         "checkpoint/store", "checkpoint/format", "base"),
    "operator": ("operator/process", "operator/controller", "operator/kube", "base"),
    "local/apiserver/model": ("base",),
    "local/apiserver/journal": ("base",),
    "local/apiserver/patch": ("local/apiserver/model", "base"),
    "local/apiserver/schema": ("local/apiserver/model", "base"),
    "local/apiserver/protobuf": ("operator/kube", "base"),
    "local/apiserver/kinds": ("local/apiserver/model", "local/apiserver/schema", "operator/kube",
                              "base"),
    "local/apiserver/core": ("local/apiserver/model", "local/apiserver/protobuf", "operator/kube",
                             "base"),
    "local/apiserver/rules": ("local/apiserver/model", "local/apiserver/patch",
                              "local/apiserver/schema", "local/apiserver/kinds",
                              "local/apiserver/core", "operator/kube", "base"),
    "local/apiserver/front": ("local/apiserver/journal", "local/apiserver/rules",
                              "local/apiserver/core", "local/apiserver/kinds", "operator/kube",
                              "base"),
    "local/scheduler": ("operator/controller", "operator/kube", "base"),
    "local/kubelet": ("local/apiserver/core", "operator/controller", "operator/kube", "base"),
    "local/cluster": ("local/scheduler", "local/kubelet", "local/apiserver/front",
                      "local/apiserver/journal", "local/apiserver/rules", "local/apiserver/core",
                      "local/apiserver/kinds", "operator/controller", "operator/kube", "base"),
    "runtime/launch": ("checkpoint/engine", "checkpoint/store", "operator/api", "base"),
    "cli": ("checkpoint/engine", "checkpoint/store", "checkpoint/format", "local/cluster",
            "operator/process", "operator/api", "operator/controller", "operator/kube", "base"),
    "examples": ("operator/controller", "operator/kube", "base"),
    "tests/kit": ("operator/controller", "operator/kube", "base"),
    "tools/crds": ("operator/api", "operator/kube", "base"),
    "tests": ("tests/kit", "operator/api", "operator/controller", "operator/kube", "base",
              "operator/process", "operator/report", "operator/training",
              "operator/training/diagnose", "operator/waste", "examples",
              "local/apiserver/model", "local/apiserver/patch", "local/apiserver/schema",
              "local/apiserver/protobuf", "local/apiserver/kinds", "local/apiserver/core",
              "local/apiserver/rules", "local/apiserver/journal", "local/apiserver/front",
              "local/scheduler", "local/kubelet", "local/cluster", "cli", "operator/api",
              "runtime/launch", "kernels", "checkpoint/format", "checkpoint/store",
              "checkpoint/engine"),
}
# A test or fixture beside its source may also use the test kit.
TEST_EXTRA = ("tests/kit",)
# The embedded cluster's own controllers are tested on the embedded API server.
LOCAL_TEST_EXTRA = ("local/apiserver/front", "local/apiserver/rules", "local/apiserver/kinds",
                    "local/apiserver/journal", "local/apiserver/core")

# Values and decisions: nothing there waits, so nothing there needs Asio or what is built on it.
ASIO_FREE = ("checkpoint/format", "operator/api", "operator/waste", "operator/training",
             "operator/training/diagnose")
# Those that carry decisions out.
ASIO_USERS = re.compile(r"operator/training/(apply|checkpoint_looks|checkpoint_reader|observe|"
                        r"parallel|program|reconciler)\.[ch]pp$")
ASIO = re.compile(r"boost/asio|base/(task|task_group|deadline|http_\w+)\.hpp$")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)

# Slow to parse, or an implementation detail: behind a plain interface, in a .cpp file.
HIDDEN = {
    "boost/beast": "Beast",
    "boost/asio/ssl": "Asio's TLS",
    "openssl/": "OpenSSL",
    "simdjson": "simdjson",
    "yaml-cpp/": "yaml-cpp",
}
HIDDEN_EXCEPT = ("cmake/pch.hpp",)


def folder_of(path: str, known=ARROWS) -> str | None:
    """The longest folder of the table that holds the path."""
    fits = [folder for folder in known if path.startswith(folder + "/")]
    return max(fits, key=len, default=None)


@rule
def arrows(tree: Tree) -> Iterator[Finding]:
    for path in tree.cpp():
        folder = folder_of(path)
        if folder is None:
            text = "no row in ARROWS (tests/tidy/includes.py) has this folder"
            yield Finding(path, 1, "arrow", text)
            continue
        allowed = {folder, *ARROWS[folder]}
        if re.search(TEST, path):
            allowed |= {*TEST_EXTRA, *(LOCAL_TEST_EXTRA if folder.startswith("local/") else ())}
        text = tree.uncommented(path)
        for match in INCLUDE.finditer(text):
            target = match[1]
            if target is None:
                continue
            line = line_of(text, match.start(1))
            if target not in tree.files:
                yield Finding(path, line, "arrow", f'"{target}" is not a path from the root')
            elif folder_of(target) not in allowed:
                yield Finding(path, line, "arrow", f"{folder} may not include {target}")


@rule
def hidden_headers(tree: Tree) -> Iterator[Finding]:
    for path in tree.cpp():
        if not path.endswith(".hpp") or path in HIDDEN_EXCEPT:
            continue
        text = tree.uncommented(path)
        for match in INCLUDE.finditer(text):
            for prefix, name in HIDDEN.items():
                if (match[2] or "").startswith(prefix):
                    line = line_of(text, match.start())
                    yield Finding(path, line, "hidden-header", f"{name} belongs in a .cpp file")


@rule
def asio_free(tree: Tree) -> Iterator[Finding]:
    for path in tree.cpp():
        if folder_of(path) not in ASIO_FREE or ASIO_USERS.match(path) or re.search(TEST, path):
            continue
        text = tree.uncommented(path)
        for match in INCLUDE.finditer(text):
            if ASIO.match(match[1] or match[2]):
                line = line_of(text, match.start())
                yield Finding(path, line, "asio", f"{folder_of(path)} is free of Asio")


@rule
def pragma_once(tree: Tree) -> Iterator[Finding]:
    for path in tree.cpp():
        if path.endswith(".hpp") and "#pragma once" not in tree.files[path]:
            yield Finding(path, 1, "pragma-once", "a header starts with #pragma once")
