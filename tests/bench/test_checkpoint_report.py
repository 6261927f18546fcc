"""The bench of checkpoints: its arithmetic and its verdicts."""

import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import checkpoint_report as report  # noqa: E402


def bar(case: str, figure: str, **more) -> report.Bar:
    found = [one for one in report.BARS if (one.case, one.figure) == (case, figure)
             and all(bool(getattr(one, key)) == value for key, value in more.items())]
    assert len(found) == 1, found
    return found[0]


def samples(case: str, **contestants) -> dict:
    return {case: {name.replace("_", "-"): values for name, values in contestants.items()}}


class Lines(unittest.TestCase):
    def test_a_save_is_a_sample_of_each_figure(self):
        figures = {}
        line = {"what": "save", "block": 0.1, "durable": 0.5, "cpu": 0.2, "bytes": 1 << 29,
                "floors": {"memcpy": 0.08, "write": 0.7, "read": 0.2}}
        report.add_line(figures, line)
        report.add_line(figures, {"what": "steps", "threads": 2, "times": 1.5})
        self.assertEqual(figures, {"block": [0.1], "durable": [0.5], "cpu": [0.4],
                                   "memcpy": [0.08], "write": [0.7], "read": [0.2],
                                   "steps2": [1.5]})

    def test_the_first_save_is_kept_apart(self):
        figures = {}
        report.add_line(figures, {"what": "first", "block": 3.0, "durable": 5.0})
        self.assertEqual(figures, {"first_block": [3.0], "first_durable": [5.0]})

    def test_ranks_take_as_long_as_the_slowest_and_their_cpu_adds_up(self):
        one = {"what": "save", "block": 0.1, "durable": 0.5, "cpu": 0.2, "bytes": 10,
               "floors": {"memcpy": 0.3}}
        two = {**one, "block": 0.4, "durable": 0.2, "cpu": 0.3, "floors": {"memcpy": 0.1}}
        (line,) = report.merged([[one], [two]])
        self.assertEqual((line["block"], line["durable"], line["cpu"], line["bytes"]),
                         (0.4, 0.5, 0.5, 20))
        self.assertEqual(line["floors"], {"memcpy": 0.3})
        with self.assertRaises(ValueError):
            report.merged([[one], []])


class Verdicts(unittest.TestCase):
    def verdict(self, one: report.Bar, found: dict) -> str:
        return report.judge(one, found).verdict

    def test_a_floor_is_a_multiple_of_the_same_case(self):
        one = bar("fp32-16", "block", floor=True)
        for ours, verdict in ((0.13, "PASS"), (0.131, "MISS")):
            found = samples("fp32-16", amdahl={"block": [ours], "memcpy": [0.1]})
            self.assertEqual(self.verdict(one, found), verdict)

    def test_p95_is_judged_by_p95(self):
        one = bar("fp32-16", "block_p95", floor=True)
        found = samples("fp32-16", amdahl={"block": [0.1] * 9 + [0.3], "memcpy": [0.1]})
        self.assertEqual(self.verdict(one, found), "MISS")
        self.assertEqual(self.verdict(bar("fp32-16", "block", floor=True), found), "PASS")

    def test_below_every_peer_means_the_best_of_them(self):
        one = bar("fp32-16", "block", peers=True)
        for ours, verdict in ((0.19, "PASS"), (0.2, "MISS")):
            found = samples("fp32-16", amdahl={"block": [ours]}, dcp_thread={"block": [0.2]},
                            orbax={"block": [0.4]}, dcp_sync={"block": [0.01]})
            self.assertEqual(self.verdict(one, found), verdict)
            self.assertEqual(report.judge(one, found).reference_name, "dcp-thread")

    def test_no_peer_no_verdict(self):
        one = bar("fp32-16", "durable", peers=True)
        self.assertEqual(self.verdict(one, samples("fp32-16", amdahl={"durable": [1.0]})), "")
        self.assertIsNone(report.judge(one, {}))

    def test_many_tensors_are_judged_by_few(self):
        found = samples("fp32-4000", amdahl={"load": [0.26]})
        found |= samples("fp32-16", amdahl={"load": [0.2]})
        self.assertEqual(self.verdict(bar("fp32-4000", "load"), found), "PASS")
        found["fp32-4000"]["amdahl"]["load"] = [0.27]
        self.assertEqual(self.verdict(bar("fp32-4000", "load"), found), "MISS")

    def test_plain_numbers(self):
        for figure, good, bad in (("cpu", 0.35, 0.36), ("steps2", 1.5, 1.51),
                                  ("steps1", 1.1, 1.11)):
            for ours, verdict in ((good, "PASS"), (bad, "MISS")):
                found = samples("fp32-16", amdahl={figure: [ours]})
                self.assertEqual(self.verdict(bar("fp32-16", figure), found), verdict)

    def test_tables_name_what_ran(self):
        found = samples("fp32-16", amdahl={"block": [0.1], "memcpy": [0.09]},
                        dcp_thread={"block": [0.2]})
        self.assertIn("copy into warm pages 0.090 s", report.case_table(found, "fp32-16"))
        self.assertRegex(report.verdict_table(found), r"below every async peer +PASS")


class Kills(unittest.TestCase):
    def result(self, **more) -> dict:
        return {"unloadable": False, "mixed": False, "older": False, "orphan_bytes": 0, **more}

    def test_one_harm_is_a_miss(self):
        sound = [self.result()] * 199
        for harm in ({}, {"unloadable": True}, {"mixed": True}, {"older": True},
                     {"orphan_bytes": 1}):
            counts = report.kill_counts([*sound, self.result(**harm)])
            self.assertEqual(report.kill_verdict(counts), "MISS" if harm else "PASS", harm)

    def test_too_few_kills_prove_nothing(self):
        self.assertEqual(report.kill_verdict(report.kill_counts([self.result()] * 199)), "MISS")

    def test_the_table_has_the_peers_beside_it_without_a_verdict(self):
        table = report.kill_table({"amdahl": [self.result()],
                                   "dcp, in place": [self.result(unloadable=True)]})
        self.assertRegex(table, r"dcp, in place +1 +1 +0 +0 +0 +0\.0\n?$")


if __name__ == "__main__":
    unittest.main()
