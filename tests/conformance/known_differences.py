"""What is allowed to differ, and why: the only place that excuses anything.

Each row is as narrow as it can be: a verb or kind, a path inside the answer, and what the two sides
say there. docs/reference/conformance.md holds the same rows (`differential.py --table` prints them,
a test compares).
"""

import dataclasses
import re
from collections.abc import Callable

from compare import ABSENT, Difference


@dataclasses.dataclass(frozen=True)
class Known:
    id: str
    what: str
    why: str
    matches: Callable[[Difference], bool]


def at(path: str, real: str = ".*", ours: str = ".*", verb: str = ".*"):
    """All four are patterns for the whole text."""
    def matches(found: Difference) -> bool:
        texts = (found.path, str(found.real), str(found.ours), found.step["verb"])
        pairs = zip((path, real, ours, verb), texts)
        return all(re.fullmatch(pattern, text, re.DOTALL) for pattern, text in pairs)
    return matches


MESSAGE = r"body\.message|body\.details\.causes\[\d+\]\.message"
CRD = "customresourcedefinitions"


def of_kind(plural: str, matches: Callable[[Difference], bool]) -> Callable[[Difference], bool]:
    return lambda found: found.step["kind"] == plural and matches(found)


def null_service(found: Difference) -> bool:
    step = found.step
    silent = str(found.real).startswith("no answer") or (found.path in ("status", "type")
                                                         and not found.real)
    return (step["kind"], step["verb"], step.get("body")) == (
        "services", "create", {"$text": "null"}) and silent


def old_list(found: Difference) -> bool:
    query = (found.began or found.step).get("query", {})
    return (found.path == "body.metadata.resourceVersion" and found.step["verb"] == "list"
            and "resourceVersion" in query)


def unconverted(found: Difference) -> bool:
    """The same object of the same kind, and then what Go's converter has to say."""
    heads = [re.match(r"failed to convert new object [^\n]*? unstructured object to "
                      r"[^ ]*, Kind=\w+: ", str(text)) for text in (found.real, found.ours)]
    return (found.path == "body.message" and found.step["verb"] == "apply" and all(heads)
            and heads[0][0] == heads[1][0])


def go_diff(found: Difference) -> bool:
    """The same words, and then a diff of Go structures."""
    real, ours = str(found.real), str(found.ours)
    without = re.sub(r"\n@@.*?\n(?=\]?$|, spec)", "", real, flags=re.DOTALL)
    return bool(re.fullmatch(MESSAGE, found.path)) and "\n@@ " in real and without == ours


def go_type(found: Difference) -> bool:
    """The same words up to the name of the type."""
    parts = [re.fullmatch(r"(.*(?:json: cannot unmarshal \w+ into Go|: expected [^:]+, got) )\S.*",
                          str(text), re.DOTALL) for text in (found.real, found.ours)]
    return found.path == "body.message" and all(parts) and parts[0][1] == parts[1][1]


def wrong_fields(found: Difference) -> bool:
    """The same object, and at least one field that both name."""
    texts = [re.fullmatch(r"(failed to create typed patch object [^\n]*?\): )(.*)", str(text),
                          re.DOTALL) for text in (found.real, found.ours)]
    if found.path != "body.message" or not all(texts) or texts[0][1] != texts[1][1]:
        return False
    fields = [set(re.findall(r"^ *(\.[^:]+): ", text[2], re.MULTILINE)) for text in texts]
    return bool(fields[0] & fields[1])


