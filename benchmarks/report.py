#!/usr/bin/env python3
"""Makes one table of what scripts/bench measured, beside the bars that the project sets itself.

    benchmarks/report.py [--check | --missed] FOLDER

FOLDER holds the output of the benchmarks' programs, one JSON file for each repetition, and machine.json, compile.times, calls.tsv and
sizes.tsv. Writes bench.json there, with all series of all works, of which scripts/figures makes tables and charts. The table shows xloom's
series, and others that have a bar. Under it stand the bars that were missed, and those that this run cannot judge. With --check the exit
status is 1 if a bar is missed by more than 10 %, or if, although everything was measured, a bar is for nothing or a work of ratios.tsv
has no ratio, and 2 if ONNX Runtime was not there to compare with. With --missed it prints how the names of those cases begin whose bars are
missed, and writes nothing.

A time is the median over the repetitions, its spread (largest - smallest) / median. A ratio, by which a bar is judged, is that of the
fastest repetitions: what others do on the machine makes times longer, never shorter. Of several series of ONNX Runtime the fastest counts.
A bar that is missed by less than the fastest repetitions differ among themselves is not judged.
"""

import json
import re
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
PEER = "onnxruntime"
TOLERANCE = 1.1  # by how much a bar may be missed before --check complains
AGREEING = 3  # so many of the fastest repetitions are to agree


@dataclass
class Series:
    """One way to do a work, over all repetitions."""

    calls: list = field(default_factory=list)  # seconds
    parts: float = 1  # equal parts of a call: iterations, updates, slices
    counters: dict = field(default_factory=dict)
    errors: dict = field(default_factory=dict)  # of one that is known to be wrong at times

    def seconds(self):
        return median(self.calls)

    def spread(self):
        return (max(self.calls) - min(self.calls)) / self.seconds() if len(self.calls) > 1 else 0

    def fastest(self):
        return min(self.calls)

    def over(self, other):
        return self.fastest() / other.fastest()

    def agreeing(self):
        """The slowest of the fastest repetitions that are to agree."""
        return sorted(self.calls)[:AGREEING][-1]

    def noise(self):
        return self.agreeing() / self.fastest()


@dataclass
class Bar:
    """What a series is to reach, against another one or by itself."""

    works: str  # a regular expression
    series: str
    against: str
    bar: str
    goal: str
    reason: str = ""  # why it is missed, where that is known
    processor: str = ""  # a regular expression: those that it is for
    was_measured: bool = False  # something that it is for

    def applies_to(self, work, series):
        return self.series == series and re.fullmatch(self.works, work) is not None

    def text(self):
        return {PEER: ">= ", "-": "<= "}.get(self.against, f"{self.against} ") + self.bar

    def judge(self, own, other):
        """What was reached, in the bar's own terms, and by how much it is missed: 1 or less if it is met; at 1.1 one would have to be a
        tenth faster."""
        number = float(self.bar.rstrip("nsx"))
        if self.against == PEER:
            reached = f"{other.over(own):.3g}"
            missed_by = number / other.over(own)
        elif self.bar.startswith("+"):  # nanoseconds more in each part
            reached = f"{(own.fastest() - other.fastest()) / own.parts * 1e9:+.3g}ns"
            missed_by = own.fastest() / (other.fastest() + number * 1e-9 * own.parts)
        elif self.bar.endswith("x"):
            reached = f"{own.over(other):.3g}x"
            missed_by = own.over(other) / number
        elif self.bar.endswith("ns"):
            reached = f"{own.fastest() / own.parts * 1e9:.3g}ns"
            missed_by = own.fastest() / own.parts * 1e9 / number
        else:
            reached = f"{own.fastest():.3g}"
            missed_by = own.fastest() / number
        return {
            "bar": self.text(),
            "goal": self.goal,
            "reached": reached,
            "missed_by": missed_by,
            "met": missed_by <= 1,
            "is_judged": missed_by <= 1 or missed_by > own.noise() * (other.noise() if other else 1),
            "reason": self.reason,
        }


def read_works(folder):
    """{work: {series: Series}} from all files of Google Benchmark: what they timed, and the bytes that they tell of themselves. Then the
    versions of what they were built with."""
    works = defaultdict(lambda: defaultdict(Series))
    versions = {}
    for path in sorted(folder.glob("*.[0-9]*.json")):
        text = path.read_text()
        if not text:  # of a program that has none of the cases
            continue
        output = json.loads(text)
        for key, value in output["context"].items():
            if "/impl:" in key:
                work, name = key.split("/impl:")
                works[work][name].calls.append(float(value))
            elif key in ("xtensor", "xsimd", PEER):
                versions[key] = value
        for run in output["benchmarks"]:
            if "call" not in run:
                continue
            work, name = run["name"].removesuffix("/real_time").split("/impl:")
            series = works[work][name]
            series.calls.append(run["call"])
            if "iteration" in run:
                series.parts = run["call"] / run["iteration"]
            series.counters = {key: run[key] for key in ("peak", "GFLOP/s", "GB/s", "ns/score") if key in run}
            series.errors = {key: run[key] for key in ("runs", "wrong_runs", "lost/run", "largest_error") if key in run}
    return works, versions


