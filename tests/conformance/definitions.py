"""The custom resources that every sequence may use; made once on both servers."""

import time

from kinds import GROUP

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
READY_SECONDS_MAX = 30

WIDGET_SPEC = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer", "format": "int32", "minimum": 1, "maximum": 9},
        "color": {"type": "string", "enum": ["red", "green", "blue"], "default": "green"},
        "replicas": {"type": "integer", "minimum": 0},
        "locked": {"type": "boolean"},
        "limit": {"x-kubernetes-int-or-string": True},
        "label": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 8},
        "tags": {"type": "array", "maxItems": 3, "x-kubernetes-list-type": "set",
                 "items": {"type": "string", "maxLength": 10}},
        "parts": {"type": "array", "maxItems": 5, "x-kubernetes-list-type": "map",
                  "x-kubernetes-list-map-keys": ["name"],
                  "items": {"type": "object", "required": ["name"], "properties": {
                      "name": {"type": "string", "maxLength": 10},
                      "count": {"type": "integer", "default": 1}}}},
    },
    "x-kubernetes-validations": [
        {"rule": "!has(self.replicas) || self.replicas <= self.size * 2",
         "message": "more replicas than the size allows"},
        {"rule": "!has(oldSelf.locked) || !oldSelf.locked || self.size == oldSelf.size",
         "messageExpression": "oldSelf.locked ? 'the size is locked' : 'never'",
         "reason": "FieldValueForbidden", "fieldPath": ".size"},
    ],
}
WIDGET = {
    "metadata": {"name": f"widgets.{GROUP}"},
    "spec": {
        "group": GROUP, "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget",
                  "listKind": "WidgetList", "shortNames": ["wg"], "categories": ["all"]},
        "versions": [{
            "name": "v1", "served": True, "storage": True,
            "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas",
                                                     "statusReplicasPath": ".status.replicas",
                                                     "labelSelectorPath": ".status.selector"}},
            "additionalPrinterColumns": [
                {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
                {"name": "State", "type": "string", "jsonPath": ".status.state", "priority": 1},
                {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}],
            "selectableFields": [{"jsonPath": ".spec.color"}],
            "schema": {"openAPIV3Schema": {"type": "object", "required": ["spec"], "properties": {
                "spec": WIDGET_SPEC,
                "status": {"type": "object", "properties": {
                    "replicas": {"type": "integer"}, "selector": {"type": "string"},
                    "state": {"type": "string", "enum": ["Good", "Bad"]}}}}}},
        }],
    },
}
GADGET = {
    "metadata": {"name": f"gadgets.{GROUP}"},
    "spec": {
        "group": GROUP, "scope": "Namespaced",
        "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget",
                  "listKind": "GadgetList"},
        "versions": [{
            "name": "v1", "served": True, "storage": True,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                "settings": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "note": {"type": "string"}}}},
        }],
    },
}


def install(*servers) -> None:
    """On servers that may just have started; back when the kinds are served."""
    for server in servers:
        for definition in (WIDGET, GADGET):
            status, answer = server.request("POST", CRDS, definition)
            if status not in (201, 409):
                raise RuntimeError(f"{definition['metadata']['name']}: {status} {answer}")
        for plural in ("widgets", "gadgets"):
            _wait(server, f"/apis/{GROUP}/v1/namespaces/default/{plural}")


def _wait(server, path: str) -> None:
    deadline = time.monotonic() + READY_SECONDS_MAX
    while server.request("GET", path)[0] != 200:
        if time.monotonic() > deadline:
            raise RuntimeError(f"{path} is not served after {READY_SECONDS_MAX} s")
        time.sleep(0.1)
