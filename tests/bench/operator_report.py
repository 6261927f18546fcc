"""Figures of the operator beside its peers, their bars, and the tables. Pure: no clock, no I/O.

`samples` is {contestant: {figure: [one value per round]}}. Lower is better for every figure.
`sizes` are the numbers of the plan that was played: titles name them.
"""

import dataclasses
import statistics

from report import grid, spread_text

OURS, KUBEFLOW = "amdahl", "kubeflow"
# Floors: batch/v1 Jobs, which make nothing but pods. With the pods of the bench, and with the pods
# that our operator makes: what is above the second one is the price of the controller, not the pod.
FLOOR, FLOOR_OUR_PODS = "job", "job-our-pods"
CONTESTANTS = (OURS, FLOOR, FLOOR_OUR_PODS, KUBEFLOW, "volcano", "kubeflow-shipped",
               "volcano-shipped")


@dataclasses.dataclass(frozen=True)
class Figure:
    key: str
    title: str  # with {names} of the plan's sizes
    unit: str
    digits: int
    # The bar: all that are given must hold for our median.
    at_most: float | None = None
    below: float | None = None
    beside: tuple[tuple[str, float], ...] = ()  # a contestant, and so many times its median


FIGURES = (
    Figure("create_wall", "{jobs} jobs x {pods}: first create to all pods", "s", 2,
           beside=((KUBEFLOW, 0.5), (FLOOR_OUR_PODS, 1.1))),
    Figure("create_server_cpu", "  CPU of API server and etcd in it", "s", 2),
    Figure("create_writes", "API writes per job of {pods} pods until then", "", 1, at_most=8 + 4),
    Figure("settled_writes", "  and until nothing changes any more", "", 1),
    Figure("create_cpu", "controller's CPU for the create", "s", 2, at_most=0.9),
    Figure("pause_wall", "pause of the {jobs} jobs until no pod is left", "s", 2,
           beside=((KUBEFLOW, 0.85), (FLOOR, 1.25))),
    Figure("pause_server_cpu", "  CPU of API server and etcd in it", "s", 2),
    Figure("resume_wall", "resume until all pods exist again", "s", 2,
           beside=((KUBEFLOW, 0.6), (FLOOR, 1.6))),
    Figure("resume_server_cpu", "  CPU of API server and etcd in it", "s", 2),
    Figure("gang_wall", "one gang of {gang:,} pods until all exist", "s", 2,
           beside=((FLOOR, 1.15),)),
    Figure("gang_server_cpu", "  CPU of API server and etcd in it", "s", 2),
    Figure("work_rss", "controller's RSS, peak of all that", "MiB", 1, at_most=30),
    Figure("steady_writes", "API writes in {steady_seconds:g} s of rest", "", 0, at_most=0),
    Figure("steady_cpu", "controller's CPU in that time", "%", 3, below=1),
    Figure("failure_p50", "pod failed to restart decided, p50", "ms", 1),
    Figure("failure_p99", "pod failed to restart decided, p99", "ms", 1, below=100),
    Figure("idle_rss", "RSS, {idle_jobs:,} jobs x {idle_pods} that wait", "MiB", 1, below=256),
    Figure("idle_rss_peak", "  peak while they were made", "MiB", 1),
    Figure("idle_start_rss", "  peak of a start with all of them there", "MiB", 1, below=256),
)


def median(samples: dict, contestant: str, key: str) -> float | None:
    values = samples.get(contestant, {}).get(key, [])
    return statistics.median(values) if values else None


@dataclasses.dataclass(frozen=True)
class Bar:
    """One bar of one figure: what it says, against what, and whether it holds."""

    figure: Figure
    ours: float
    text: str
    reference: str = "-"
    ratio: float | None = None
    verdict: str = ""  # PASS, MISS, or "" where what it is compared with was not measured


def bars(figure: Figure, samples: dict) -> list[Bar]:
    ours = median(samples, OURS, figure.key)
    if ours is None:
        return []
    found = []
    if figure.at_most is not None:
        found.append(Bar(figure, ours, f"<= {figure.at_most:g} {figure.unit}".strip(),
                         verdict=_word(ours <= figure.at_most)))
    if figure.below is not None:
        found.append(Bar(figure, ours, f"< {figure.below:g} {figure.unit}".strip(),
                         verdict=_word(ours < figure.below)))
    found += [_relative(figure, ours, times, median(samples, peer, figure.key), peer)
              for peer, times in figure.beside]
    return found


def _relative(figure: Figure, ours: float, times: float, value: float | None, peer: str) -> Bar:
    text = f"<= {times:g}x {peer}"
    if not value:
        return Bar(figure, ours, text, "not measured")
    return Bar(figure, ours, text, f"{value:.{figure.digits}f} {peer}", ours / value,
               _word(ours <= times * value))


def _word(holds: bool) -> str:
    return "PASS" if holds else "MISS"


def samples_table(samples: dict, sizes: dict) -> str:
    """Median (min-max) of every figure for every contestant that ran."""
    ran = [one for one in CONTESTANTS if one in samples]
    lines = [["figure", "unit", *ran]]
    for figure in FIGURES:
        cells = [samples[one].get(figure.key, []) for one in ran]
        if any(cells):
            lines.append([figure.title.format(**sizes), figure.unit,
                          *(spread_text(cell, figure.digits) for cell in cells)])
    return grid(lines)


def verdict_table(samples: dict, sizes: dict) -> str:
    lines = [["figure", "unit", "ours", "beside", "ratio", "bar", "verdict"]]
    for figure in FIGURES:
        for bar in bars(figure, samples):
            ratio = "-" if bar.ratio is None else f"{bar.ratio:.2f}x"
            title = figure.title.strip().format(**sizes)
            lines.append([title, figure.unit, f"{bar.ours:.{figure.digits}f}",
                          bar.reference, ratio, bar.text, bar.verdict or "not judged"])
    return grid(lines)


def summary(samples: dict) -> list[dict]:
    """The verdicts, for the JSON file."""
    return [{"figure": figure.key, "unit": figure.unit, "ours": bar.ours,
             "reference": bar.reference, "ratio": bar.ratio, "bar": bar.text,
             "verdict": bar.verdict}
            for figure in FIGURES for bar in bars(figure, samples)]
