"""Figures of the embedded API server, their bars, and the tables. Pure: no clock, no I/O.

`samples` is {server: {figure: [one value per round]}} with the servers OURS and PEER.
"""

import dataclasses
import statistics

from report import grid, spread_text

OURS, PEER = "embedded", "kube-apiserver+etcd"


@dataclasses.dataclass(frozen=True)
class Figure:
    key: str
    title: str
    unit: str
    digits: int
    at_most: float | None = None
    times_peer: float | None = None  # at least so many times the peer's median


FIGURES = (
    Figure("start_empty", "start to ready, empty", "ms", 0, at_most=300),
    Figure("start_loaded", "start to ready, 10,000 objects", "ms", 0, at_most=300),
    Figure("rss_idle", "RSS, idle after the start", "MiB", 1, at_most=30),
    Figure("rss_used", "RSS, idle after 1,000 objects came and went", "MiB", 1, at_most=30),
    Figure("configmaps_rate", "durable creates, ConfigMaps, 8 clients", "/s", 0, times_peer=5),
    Figure("configmaps_p50", "  latency p50", "ms", 2),
    Figure("configmaps_p99", "  latency p99", "ms", 2),
    Figure("pods_rate", "durable creates, Pods, 8 clients", "/s", 0, times_peer=5),
    Figure("pods_p50", "  latency p50", "ms", 2),
    Figure("pods_p99", "  latency p99", "ms", 2),
    Figure("big_load", "TrainingJobs and Pods loaded, writes", "/s", 0),
    Figure("big_start", "start to ready with all of them", "ms", 0),
    Figure("big_sync_jobs", "operator's start to TrainingJobs synced", "s", 2),
    Figure("big_sync_pods", "operator's start to Pods synced", "s", 2),
    Figure("big_rss", "RSS, both watched", "MiB", 0, at_most=1024),
    Figure("big_rss_peak", "peak RSS since the load", "MiB", 0, at_most=1024),
)


def median(samples: dict, server: str, key: str) -> float | None:
    values = samples.get(server, {}).get(key, [])
    return statistics.median(values) if values else None


def bar_text(figure: Figure) -> str:
    if figure.at_most is not None:
        return f"<= {figure.at_most:g} {figure.unit}"
    return f">= {figure.times_peer:g}x" if figure.times_peer is not None else "-"


def verdict(figure: Figure, samples: dict) -> str:
    """PASS, MISS, or "" where there is no bar or nothing to compare with."""
    ours, peer = median(samples, OURS, figure.key), median(samples, PEER, figure.key)
    if ours is None:
        return ""
    if figure.at_most is not None:
        return "PASS" if ours <= figure.at_most else "MISS"
    if figure.times_peer is None or peer is None:
        return ""
    return "PASS" if ours >= figure.times_peer * peer else "MISS"


def table(samples: dict) -> str:
    lines = [["figure", "unit", OURS, PEER, "ratio", "bar", "verdict"]]
    for figure in FIGURES:
        cells = [samples.get(server, {}).get(figure.key, []) for server in (OURS, PEER)]
        if not any(cells):
            continue
        ratio = "-"
        if all(cells):
            ratio = f"{statistics.median(cells[0]) / statistics.median(cells[1]):.2f}x"
        lines.append([figure.title, figure.unit, *(spread_text(c, figure.digits) for c in cells),
                      ratio, bar_text(figure), verdict(figure, samples)])
    return grid(lines)


def summary(samples: dict) -> list[dict]:
    """The verdicts, for the JSON file."""
    return [
        {"figure": figure.key, "unit": figure.unit, "ours": median(samples, OURS, figure.key),
         "peer": median(samples, PEER, figure.key), "bar": bar_text(figure),
         "verdict": verdict(figure, samples)}
        for figure in FIGURES if median(samples, OURS, figure.key) is not None
    ]