KNOWN = [
    Known("list-items-kind", "items of lists of built-in kinds carry `apiVersion` and `kind`",
          "a list is the concatenation of stored texts; clients set or ignore both",
          at(r"body\.items\[\d+\]\.(apiVersion|kind)", real=ABSENT)),
    Known("list-version",
          "`metadata.resourceVersion` of a list that may be older than now, on all of its pages",
          "there it is the version of the cache of one resource, here the newest of all",
          old_list),
    Known("column-texts", "`description` of the columns of a Table",
          "the texts of Kubernetes are not copied",
          at(r"(body|events\[\d+\]\.object)\.columnDefinitions\[\d+\]\.description")),
    Known("version", "`/version` names another build",
          "it is another program",
          at(r"body\.(build\w+|compiler|git\w+|goVersion|platform|\w*[mM]ajor|\w*[mM]inor)",
             verb="discovery")),
    Known("server-address", "`serverAddressByClientCIDRs` in `/api`",
          "each server tells its own address",
          at(r"body\.serverAddressByClientCIDRs\[0\]\.serverAddress", verb="discovery")),
    Known("discovery-more", "groups, resources and versions that only the real server has",
          "the subset above",
          at(r"body\.(groups|resources|versions)(\.|\[).*", ours=ABSENT, verb="discovery")),
    Known("storage-hash", "`storageVersionHash` in discovery",
          "a hash of a storage that is not there",
          at(r"body\.resources\..*\.storageVersionHash", verb="discovery")),
    Known("protobuf", "the refusal of an Accept header lists YAML and protobuf there",
          "bodies may be JSON, YAML or protobuf, but answers are JSON",
          at(r"body\.message", real=r"only the following media types are accepted: .*",
             ours=r"only the following media types are accepted: .*")),
    Known("selector-texts", "the words about a selector that does not parse",
          "the parser is our own; status and reason are the same",
          at(r"body\.message", real=r"unable to parse requirement: .*",
             ours=r"unable to parse requirement: .*")),
    Known("json-texts", "the words about a body that is no JSON",
          "they are those of Go's decoder; status and reason are the same",
          at(r"body\.message", real=r".*couldn't get version/kind; json parse error.*",
             ours=r".*couldn't get version/kind; json parse error.*")),
    Known("continue-texts", "the words about a continue token that does not parse",
          "they are those of Go's decoder; status and reason are the same",
          at(r"body\.message", real=r"invalid continue token: .*",
             ours=r"invalid continue token: .*")),
    Known("go-diff", "a refused change of an immutable spec ends in a diff there",
          "the diff is of internal Go structures; the words before it are compared",
          go_diff),
    Known("dry-run-key", "the key of etcd in a refused dry run begins with /registry here",
          "the words are the same; there a dry run does not know the prefix",
          lambda found: found.path == "body.message" and "dryRun" in found.step.get("query", {})
          and str(found.real).replace("Key: /", "Key: /registry/") == found.ours),
    Known("go-types", "the name of a Go type, in the words about a value of another type",
          "types of the schema are known here, not those of Go; the words before it are compared",
          go_type),
    Known("apply-fields", "which of several wrong fields of an apply are named, and in which order",
          "there an object is left at the first unknown field, in the order of a Go map",
          wrong_fields),
    Known("convert-texts", "why the kind cannot hold what an apply leads to",
          "they are the words of Go's converter; status and reason are the same",
          unconverted),
    Known("patch-texts", "the value and the words when a patch leads to what the kind cannot hold",
          "there the whole object or Go's print of the patch; status, reason and field agree",
          at(MESSAGE, real=r"( \"\" is invalid: patch: )?Invalid value: \".*",
             ours=r"( \"\" is invalid: patch: )?Invalid value: \".*", verb="patch.*")),
    Known("no-answer", "a definition with selectable fields and without a schema",
          "kube-apiserver 1.34 ends the connection: it does not expect that",
          of_kind(CRD, lambda found: str(found.real).startswith("no answer")
                  or found.path in ("status", "type") and not found.real)),
    Known("null-service", "a service whose body is `null`",
          "kube-apiserver 1.34 does not answer within a minute; here it is refused",
          null_service),
    Known("managed-time", "an entry of managedFields has no `time` there",
          "what came through scale has none there; here every entry that changed something has one",
          at(r".*managedFields\[\d+\]\.time", real=ABSENT, ours="<time>")),
    Known("internal-values", "a refused value that is a whole structure is printed in Go's names",
          "the field and the words after it are compared by the status",
          at(MESSAGE, real=r".*Invalid value: \{.*", ours=r".*Invalid value: \{.*")),
    Known("crd-established", "`status` of a definition in the answer to its creation",
          "a definition is established at once, there a moment later",
          of_kind(CRD, at(r"body\.status(\..*)?"))),
    Known("token-owner", "`managedFields` in the answer to a token request",
          "nothing is stored, so nothing is owned",
          at(r"body\.metadata\.managedFields", ours=ABSENT, verb="token")),
    Known("custom-scale", "a negative scale of a custom resource is refused in other words",
          "there by the schema of the whole object, here by the scale; the status is 422 in both",
          of_kind("widgets", at(r"body\.(message|details\..*)", verb="(patch|update) scale"))),
]


def known_id(difference: Difference) -> str | None:
    return next((row.id for row in KNOWN if row.matches(difference)), None)


def table() -> str:
    lines = ["| id | what differs | why |", "| --- | --- | --- |"]
    lines += [f"| {row.id} | {row.what} | {row.why} |" for row in KNOWN]
    return "\n".join(lines) + "\n"