def lines_of(path):
    """The fields of each line that is no comment."""
    return [line.split("\t") for line in path.read_text().splitlines() if line and not line.startswith("#")]


def read_bars(machine):
    """Those for the processor of this machine."""
    bars = [Bar(*fields) for fields in lines_of(HERE / "bars.tsv")]
    return [bar for bar in bars if re.search(bar.processor, machine["processor"])]


def read_chart(name):
    """What a chart shows: its works, their label, and further fields."""
    return lines_of(HERE / f"{name}.tsv")


def peer_of(all_series):
    """The fastest series of ONNX Runtime, or None."""
    return min((series for name, series in all_series.items() if name.startswith(PEER)), key=Series.fastest, default=None)


def bars_of(bars, work, series, others):
    """The last that is said of a comparison counts."""
    fitting = [bar for bar in bars if bar.applies_to(work, series) and (bar.against == "-" or bar.against in others)]
    for bar in fitting:
        bar.was_measured = True
    return {bar.against: bar for bar in fitting}.values()


def row_of(work, name, all_series, bars):
    own = all_series[name]
    others = dict(all_series)
    if peer := peer_of(all_series):
        others[PEER] = peer
    judged = [bar.judge(own, others.get(bar.against)) for bar in bars_of(bars, work, name, others)]
    hand = others.get("hand")
    return {
        "work": work,
        "series": name,
        "hand": hand and hand.seconds(),
        "peer": peer and peer.seconds(),
        "own": own.seconds(),
        "spread": own.spread(),
        "peer_to_own": peer and peer.over(own),
        "own_to_hand": hand and own.over(hand),
        "counters": own.counters,
        "bars": judged,
    }


def rows_of(works, bars):
    """A row for each series that is xloom's own, or is compared like one."""
    is_own = lambda name: name != "hand" and not name.startswith(PEER)
    rows = [row_of(work, name, all_series, bars) for work, all_series in works.items() for name in all_series if is_own(name)]
    key = lambda row: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", f"{row['work']} {row['series']}")]
    return sorted(rows, key=key)


def missed_of(rows, is_judged=True):
    return [(row, bar) for row in rows for bar in row["bars"] if not bar["met"] and bar["is_judged"] == is_judged]


def measured_once(path):
    """The works of a file with a work and a number on each line, and maybe the peer's number."""
    lines = lines_of(path) if path.exists() else []
    return {work: dict(zip(("xloom", PEER), (Series([float(number)]) for number in numbers))) for work, *numbers in lines}


def compile_costs(path):
    """The works of what headers cost to compile beyond the headers of xtensor that they stand on, and these.

    A line has a header, its user and system seconds and those of xtensor's, measured a moment before. Their ratios' median counts: what a
    busy machine adds to both, by half and more at times, is larger than what they differ by.
    """
    factors, seconds_below = defaultdict(list), []
    for line in path.read_text().splitlines() if path.exists() else []:
        header, *numbers = line.split()
        user, system, user_below, system_below = map(float, numbers)
        seconds_below.append(user_below + system_below)
        factors[header].append((user + system) / seconds_below[-1])
    below = min(seconds_below, default=0)
    seconds = lambda all_factors: (median(all_factors) - 1) * below
    return {
        f"compile/xloom/{header}.hpp": {"xloom": Series([seconds(factors[header])]), "xtensor": Series([below])} for header in factors
    }


def write_json(path, machine, works):
    """Writes the machine, and for each work on a line of its own all series: the least, the agreeing and the median of their seconds (of
    sizes: bytes), and the equal parts of a call."""
    rounded = lambda number: float(f"{number:.4g}")
    number_of = lambda series: {
        "least": rounded(series.fastest()),
        "agreeing": rounded(series.agreeing()),
        "median": rounded(series.seconds()),
        **({"parts": round(series.parts)} if series.parts != 1 else {}),
    }
    lines = [f"{json.dumps(work)}: {json.dumps({name: number_of(each) for name, each in works[work].items()})}" for work in sorted(works)]
    path.write_text(f'{{"machine": {json.dumps(machine, indent=1)},\n"works": {{\n' + ",\n".join(lines) + "\n}}\n")


