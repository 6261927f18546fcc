"""The Python client's watch while objects come, change and go. Run in a venv of its own.

  kubectl_python_watch.py KUBECONFIG
"""

import json
import sys
import threading

from kubernetes import client, config, watch

OBJECTS = 20
SECONDS = 20
NAMESPACE = "default"


def follow(core: client.CoreV1Api, version: str, seen: list) -> None:
    stream = watch.Watch().stream(core.list_namespaced_config_map, NAMESPACE,
                                  resource_version=version, timeout_seconds=SECONDS)
    for event in stream:
        seen.append((event["type"], event["object"].metadata.name))
        if event["type"] == "DELETED" and event["object"].metadata.name == f"p-{OBJECTS - 1}":
            return


def main() -> int:
    config.load_kube_config(sys.argv[1])
    core = client.CoreV1Api()
    first = core.list_namespaced_config_map(NAMESPACE)
    seen: list[tuple[str, str]] = []
    reader = threading.Thread(target=follow, args=(core, first.metadata.resource_version, seen))
    reader.start()
    names = [f"p-{number}" for number in range(OBJECTS)]
    for name in names:
        core.create_namespaced_config_map(NAMESPACE, {"metadata": {"name": name}})
    for name in names:
        core.patch_namespaced_config_map(name, NAMESPACE, {"data": {"k": "v"}})
    for name in names:
        core.delete_namespaced_config_map(name, NAMESPACE)
    reader.join()
    wanted = [(kind, name) for kind in ("ADDED", "MODIFIED", "DELETED") for name in names]
    print(json.dumps({"events": len(seen), "version": client.VersionApi().get_code().minor}))
    return 0 if seen == wanted else 1


if __name__ == "__main__":
    sys.exit(main())
