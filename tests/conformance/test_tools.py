#!/usr/bin/env python3
"""Generator, normaliser, comparison and shrinker by themselves: no server is needed."""

import json
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

import compare  # noqa: E402
import differential  # noqa: E402
import known_differences  # noqa: E402
import sequence  # noqa: E402
from generator import Generator  # noqa: E402
from kinds import KINDS  # noqa: E402
from kubectl_sessions import SESSIONS  # noqa: E402
from normalise import Normaliser  # noqa: E402
from runner import Outcome  # noqa: E402
from shrink import shrunk  # noqa: E402

PAGE = ROOT / "docs/reference/conformance.md"
STEP = {"id": "s1", "verb": "get", "kind": "pods"}


def normal(*answers: dict) -> list:
    normaliser = Normaliser()
    for answer in answers:
        normaliser.show(answer)
    return [normaliser.normal(answer) for answer in answers]


def thing(version: int, **metadata) -> dict:
    return {"kind": "Thing", "metadata": {"resourceVersion": str(version), **metadata}}


class Floors(unittest.TestCase):
    # promises: B12
    def test_a_run_with_too_few_random_sequences_fails(self):
        tally = differential.Tally()
        for n in range(3):
            tally.add(f"kept-{n}", [], Outcome([]))
        self.assertIn("0 random sequences", tally.fault(kept=3, floor=2))
        self.assertEqual(tally.fault(kept=3, floor=0), "")
        tally.add("seed 1", [], Outcome([]))
        self.assertIn("1 random sequences", tally.fault(kept=3, floor=2))
        tally.add("seed 2", [], Outcome([]))
        self.assertEqual(tally.fault(kept=3, floor=2), "")
        self.assertIn("3 of 4 kept", tally.fault(kept=4, floor=2))

    # promises: B12
    def test_no_run_of_the_program_has_a_floor_of_nothing(self):
        self.assertGreater(differential.parser().parse_args([]).floor, 0)
        self.assertGreater(differential.parser().parse_args(["--sequences", "0"]).floor, 0)


class Sequences(unittest.TestCase):
    def test_a_seed_gives_the_same_sequence_again(self):
        self.assertEqual(Generator(7).sequence(), Generator(7).sequence())
        self.assertNotEqual(Generator(7).sequence(), Generator(8).sequence())

    def test_every_verb_and_kind_occurs_and_every_step_can_be_kept_as_json(self):
        steps = [step for seed in range(400) for step in Generator(seed).sequence()]
        self.assertEqual(json.loads(json.dumps(steps)), steps)
        self.assertLessEqual({kind.plural for kind in KINDS.values()}, {s["kind"] for s in steps})
        wanted = {"create", "get", "list", "update", "patch", "apply", "delete", "watch", "evict",
                  "deletecollection", "bind", "token", "review", "odd", "discovery", "get scale"}
        self.assertLessEqual(wanted, {s["verb"] for s in steps})

    def test_ids_are_unique_and_references_point_back(self):
        for seed in range(100):
            seen = set()
            for step in Generator(seed).sequence():
                self.assertNotIn(step["id"], seen)
                for found in sequence.REFERENCE.finditer(json.dumps(step)):
                    self.assertIn(found[2], seen, step)
                seen.add(step["id"])

    def test_kept_sequences_can_be_read(self):
        for path in (HERE / "sequences").glob("*.json"):
            for step in sequence.load(path):
                self.assertLessEqual({"id", "verb", "kind", "method", "path"}, step.keys(), path)


class References(unittest.TestCase):
    answers = {"s1": thing(5, uid="u", name="n")}

    def test_parts_of_earlier_answers_are_filled_in(self):
        step = {"path": "/x/${name:s1}", "query": {"resourceVersion": "${rv:s1}"},
                "body": {"metadata": {"uid": "${uid:s1}", "namespace": "${ns}"}}}
        self.assertEqual(sequence.target_of(step, "space", self.answers),
                         "/x/n?resourceVersion=5")
        self.assertEqual(json.loads(sequence.body_of(step, "space", self.answers)),
                         {"metadata": {"uid": "u", "namespace": "space"}})

    def test_a_step_whose_answer_is_missing_is_left_out(self):
        for text in ("${rv:s2}", "${continue:s1}"):
            with self.assertRaises(sequence.Unresolved):
                sequence.resolve(text, "space", self.answers)

    def test_a_body_from_an_answer_is_changed_by_a_merge_patch(self):
        body = sequence.resolve({"$from": "s1", "$merge": {"metadata": {"uid": None, "a": 1}}},
                                "space", self.answers)
        self.assertEqual(body["metadata"], {"resourceVersion": "5", "name": "n", "a": 1})


