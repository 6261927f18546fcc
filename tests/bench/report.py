"""The figures, their bars, and the arithmetic between samples and verdict. Pure: no clock, no I/O.

`samples` is {client: {figure: [one value per round]}}. Lower is better for every figure with a bar.
"""

import dataclasses
import statistics

OURS, OURS_JSON = "amdahl", "amdahl-json"
PEERS = ("go", "go-strip", "rust", "rust-strip")
CLIENTS = (OURS, OURS_JSON, *PEERS)
STRANGERS_CORES_MAX = 0.25  # above this the figures of a run are not worth much


@dataclasses.dataclass(frozen=True)
class Figure:
    key: str
    title: str
    unit: str
    digits: int
    # The bar: at most `ratio` of the best peer reading. "No worse" is 1.0 and a `resolution`: a
    # difference that small cannot be told from noise on the machines this runs on.
    ratio: float | None = None
    resolution: float = 0.0
    cap: float | None = None  # and never above this
    of_own: str | None = None  # the ratio is to our own figure of this name, not to a peer
    more_is_better: bool = False


FIGURES = (
    Figure("sync_wall", "start to synced cache, wall", "s", 2, ratio=0.7),
    Figure("reconciled_cpu", "CPU until every key was reconciled", "s", 2, ratio=0.4),
    Figure("rss", "steady RSS", "MiB", 1, ratio=0.2, cap=40.0),
    Figure("rss_peak", "peak RSS up to there", "MiB", 1, ratio=1.5, of_own="rss"),
    Figure("backlog_cpu", "CPU per event of a backlog", "ms", 4, ratio=0.5),
    Figure("backlog_rate", "events/s of a backlog", "/s", 0, more_is_better=True),
    Figure("handler_p50", "write response to handler, p50", "ms", 3, ratio=1.0, resolution=0.05),
    Figure("handler_p99", "write response to handler, p99", "ms", 3, ratio=1.0, resolution=0.05),
    Figure("reconcile_p50", "handler to reconcile, p50", "ms", 3, ratio=1.0, resolution=0.05),
    Figure("idle_cpu", "idle CPU", "%", 3, ratio=1.0, resolution=0.01),
)


@dataclasses.dataclass(frozen=True)
class Row:
    figure: Figure
    ours: float
    reference: float | None  # what the bar is a multiple of
    reference_name: str
    ratio: float | None
    verdict: str  # PASS, MISS, or "" where there is no bar or nothing to compare with


def percentile(values: list[float], percent: float) -> float:
    """Nearest rank: always one of the values. 50 of an even count is the lower middle."""
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    rank = -(-len(ordered) * percent // 100)  # ceil
    return ordered[max(int(rank), 1) - 1]


def median(samples: dict, client: str, key: str) -> float | None:
    values = samples.get(client, {}).get(key, [])
    return statistics.median(values) if values else None


def best_peer(samples: dict, figure: Figure) -> tuple[float, str] | None:
    """The best median among the peers' readings, and whose it is."""
    found = [(median(samples, peer, figure.key), peer) for peer in PEERS]
    found = [(value, peer) for value, peer in found if value is not None]
    best = max if figure.more_is_better else min
    return best(found) if found else None


def bar_text(figure: Figure) -> str:
    if figure.ratio is None:
        return "-"
    if figure.of_own:
        return f"<= {figure.ratio:g}x own steady"
    if figure.ratio == 1.0:
        return "no worse"
    return f"<= {figure.ratio:g}x" + (f", {figure.cap:g} {figure.unit}" if figure.cap else "")


def judge(figure: Figure, samples: dict, client: str = OURS) -> Row | None:
    ours = median(samples, client, figure.key)
    if ours is None:
        return None
    if figure.of_own:
        reference = (median(samples, client, figure.of_own), "own steady")
    else:
        reference = best_peer(samples, figure) or (None, "")
    value, name = reference
    if value is None or figure.ratio is None:
        return Row(figure, ours, value, name, _ratio(ours, value), "")
    passed = ours <= figure.ratio * value + figure.resolution
    passed = passed and (figure.cap is None or ours <= figure.cap)
    return Row(figure, ours, value, name, _ratio(ours, value), "PASS" if passed else "MISS")


def _ratio(ours: float, reference: float | None) -> float | None:
    return ours / reference if reference and reference > 0 else None


def rows(samples: dict, client: str = OURS) -> list[Row]:
    return [row for figure in FIGURES if (row := judge(figure, samples, client))]


def spread_text(values: list[float], digits: int) -> str:
    if not values:
        return "-"
    middle = f"{statistics.median(values):.{digits}f}"
    if len(values) == 1:
        return middle
    return f"{middle} ({min(values):.{digits}f}-{max(values):.{digits}f})"


def grid(lines: list[list[str]]) -> str:
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    aligned = ["  ".join(cell.ljust(w) for cell, w in zip(line, widths)) for line in lines]
    aligned.insert(1, "  ".join("-" * w for w in widths))
    return "\n".join(line.rstrip() for line in aligned)


def samples_table(samples: dict) -> str:
    """Median (min-max) of every figure for every client that ran."""
    ran = [client for client in CLIENTS if client in samples]
    lines = [["figure", "unit", *ran]]
    for figure in FIGURES:
        cells = [samples[c].get(figure.key, []) for c in ran]
        if any(cells):
            spreads = [spread_text(v, figure.digits) for v in cells]
            lines.append([figure.title, figure.unit] + spreads)
    return grid(lines)


def verdict_table(samples: dict) -> str:
    """Our medians beside the best peer reading, the ratio and the bar."""
    lines = [["figure", "unit", "client", "ours", "best peer", "ratio", "bar", "verdict"]]
    for client in (OURS, OURS_JSON):
        for row in rows(samples, client):
            figure = row.figure
            reference, ratio = "-", "-" if row.ratio is None else f"{row.ratio:.2f}x"
            if row.reference is not None:
                reference = f"{row.reference:.{figure.digits}f} {row.reference_name}"
            # The bars are for the client as it runs by default; JSON is shown for comparison.
            verdict = row.verdict if client == OURS else row.verdict.lower()
            lines.append([figure.title, figure.unit, client, f"{row.ours:.{figure.digits}f}",
                          reference, ratio, bar_text(figure), verdict])
    return grid(lines)


def summary(samples: dict) -> list[dict]:
    """The verdicts, for the JSON file."""
    return [
        {"figure": row.figure.key, "unit": row.figure.unit, "client": client, "ours": row.ours,
         "reference": row.reference, "reference_name": row.reference_name, "ratio": row.ratio,
         "bar": bar_text(row.figure), "verdict": row.verdict}
        for client in (OURS, OURS_JSON) for row in rows(samples, client)
    ]


def latencies(written: dict[int, int], handled: dict[int, int],
              reconciled: dict[int, int]) -> dict[str, float]:
    """Each argument is {seq: t_ns}. Every write must have been handled and reconciled."""
    for name, seen in (("handled", handled), ("reconciled", reconciled)):
        if missing := written.keys() - seen.keys():
            raise ValueError(f"{len(missing)} of {len(written)} writes were never {name}")
    # May be below zero: the event can reach the client before the writer has its response.
    to_handler = [(handled[seq] - at) / 1e6 for seq, at in written.items()]
    to_reconcile = [(reconciled[seq] - handled[seq]) / 1e6 for seq in written]
    return {
        "handler_p50": percentile(to_handler, 50),
        "handler_p99": percentile(to_handler, 99),
        "reconcile_p50": percentile(to_reconcile, 50),
        "reconcile_p99": percentile(to_reconcile, 99),
    }
