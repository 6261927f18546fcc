"""The bench of the operator: its bars and tables, and what the contestants are sent."""

import dataclasses
import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import operator_report as report  # noqa: E402
from operator_contestants import contestants, with_our_pods  # noqa: E402
from operator_measure import Plan  # noqa: E402

SIZES = dataclasses.asdict(Plan())


def figure(key: str) -> report.Figure:
    return next(one for one in report.FIGURES if one.key == key)


def verdicts(key: str, **samples: list[float]) -> list[str]:
    named = {name.replace("_", "-"): {key: values} for name, values in samples.items()}
    return [bar.verdict for bar in report.bars(figure(key), named)]


class Verdicts(unittest.TestCase):
    def test_a_bar_is_a_multiple_of_a_contestant(self):
        both = verdicts("pause_wall", amdahl=[1.25], job=[1.0], kubeflow=[1.5])
        self.assertEqual(both, ["PASS", "PASS"])
        both = verdicts("pause_wall", amdahl=[1.26], job=[1.0], kubeflow=[1.4])
        self.assertEqual(both, ["MISS", "MISS"])

    def test_a_bar_is_for_the_medians(self):
        self.assertEqual(verdicts("gang_wall", amdahl=[9, 1, 1], job=[1, 1, 0.1]), ["PASS"])

    def test_the_create_is_beside_kubeflow_and_jobs_with_our_pods(self):
        both = verdicts("create_wall", amdahl=[1.0], job=[0.1], job_our_pods=[0.95], kubeflow=[2.0])
        self.assertEqual(both, ["PASS", "PASS"])
        both = verdicts("create_wall", amdahl=[1.0], job=[9.0], job_our_pods=[0.9], kubeflow=[1.9])
        self.assertEqual(both, ["MISS", "MISS"])

    def test_without_what_it_is_compared_with_nothing_is_judged(self):
        self.assertEqual(verdicts("create_wall", amdahl=[1.0]), ["", ""])
        self.assertIn("not judged", report.verdict_table({"amdahl": {"create_wall": [1.0]}}, SIZES))

    def test_absolute_bars(self):
        for key, value, verdict in (
                ("create_writes", 12, "PASS"), ("create_writes", 12.1, "MISS"),
                ("steady_writes", 0, "PASS"), ("steady_writes", 1, "MISS"),
                ("failure_p99", 99.9, "PASS"), ("failure_p99", 100, "MISS"),
                ("work_rss", 30, "PASS"), ("work_rss", 30.1, "MISS"),
                ("idle_rss", 255, "PASS"), ("idle_rss", 256, "MISS")):
            with self.subTest(key=key, value=value):
                self.assertEqual(verdicts(key, amdahl=[value]), [verdict])

    def test_the_tables_have_what_was_measured(self):
        samples = {"amdahl": {"pause_wall": [2.0, 4.0, 3.0]}, "job": {"pause_wall": [2.0]}}
        line = report.samples_table(samples, SIZES).splitlines()[-1]
        self.assertIn("3.00 (2.00-4.00)", line)
        self.assertIn("pause of the 100 jobs", line)
        line = report.verdict_table(samples, SIZES).splitlines()[-1]
        for word in ("3.00", "2.00 job", "1.50x", "<= 1.25x job", "MISS"):
            self.assertIn(word, line)
        self.assertEqual([one["verdict"] for one in report.summary(samples)], ["", "MISS"])


class Contestants(unittest.TestCase):
    def setUp(self):
        self.everyone = contestants(Path("amdahl-operator"))

    def test_each_job_asks_for_as_many_pods(self):
        def pods(spec: dict) -> int:
            parts = [*spec.get("pytorchReplicaSpecs", {}).values(), *spec.get("tasks", [])]
            return sum(part["replicas"] for part in parts) or spec.get("nodes",
                                                                       spec.get("completions"))

        for name, one in self.everyone.items():
            for count in (1, 8):
                with self.subTest(contestant=name, pods=count):
                    spec = json.loads(one.create("ns", "a", count).body)["spec"]
                    self.assertEqual(pods(spec), count)

    def test_jobs_with_our_pods_differ_by_the_template_only(self):
        pod = {"metadata": {"name": "a-1-0", "uid": "u", "labels": {"a": "b"},
                            "finalizers": ["amdahl.dev/gang"]},
               "spec": {"nodeName": "n", "hostname": "a-1-0", "containers": [{"name": "trainer"}]}}
        floor = self.everyone["job-our-pods"]
        job = json.loads(with_our_pods(floor, pod).create("ns", "a", 8).body)
        self.assertEqual(job["spec"].pop("template"),
                         {"metadata": {"labels": {"a": "b"}},
                          "spec": {"containers": [{"name": "trainer"}]}})
        plain = json.loads(self.everyone["job"].create("ns", "a", 8).body)
        del plain["spec"]["template"]
        self.assertEqual(job, plain)

    def test_a_pause_is_what_a_user_of_that_controller_writes(self):
        def body(name: str) -> dict:
            return json.loads(self.everyone[name].pause("ns", "a").body)

        self.assertEqual(body("amdahl"), {"spec": {"suspend": True}})
        self.assertEqual(body("job"), {"spec": {"suspend": True}})
        self.assertEqual(body("kubeflow-shipped"), {"spec": {"runPolicy": {"suspend": True}}})
        self.assertEqual((body("volcano")["action"], body("volcano")["target"]["name"]),
                         ("AbortJob", "a"))

    def test_the_request_rate_is_raised_except_as_shipped(self):
        for name, one in self.everyone.items():
            raised = any("qps" in flag for flag in one.flags)
            expected = name != report.OURS and not name.endswith("-shipped")
            self.assertEqual(raised, expected, name)


if __name__ == "__main__":
    unittest.main()
