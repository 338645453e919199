#!/usr/bin/env python3
"""Compares what the benchmarks of two commits timed, and prints how many times as long as before each series of xloom takes.

    benchmarks/compare.py BEFORE NOW

Both are folders that scripts/bench --against fills, one JSON file for each program and repetition. A ratio is that of the fastest
repetitions. Where the work has a hand-written loop, it is divided by the ratio of that: the same code in both programs, which shows what
else differs between them, such as where memory is. The noise is how far the fastest of every other repetition is from the fastest of the
rest, in the folder where that is more. A series is slower if its ratio exceeds 1 by more than 3 % and twice the noise; then the exit status
is 1.
"""

import sys
from pathlib import Path

from report import PEER, name_of, print_columns, read_works, with_unit

CERTAIN = 0.03


def noise_of(series):
    halves = [min(half) for half in (series.calls[::2], series.calls[1::2]) if half]
    return max(halves) / min(halves) - 1


def main(arguments):
    before, now = (read_works(Path(folder))[0] for folder in arguments)
    lines, slower = [["work", "before", "now", "ratio", "noise", ""]], 0
    for work, all_series in now.items():
        for name, series in all_series.items():
            old = before.get(work, {}).get(name)
            if old is None or name == "hand" or name.startswith(PEER):
                continue
            ratio, noise = series.over(old), max(noise_of(old), noise_of(series))
            if "hand" in all_series and "hand" in before[work]:
                ratio /= all_series["hand"].over(before[work]["hand"])
            verdict = "slower" if ratio > 1 + max(CERTAIN, 2 * noise) else "faster" if 1 / ratio > 1 + max(CERTAIN, 2 * noise) else ""
            slower += verdict == "slower"
            times = (with_unit(work, each.fastest()) for each in (old, series))
            lines.append([name_of({"work": work, "series": name}), *times, f"{ratio:.2f}", f"{noise:.0%}", verdict])
    print_columns(lines, texts=(0, 5))
    print(f"{len(lines) - 1} series, {slower} slower")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
