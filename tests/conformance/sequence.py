"""A sequence of requests as data, the same for both servers until the moment it is sent.

A step is a dict that can be kept as JSON:

    id       "s3"; answers are referred to by it
    verb     "create", "list", "watch", ..: for counting and for reports
    kind     "pods", ..
    method, path, query, headers, body    the request; {"$text": ".."} is a body of raw text
    settle   a path that is listed before this step, so that the real server's cache is up to date
    marker   of a watch: the object whose change ends the reading, {"path", "body"}

Texts may hold ${ns}, ${rv:s3}, ${uid:s3}, ${name:s3}, ${continue:s3}: parts of an earlier answer of
the same server. A body {"$from": "s3", "$merge": {..}} is that answer, changed by a merge patch.
"""

import copy
import json
import re
import urllib.parse
from pathlib import Path

REFERENCE = re.compile(r"\$\{(rv|uid|name|continue):(\w+)\}")
PARTS = {"rv": "resourceVersion", "uid": "uid", "name": "name", "continue": "continue"}


class Unresolved(Exception):
    """The answer that a step builds on does not hold what it needs: the step is left out."""


def resolve(value, namespace: str, answers: dict):
    """The value with every placeholder filled in from this server's own answers."""
    if isinstance(value, str):
        text = value.replace("${ns}", namespace)
        return REFERENCE.sub(lambda found: _part(answers, found[1], found[2]), text)
    if isinstance(value, list):
        return [resolve(item, namespace, answers) for item in value]
    if isinstance(value, dict):
        if "$from" in value:
            base = answers.get(value["$from"])
            if not isinstance(base, dict) or base.get("kind") == "Status":
                raise Unresolved(value["$from"])
            return merged(copy.deepcopy(base), resolve(value["$merge"], namespace, answers))
        return {resolve(key, namespace, answers): resolve(item, namespace, answers)
                for key, item in value.items()}
    return value


def began(step: dict, steps: list[dict]) -> dict | None:
    """The list that this step reads a later page of."""
    found = REFERENCE.fullmatch(str(step.get("query", {}).get("continue", "")))
    before = found and next((one for one in steps if one["id"] == found[2]), None)
    return before and (began(before, steps) or before)


def _part(answers: dict, part: str, step: str) -> str:
    answer = answers.get(step)
    metadata = answer.get("metadata") if isinstance(answer, dict) else None
    found = metadata.get(PARTS[part]) if isinstance(metadata, dict) else None
    if not found:
        raise Unresolved(f"{part} of {step}")
    return found


def merged(target, patch):
    """RFC 7386."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def target_of(step: dict, namespace: str, answers: dict) -> str:
    """The path with its query, ready for the request line."""
    path = resolve(step["path"], namespace, answers)
    query = {key: resolve(value, namespace, answers)
             for key, value in step.get("query", {}).items()}
    return f"{path}?{urllib.parse.urlencode(query)}" if query else path


def body_of(step: dict, namespace: str, answers: dict) -> bytes | None:
    if "body" not in step:
        return None
    body = resolve(step["body"], namespace, answers)
    if isinstance(body, dict) and "$text" in body:
        return body["$text"].encode()
    return json.dumps(body).encode()


def save(path: Path, steps: list[dict], why: str) -> None:
    path.write_text(json.dumps({"why": why, "steps": steps}, indent=1) + "\n")


def load(path: Path) -> list[dict]:
    return json.loads(path.read_text())["steps"]
