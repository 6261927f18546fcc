"""Figures of the kernels, their bars, and the table. Pure: no clock, no I/O.

`samples` is {figure: {"ours": [one value per round], "peer": [...]}}; rounds are pairs.
"""

import dataclasses
import statistics

from report import grid, spread_text


@dataclasses.dataclass(frozen=True)
class Figure:
    key: str
    title: str
    peer: str
    unit: str = "GB/s"
    times_peer: float | None = None  # the bar: at least so many times the peer
    at_least: float | None = None


ISAL, ZSTD = "ISA-L", "zstd -1 + shuffle"
FIGURES = (
    Figure("crc_64", "CRC32C of 64 KB", ISAL, times_peer=1.0),
    Figure("crc_256", "CRC32C of 256 KB", ISAL, times_peer=1.0),
    Figure("crc_1024", "CRC32C of 1 MB", ISAL, times_peer=1.0),
    Figure("crc_262144", "CRC32C of 256 MB", ISAL),
    Figure("copy_1", "copy with CRC32C, 1 MB", "memcpy"),
    Figure("copy_16", "copy with CRC32C, 16 MB", "memcpy"),
    Figure("copy_256", "copy with CRC32C, 256 MB", "memcpy", times_peer=0.9),
    Figure("ratio", "trained bf16 weights, raw / encoded", ZSTD, "x", at_least=1.40),
    Figure("encode", "encode, 32 MB", ZSTD, times_peer=8.0),
    Figure("decode", "decode, 32 MB", ZSTD, times_peer=4.0),
    Figure("ratio_cached", "the same, in 1 MB", ZSTD, "x"),
    Figure("encode_cached", "encode, 1 MB", ZSTD),
    Figure("decode_cached", "decode, 1 MB", ZSTD),
    Figure("pipeline", "CRC, cast, delta, CRC; fp32 of 128 MB", "four passes", times_peer=1.6),
)


def pair_ratios(samples: dict, key: str) -> list[float]:
    """Ours to the peer's, round by round: what disturbs both alike cancels."""
    return [ours / peer for ours, peer in zip(samples[key]["ours"], samples[key]["peer"])]


def bar_text(figure: Figure) -> str:
    if figure.at_least is not None:
        return f">= {figure.at_least:.2f} {figure.unit}"
    return f">= {figure.times_peer:g}x" if figure.times_peer is not None else "-"


def verdict(figure: Figure, samples: dict) -> str:
    """PASS, MISS, or "" where there is no bar."""
    if figure.at_least is not None:
        ours = statistics.median(samples[figure.key]["ours"])
        return "PASS" if ours >= figure.at_least else "MISS"
    if figure.times_peer is None:
        return ""
    ratio = statistics.median(pair_ratios(samples, figure.key))
    return "PASS" if ratio >= figure.times_peer else "MISS"


def table(samples: dict) -> str:
    lines = [["figure", "unit", "ours", "peer", "", "ratio", "bar", "verdict"]]
    for figure in FIGURES:
        both = samples[figure.key]
        lines.append([figure.title, figure.unit, spread_text(both["ours"], 2),
                      spread_text(both["peer"], 2), figure.peer,
                      spread_text(pair_ratios(samples, figure.key), 2), bar_text(figure),
                      verdict(figure, samples)])
    return grid(lines)


def summary(samples: dict) -> list[dict]:
    """The verdicts, for the JSON file."""
    return [{"figure": figure.key, "unit": figure.unit, "peer_name": figure.peer,
             "ours": statistics.median(samples[figure.key]["ours"]),
             "peer": statistics.median(samples[figure.key]["peer"]),
             "ratio": statistics.median(pair_ratios(samples, figure.key)),
             "bar": bar_text(figure), "verdict": verdict(figure, samples)} for figure in FIGURES]
