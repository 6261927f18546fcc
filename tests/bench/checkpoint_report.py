"""Figures of checkpoints, their bars, and the tables. Pure: no clock, no I/O.

`samples` is {case: {contestant: {figure: [values]}}}; a case is a state and a number of ranks.
The floors of a case are those that were measured between the saves of ours. `kills` is
{contestant: [one result per kill]}. Lower is better for every figure.
"""

import dataclasses
import statistics

from report import grid, percentile, spread_text

OURS, MAIN, MANY = "amdahl", "fp32-16", "fp32-4000"
ASYNC = ("dcp-thread", "dcp-process", "torchsnapshot", "orbax")
# The peers that sync by themselves, and those the bench syncs, both until durable.
DURABLE = ("torch.save", "safetensors", "dcp-sync", "dcp-thread", "dcp-process", "torchsnapshot",
           "deepspeed", "orbax")
OUR_KILLS = 200

# figure: (title, digits, the percentile that is shown and compared)
FIGURES = {
    "block": ("save() holds the trainer, p50 s", 3, 50),
    "block_p95": ("p95 s", 3, 95),
    "durable": ("durable s", 2, 50),
    "load": ("warm load s", 3, 50),
    "cpu": ("CPU s/GiB", 2, 50),
    "steps2": ("step, 2 threads", 2, 50),
    "steps1": ("1 thread", 2, 50),
    "first_block": ("first save() s", 2, 50),
    "first_durable": ("durable s", 2, 50),
}
FLOORS = {"memcpy": "copy into warm pages", "write": "buffered write + fsync",
          "read": "cached read"}


@dataclasses.dataclass(frozen=True)
class Bar:
    """At most `times` the reference: a floor, the best of some peers, another case, or a number."""

    case: str
    figure: str
    times: float
    floor: str = ""
    peers: tuple = ()
    own_case: str = ""


SAME_RATIOS = ("lora", "fp32-16x2", "bf16-16")
BARS = (
    Bar(MAIN, "block", 1.3, floor="memcpy"),
    Bar(MAIN, "block_p95", 2.0, floor="memcpy"),
    Bar(MAIN, "block", 1.0, peers=ASYNC),
    Bar(MAIN, "durable", 1.0, floor="write"),
    Bar(MAIN, "durable", 1.0, peers=DURABLE),
    Bar(MAIN, "load", 1.3, floor="read"),
    Bar(MAIN, "cpu", 0.35),
    Bar(MAIN, "steps2", 1.5),
    Bar(MAIN, "steps1", 1.1),
    *(Bar(MANY, figure, 1.3, own_case=MAIN) for figure in ("block", "durable", "load")),
    *(bar for case in SAME_RATIOS for bar in (
        Bar(case, "block", 1.3, floor="memcpy"), Bar(case, "block_p95", 2.0, floor="memcpy"),
        Bar(case, "block", 1.0, peers=ASYNC), Bar(case, "durable", 1.0, floor="write"),
        Bar(case, "durable", 1.0, peers=DURABLE), Bar(case, "load", 1.3, floor="read"))),
)


@dataclasses.dataclass(frozen=True)
class Row:
    bar: Bar
    ours: float
    reference: float | None
    reference_name: str
    verdict: str  # PASS, MISS, or "" where there is nothing to compare with


def add_line(figures: dict, line: dict) -> None:
    """One line of checkpoint_life.py to the samples of a contestant."""
    def put(figure: str, value: float) -> None:
        figures.setdefault(figure, []).append(value)

    if line["what"] == "first":
        put("first_block", line["block"])
        put("first_durable", line["durable"])
    elif line["what"] == "save":
        put("block", line["block"])
        put("durable", line["durable"])
        put("cpu", line["cpu"] / (line["bytes"] / (1 << 30)))
        for floor, seconds in line["floors"].items():
            put(floor, seconds)
    elif line["what"] == "load":
        put("load", line["seconds"])
    elif line["what"] == "steps":
        put(f"steps{line['threads']}", line["times"])


def merged(ranks: list[list[dict]]) -> list[dict]:
    """Lines of several ranks as those of one: it takes as long as the slowest, and CPU adds up."""
    lines = []
    for together in zip(*ranks, strict=True):
        line = dict(together[0])
        for key in ("block", "durable", "seconds", "times"):
            if key in line:
                line[key] = max(one[key] for one in together)
        for key in ("cpu", "bytes"):
            if key in line:
                line[key] = sum(one[key] for one in together)
        if "floors" in line:
            line["floors"] = {name: max(one["floors"][name] for one in together)
                              for name in line["floors"]}
        lines.append(line)
    return lines


