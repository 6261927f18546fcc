"""The report's arithmetic: `python3 -m unittest discover tests/bench`."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import report  # noqa: E402


def figure(key: str) -> report.Figure:
    return next(f for f in report.FIGURES if f.key == key)


def samples_of(key: str, **values) -> dict:
    """One figure; a value may be a number or a list of rounds."""
    return {
        client.replace("_", "-"): {key: value if isinstance(value, list) else [value]}
        for client, value in values.items()
    }


class Percentile(unittest.TestCase):
    def test_is_the_nearest_rank(self):
        hundred = [float(n) for n in range(100, 0, -1)]
        for values, percent, expected in (
            ([7.0], 50, 7.0), ([7.0], 99, 7.0), ([1.0, 2.0], 50, 1.0), ([1.0, 2.0], 51, 2.0),
            ([3.0, 1.0, 2.0], 50, 2.0), (hundred, 50, 50.0), (hundred, 99, 99.0),
            (hundred, 100, 100.0), (hundred, 0, 1.0), (hundred + [1000.0], 99, 100.0),
        ):
            with self.subTest(count=len(values), percent=percent):
                self.assertEqual(report.percentile(values, percent), expected)

    def test_of_nothing_is_an_error(self):
        with self.assertRaises(ValueError):
            report.percentile([], 50)


class Verdict(unittest.TestCase):
    def check(self, key: str, verdict: str, ratio: float | None, **values):
        row = report.judge(figure(key), samples_of(key, **values))
        self.assertEqual(row.verdict, verdict, row)
        if ratio is None:
            self.assertIsNone(row.ratio)
        else:
            self.assertAlmostEqual(row.ratio, ratio)

    def test_compares_medians_with_the_best_peer_reading(self):
        self.check("sync_wall", "PASS", 0.7, amdahl=0.7, go=1.0, rust=3.0)
        self.check("sync_wall", "MISS", 0.71, amdahl=0.71, go=1.0, rust=3.0)
        self.check("sync_wall", "PASS", 0.5, amdahl=[0.4, 9.0, 0.5], go=[0.1, 1.0, 1.2])
        self.check("sync_wall", "MISS", 1.0, amdahl=1.0, go=5.0, rust_strip=1.0)
        self.check("reconciled_cpu", "PASS", 0.4, amdahl=0.4, go=1.0)
        self.check("reconciled_cpu", "MISS", 0.5, amdahl=0.5, go=1.0)
        self.check("backlog_cpu", "MISS", 0.6, amdahl=0.06, rust=0.1)

    def test_memory_has_a_cap_beside_the_ratio(self):
        self.check("rss", "PASS", 0.2, amdahl=39.0, go=400.0, go_strip=195.0)
        self.check("rss", "MISS", 0.1, amdahl=41.0, go=410.0)
        self.check("rss", "MISS", 0.3, amdahl=30.0, go=100.0)

    def test_no_worse_allows_for_the_resolution_only(self):
        self.check("handler_p50", "PASS", 1.4, amdahl=0.14, go=0.10)
        self.check("handler_p50", "MISS", 1.6, amdahl=0.16, go=0.10)
        self.check("idle_cpu", "PASS", None, amdahl=0.01, go=0.0)
        self.check("idle_cpu", "MISS", None, amdahl=0.011, go=0.0)

    def test_a_latency_below_zero_has_no_ratio_but_a_verdict(self):
        self.check("handler_p50", "PASS", None, amdahl=-0.30, go=-0.31)
        self.check("handler_p50", "MISS", None, amdahl=0.1, go=-0.2)

    def test_peak_is_measured_against_our_own_steady_state(self):
        samples = {"amdahl": {"rss": [20.0], "rss_peak": [30.0]}, "go": {"rss_peak": [10.0]}}
        self.assertEqual(report.judge(figure("rss_peak"), samples).verdict, "PASS")
        samples["amdahl"]["rss_peak"] = [31.0]
        self.assertEqual(report.judge(figure("rss_peak"), samples).verdict, "MISS")

    def test_without_peers_there_is_no_verdict(self):
        self.check("sync_wall", "", None, amdahl=1.0)

    def test_a_figure_without_a_bar_is_not_judged(self):
        self.check("backlog_rate", "", 2.0, amdahl=200.0, go=100.0)

    def test_a_client_that_did_not_run_has_no_row(self):
        self.assertIsNone(report.judge(figure("rss"), samples_of("rss", go=1.0)))
        self.assertEqual(report.rows({}), [])


class Bars(unittest.TestCase):
    def test_are_those_of_the_contract(self):
        self.assertEqual(
            {f.key: report.bar_text(f) for f in report.FIGURES},
            {
                "sync_wall": "<= 0.7x", "reconciled_cpu": "<= 0.4x", "rss": "<= 0.2x, 40 MiB",
                "rss_peak": "<= 1.5x own steady", "backlog_cpu": "<= 0.5x", "backlog_rate": "-",
                "handler_p50": "no worse", "handler_p99": "no worse", "reconcile_p50": "no worse",
                "idle_cpu": "no worse",
            },
        )


class Latencies(unittest.TestCase):
    def test_match_by_sequence_number(self):
        written = {n: n * 1_000_000 for n in range(1, 101)}
        handled = {n: at + n * 10_000 for n, at in written.items()}
        handled[7777] = 0  # an old label seen in the first list is not ours
        reconciled = {n: handled[n] + 20_000 for n in written}
        found = report.latencies(written, handled, reconciled)
        self.assertAlmostEqual(found["handler_p50"], 0.5)
        self.assertAlmostEqual(found["handler_p99"], 0.99)
        self.assertAlmostEqual(found["reconcile_p50"], 0.02)

    def test_a_lost_event_breaks_the_measurement(self):
        with self.assertRaisesRegex(ValueError, "1 of 2 writes were never handled"):
            report.latencies({1: 0, 2: 0}, {1: 5}, {1: 6, 2: 6})
        with self.assertRaisesRegex(ValueError, "2 of 2 writes were never reconciled"):
            report.latencies({1: 0, 2: 0}, {1: 5, 2: 5}, {})


class Tables(unittest.TestCase):
    SAMPLES = {
        "amdahl": {"sync_wall": [0.5, 0.4, 0.6], "rss": [20.0]},
        "amdahl-json": {"sync_wall": [0.9]},
        "go": {"sync_wall": [1.0], "rss": [350.0]},
    }

    def test_show_median_and_spread(self):
        table = report.samples_table(self.SAMPLES)
        self.assertIn("0.50 (0.40-0.60)", table)
        self.assertRegex(table, r"steady RSS +MiB +20\.0 +- +350\.0")
        self.assertNotIn("backlog", table, "a figure nobody has is left out")

    def test_show_verdicts_in_capitals_for_the_default_client_only(self):
        table = report.verdict_table(self.SAMPLES)
        self.assertRegex(table, r"wall +s +amdahl +0\.50 +1\.00 go +0\.50x +<= 0\.7x +PASS")
        self.assertRegex(table, r"wall +s +amdahl-json +0\.90 +1\.00 go +0\.90x +<= 0\.7x +miss")

    def test_summary_has_one_entry_for_each_line(self):
        summary = report.summary(self.SAMPLES)
        self.assertEqual([(e["figure"], e["client"], e["verdict"]) for e in summary],
                         [("sync_wall", "amdahl", "PASS"), ("rss", "amdahl", "PASS"),
                          ("sync_wall", "amdahl-json", "MISS")])


if __name__ == "__main__":
    unittest.main()