class Normal(unittest.TestCase):
    def test_versions_become_ranks_and_lists_are_placed_among_them(self):
        first, second, listed = normal(thing(10), thing(40), {"metadata": {"resourceVersion": "25"},
                                                              "items": []})
        self.assertEqual(first["metadata"]["resourceVersion"], "v1")
        self.assertEqual(second["metadata"]["resourceVersion"], "v2")
        self.assertEqual(listed["metadata"]["resourceVersion"], "v1")

    def test_two_servers_with_other_numbers_agree_and_another_order_does_not(self):
        self.assertEqual(normal(thing(10), thing(40)), normal(thing(3), thing(4)))
        self.assertNotEqual(normal(thing(10), thing(40)), normal(thing(4), thing(3)))

    def test_versions_are_ranked_wherever_a_wrong_body_took_them(self):
        def answers(*versions):
            text = f'"kind": "", "metadata": {{"resourceVersion": "{versions[1]}"}} is missing'
            labels = {"resourceVersion": str(versions[1])}
            return normal(*map(thing, versions), {"message": text, "labels": labels})

        self.assertEqual(answers(10, 40), answers(3, 4))
        self.assertIn('"v2"', answers(10, 40)[2]["message"])

    def test_uids_times_and_made_names(self):
        uid, other = "0d3c6a2e-0000-4000-8000-00000000000a", "0d3c6a2e-0000-4000-8000-00000000000b"
        made = thing(1, uid=uid, generateName="a-", name="a-x7k2p",
                     creationTimestamp="2026-11-16T10:00:00Z")
        (found, message) = normal(made, {"message": f'"a-x7k2p" {other} {uid} at '
                                                    "2026-11-16T10:00:01.123456Z"})
        self.assertEqual(found["metadata"]["name"], "a-made-1")
        self.assertEqual(found["metadata"]["creationTimestamp"], "<time>")
        self.assertEqual(message["message"], '"a-made-1" uid-2 uid-1 at <time.6>')
        self.assertEqual(normal({"message": "a-marker"}), [{"message": "a-marker"}])

    def test_what_the_client_wrote_stays(self):
        written = thing(1, annotations={"a": "2020-01-01T00:00:00Z", "n": "5"})
        self.assertEqual(normal(written)[0]["metadata"]["annotations"], written["metadata"]
                         ["annotations"])

    def test_ages_are_hidden_also_in_the_later_events_of_a_watch(self):
        table = {"kind": "Table", "columnDefinitions": [{"name": "Name"}, {"name": "Age"}],
                 "rows": [{"cells": ["a", "5s"]}]}
        later = {"kind": "Table", "columnDefinitions": None, "rows": [{"cells": ["a", "9s"]}]}
        for shown in normal(table, later):
            self.assertEqual(shown["rows"][0]["cells"], ["a", "<age>"])

    def test_a_cause_counts_once_and_in_its_order(self):
        one, two = {"field": "a", "message": "m"}, {"field": "b", "message": "m"}
        self.assertEqual(normal({"causes": [two, one, two, one]}), [{"causes": [two, one]}])

    def test_managers_are_sorted(self):
        entries = [{"manager": "b", "operation": "Update"}, {"manager": "a", "operation": "Update"}]
        shown = normal(thing(1, managedFields=entries))[0]["metadata"]["managedFields"]
        self.assertEqual([entry["manager"] for entry in shown], ["a", "b"])


class Differences(unittest.TestCase):
    def found(self, real, ours) -> list:
        return [(d.path, d.real, d.ours) for d in compare.differences(STEP, real, ours)]

    def test_every_leaf_that_differs_is_named(self):
        real = {"status": 200, "body": {"a": [1, 2], "b": None}}
        self.assertEqual(self.found(real, real), [])
        self.assertEqual(self.found(real, {"status": 201, "body": {"a": [1], "b": None}}),
                         [("body.a[1]", 2, compare.ABSENT), ("status", 200, 201)])

    def test_types_count(self):
        self.assertEqual(len(self.found({"a": 1}, {"a": True})), 1)
        self.assertEqual(len(self.found({"a": None}, {})), 1)