def read_json(path):
    """The machine and the works of a file that write_json wrote; of their calls the fastest, and one that is to agree with it."""
    kept = json.loads(path.read_text())
    series_of = lambda number: Series([number["least"], number.get("agreeing", number["least"])], number.get("parts", 1))
    works = {work: {name: series_of(number) for name, number in kept["works"][work].items()} for work in kept["works"]}
    return kept["machine"], works


def is_size(work):
    return work.startswith(("size/", "memory/"))


def with_unit(work, number):
    if number is None:
        return "-"
    return with_size_unit(number) if is_size(work) else with_time_unit(number)


def with_size_unit(size):
    return f"{size / 1e6:.3g} MB" if size >= 1e6 else f"{size / 1e3:.3g} kB"


def with_time_unit(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if abs(seconds) * factor >= 0.9995:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def name_of(row):
    return row["work"] if row["series"] == "xloom" else f"{row['work']} ({row['series']})"


def cells_of(row):
    work, counters = row["work"], row["counters"]
    share = f"{counters['peak']:.0%}" if "peak" in counters else "-"
    number = lambda ratio: "-" if ratio is None else f"{ratio:.2f}" if ratio < 100 else f"{ratio:.0f}"
    return [
        name_of(row),
        with_unit(work, row["hand"]),
        with_unit(work, row["peer"]),
        with_unit(work, row["own"]),
        f"{row['spread']:.0%}",
        number(row["peer_to_own"]),
        number(row["own_to_hand"]),
        share,
        "; ".join(judged["bar"] for judged in row["bars"]) or "-",
        met_by(row["bars"]),
    ]


def met_by(bars):
    if not bars:
        return "-"
    if all(bar["met"] for bar in bars):
        return "yes"
    return "NO" if any(bar["is_judged"] and not bar["met"] for bar in bars) else "?"


def print_table(rows):
    headings = ["work", "hand", "ORT", "xloom", "spread", "ORT/xloom", "xloom/hand", "peak", "bar", "met"]
    print_columns([headings] + [cells_of(row) for row in rows], texts=(0, 8))


def print_columns(lines, texts):
    """Prints lines of cells, those of columns `texts` flush left."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        cells = [cell.ljust(width) if i in texts else cell.rjust(width) for i, (cell, width) in enumerate(zip(line, widths))]
        print("  ".join(cells).rstrip())


def print_missed(rows):
    for what, missed in (("missed", missed_of(rows)), ("not measurable here", missed_of(rows, is_judged=False))):
        if missed:
            print(f"{len(missed)} bars {what}:")
        for row, bar in missed:
            print(f"  {name_of(row)}: {bar['reached']}, bar {bar['bar']}, spread {row['spread']:.0%}{bar['reason'] and '; ' + bar['reason']}")


def print_cases_of_missed(works, bars):
    for work in sorted({row["work"] for row in rows_of(works, bars) if not all(bar["met"] for bar in row["bars"])}):
        print(f"{work}/impl:")


def main(arguments):
    check = arguments[:1] == ["--check"]
    folder = Path(arguments[-1])
    machine = json.loads((folder / "machine.json").read_text())
    bars = read_bars(machine)
    works, versions = read_works(folder)
    if arguments[:1] == ["--missed"]:
        print_cases_of_missed(works, bars)
        return 0
    works |= compile_costs(folder / "compile.times") | measured_once(folder / "calls.tsv") | measured_once(folder / "sizes.tsv")
    rows = rows_of(works, bars)
    machine |= versions
    write_json(folder / "bench.json", machine, works)
    print(", ".join(f"{key} {value}" for key, value in machine.items()))
    print_table([row for row in rows if row["bars"] or row["series"] in ("xloom", "runner")])
    for work, all_series in works.items():
        for name, series in all_series.items():
            if series.errors:
                print(f"{work} ({name}):", ", ".join(f"{key} {number:.6g}" for key, number in series.errors.items()))
    print_missed(rows)

    has_peer = PEER in versions
    is_whole = (folder / "sizes.tsv").exists()
    idle = [f"{bar.works} ({bar.series}, {bar.text()})" for bar in bars if is_whole and not bar.was_measured and (has_peer or bar.against != PEER)]
    if idle:
        print("bars that nothing was measured for:", *idle, sep="\n  ")
    compared = {row["work"] for row in rows if row["peer_to_own"]}
    absent = [work for work, _ in read_chart("ratios") if work not in compared] if is_whole and has_peer else []
    if absent:
        print("works of ratios.tsv that were not measured:", *absent, sep="\n  ")
    if check and (idle or absent or any(bar["missed_by"] > TOLERANCE for _, bar in missed_of(rows))):
        return 1
    if check and not has_peer:
        print("ONNX Runtime was not there", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