def value(samples: dict, case: str, contestant: str, figure: str) -> float | None:
    figures = samples.get(case, {}).get(contestant, {})
    values = figures.get("block" if figure == "block_p95" else figure, [])
    if not values:
        return None
    percent = FIGURES[figure][2] if figure in FIGURES else 50
    return statistics.median(values) if percent == 50 else percentile(values, percent)


def judge(bar: Bar, samples: dict) -> Row | None:
    ours = value(samples, bar.case, OURS, bar.figure)
    if ours is None:
        return None
    if bar.floor:
        reference, name = value(samples, bar.case, OURS, bar.floor), FLOORS[bar.floor]
    elif bar.own_case:
        reference, name = value(samples, bar.own_case, OURS, bar.figure), f"own {bar.own_case}"
    elif bar.peers:
        found = [(seconds, peer) for peer in bar.peers
                 if (seconds := value(samples, bar.case, peer, bar.figure)) is not None]
        reference, name = min(found) if found else (None, "no peer ran")
    else:
        return Row(bar, ours, None, "", "PASS" if ours <= bar.times else "MISS")
    if reference is None:
        return Row(bar, ours, None, name, "")
    beaten = ours < reference if bar.peers else ours <= bar.times * reference
    return Row(bar, ours, reference, name, "PASS" if beaten else "MISS")


def bar_text(bar: Bar) -> str:
    if bar.peers:
        return "below every async peer" if bar.peers == ASYNC else "ahead of every peer"
    unit = "" if bar.floor or bar.own_case or bar.figure != "cpu" else " s/GiB"
    return f"<= {bar.times:g}{unit or 'x'}"


def rows(samples: dict) -> list[Row]:
    return [row for bar in BARS if (row := judge(bar, samples))]


def case_table(samples: dict, case: str) -> str:
    """Median (min-max) of every figure for every contestant that ran."""
    lines = [["", *(title for title, _, _ in FIGURES.values())]]
    for contestant, figures in samples[case].items():
        cells = []
        for figure, (_, digits, percent) in FIGURES.items():
            if percent != 50:
                number = value(samples, case, contestant, figure)
                cells.append("-" if number is None else f"{number:.{digits}f}")
            else:
                cells.append(spread_text(figures.get(figure, []), digits))
        lines.append([contestant, *cells])
    floors = samples[case].get(OURS, {})
    text = "; ".join(f"{title} {spread_text(floors.get(name, []), 3)} s"
                     for name, title in FLOORS.items())
    return f"{case}; floors: {text}\n{grid(lines)}"


def verdict_table(samples: dict) -> str:
    lines = [["state", "figure", "ours", "beside", "ratio", "bar", "verdict"]]
    for row in rows(samples):
        title, digits, _ = FIGURES[row.bar.figure]
        if row.bar.figure == "block_p95":
            title = "save() holds the trainer, p95 s"
        beside, ratio = row.reference_name or "-", "-"
        if row.reference:
            beside = f"{row.reference:.{digits}f} {row.reference_name}"
            ratio = f"{row.ours / row.reference:.2f}x"
        lines.append([row.bar.case, title, f"{row.ours:.{digits}f}", beside, ratio,
                      bar_text(row.bar), row.verdict])
    return grid(lines)


def kill_counts(results: list[dict]) -> dict:
    """Of the results of one contestant."""
    return {"kills": len(results),
            **{word: sum(bool(one[word]) for one in results)
               for word in ("unloadable", "mixed", "older")},
            "orphans": sum(one["orphan_bytes"] > 0 for one in results),
            "orphan_bytes": max((one["orphan_bytes"] for one in results), default=0)}


def kill_verdict(counts: dict) -> str:
    harmed = any(counts[word] for word in ("unloadable", "mixed", "older", "orphans"))
    return "MISS" if harmed or counts["kills"] < OUR_KILLS else "PASS"


def kill_table(kills: dict) -> str:
    lines = [["killed in mid-save", "kills", "nothing loadable", "two steps mixed",
              "older than committed", "orphans left", "largest, MiB", "verdict"]]
    for contestant, results in kills.items():
        counts = kill_counts(results)
        lines.append([contestant, *(str(counts[word]) for word in (
            "kills", "unloadable", "mixed", "older", "orphans")),
            f"{counts['orphan_bytes'] / (1 << 20):.1f}",
            kill_verdict(counts) if contestant == OURS else ""])
    return grid(lines)


def summary(samples: dict) -> list[dict]:
    """The verdicts, for the JSON file."""
    return [{"case": row.bar.case, "figure": row.bar.figure, "ours": row.ours,
             "reference": row.reference, "reference_name": row.reference_name,
             "bar": bar_text(row.bar), "verdict": row.verdict} for row in rows(samples)]