class KnownDifferences(unittest.TestCase):
    def known(self, path, real, ours, verb="get") -> str | None:
        step = STEP | {"verb": verb}
        return known_differences.known_id(compare.Difference(step, path, real, ours))

    def test_a_row_excuses_only_its_own_case(self):
        self.assertEqual(self.known("body.items[3].kind", compare.ABSENT, "Pod"), "list-items-kind")
        self.assertIsNone(self.known("body.items[3].kind", "Pod", "Node"))
        self.assertIsNone(self.known("body.items[3].metadata.kind", compare.ABSENT, "Pod"))
        self.assertIsNone(self.known("body.compiler", "gc", "clang"))
        self.assertEqual(self.known("body.compiler", "gc", "clang", "discovery"), "version")

    def test_a_diff_at_the_end_is_excused_but_not_other_words(self):
        real = 'Pod "b" is invalid: spec: Forbidden: no\n@@ -1,2 +1,2 @@\n-a\n+b\n'
        ours = 'Pod "b" is invalid: spec: Forbidden: no'
        self.assertEqual(self.known("body.message", real, ours), "go-diff")
        self.assertIsNone(self.known("body.message", real, 'Pod "b" is invalid: spec: never'))

    def test_later_pages_of_an_old_list_are_as_old(self):
        path, first = "body.metadata.resourceVersion", {"id": "s1", "query": {}}
        page = STEP | {"verb": "list", "query": {"continue": "${continue:s1}"}}
        last = STEP | {"id": "s3", "verb": "list", "query": {"continue": "${continue:s2}"}}
        old = first | {"query": {"resourceVersion": "5"}}

        def known(step, *steps) -> str | None:
            began = sequence.began(step, steps)
            return known_differences.known_id(compare.Difference(step, path, "v1", "v2", began))

        self.assertEqual(known(page, old), "list-version")
        self.assertEqual(known(last, old, page | {"id": "s2"}), "list-version")
        self.assertIsNone(known(page, first))
        self.assertIsNone(known(page))

    def test_the_converters_words_are_excused_but_not_what_it_converts(self):
        head = ("failed to convert new object (/a; apps/v1, Kind=X) to proper version: unable to "
                "convert unstructured object to apps/v1, Kind=X: ")
        real, ours = head + "cannot convert float64 to int32", head + "json: cannot unmarshal"
        self.assertEqual(self.known("body.message", real, ours, "apply"), "convert-texts")
        self.assertIsNone(self.known("body.message", real, ours, "patch"))
        other = ours.replace("(/a;", "(/b;")
        self.assertIsNone(self.known("body.message", real, other, "apply"))

    def test_the_page_holds_exactly_the_rows_of_the_table(self):
        page = PAGE.read_text().splitlines()
        rows = known_differences.table().splitlines()
        for row in rows:
            self.assertIn(row, page, "run differential.py --table")
        ids = {row.id for row in known_differences.KNOWN}
        start = page.index(rows[0]) + 2
        shown = [line for line in page[start:start + len(page)] if line.startswith("| ")]
        self.assertEqual([line.split("|")[1].strip() for line in shown][:len(ids) + 1],
                         [row.id for row in known_differences.KNOWN])


class Kubectl(unittest.TestCase):
    def test_every_command_of_the_page_is_in_a_session(self):
        lines = [step.line for steps in SESSIONS.values() for step in steps]
        for command in ("apply -f", "apply --server-side", "create", "replace", "edit", "patch",
                        "set image", "label", "annotate", "scale", "get pods -o wide", "describe",
                        "get pod/web-0 -o json", "get po web-0 -o yaml", "get pods -o jsonpath",
                        "events", "diff", "wait", "delete", "explain", "auth can-i", "cordon",
                        "drain", "taint", "rollout restart", "rollout pause", "rollout resume",
                        "api-resources"):
            self.assertTrue(any(line.startswith(command) for line in lines), command)


class Shrinking(unittest.TestCase):
    def test_only_the_steps_and_fields_that_matter_are_left(self):
        steps = [{"id": f"s{n}", "body": {"x": n, "y": {"z": 1}}} for n in range(16)]

        def fails(candidate: list[dict]) -> bool:
            ids = {step["id"]: step for step in candidate}
            return "s3" in ids and "z" in ids.get("s12", {}).get("body", {}).get("y", {})

        left = shrunk(steps, fails)
        self.assertEqual([step["id"] for step in left], ["s3", "s12"])
        self.assertEqual([step["body"] for step in left], [{}, {"y": {"z": 1}}])

    def test_a_dry_run_stays_one(self):
        steps = [{"id": "s0", "query": {"dryRun": "All", "pretty": "1"}}]
        self.assertEqual(shrunk(steps, lambda _: True), [{"id": "s0", "query": {"dryRun": "All"}}])

    def test_it_ends(self):
        runs = []
        shrunk([{"id": str(n), "body": {str(k): k for k in range(50)}} for n in range(50)],
               lambda candidate: runs.append(1) or len(runs) % 3 == 0)
        self.assertLessEqual(len(runs), 400)


if __name__ == "__main__":
    unittest.main()
