"""Tries changes of xloom's headers: scripts/mutate says how it is called, and what it does."""

import argparse
import collections
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pathlib
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

from changes import Header

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "mutation"
SOURCE = BUILD / "source"
PROGRAM = BUILD / "tests" / "tests" / "xloom_tests"
TRIED = BUILD / "tried.tsv"
REACHED = BUILD / "reached.json"
SURVIVORS = ROOT / "tests" / "mutation" / "survivors.tsv"
FOLDERS = ["infer", "detail/kernel"]
MEMORY_MB = 4096


def choose(mutants, sample, seed):
    """One of each file, then others at random: what is tried of a run that is broken off is a sample too."""
    source = random.Random(seed)
    shuffled = source.sample(mutants, len(mutants))
    firsts = {mutant.file: mutant for mutant in reversed(shuffled)}
    ordered = list(firsts.values()) + [mutant for mutant in shuffled if firsts[mutant.file] != mutant]
    return ordered[:sample]


class Outcome:
    """Of tests that were built and run."""
    PASSED, FAILED, CONSTANT, ENDLESS = "passed", "failed", "failed in a constant expression", "did not end"
    NO_PROGRAM, NOT_REACHED, NOT_COMPILED = "no program", "not reached", "not compiled"
    NOTICED = (FAILED, CONSTANT, ENDLESS)
    UNNOTICED = (PASSED, NOT_REACHED)


def write_if_changed(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def write_source(headers, mutants):
    """The repository with all changes in its headers; the rest of it are links."""
    SOURCE.mkdir(parents=True, exist_ok=True)
    for path in ROOT.iterdir():
        link = SOURCE / path.name
        if path.name not in ("build", "include", ".git") and not link.exists():
            link.symlink_to(path)
    for path in (ROOT / "include").rglob("*.hpp"):
        file = str(path.relative_to(ROOT / "include" / "xloom").with_suffix(""))
        text = path.read_text()
        if file in headers:
            switches = ROOT / "tests" / "mutation" / "switches.hpp"
            text = headers[file].with_switches(mutants[file]).replace("#pragma once", f'#pragma once\n#include "{switches}"\n#line 2', 1)
        write_if_changed(SOURCE / path.relative_to(ROOT), text)


def build_tests():
    flags = "-march=x86-64-v3 -ffp-contract=off -fsanitize=address,undefined -fno-sanitize-recover=all -w -Wno-c++11-narrowing"
    subprocess.run(["cmake", "--preset", "clang-debug", "-S", SOURCE, "-B", BUILD / "tests", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
                    f"-DCMAKE_CXX_FLAGS={flags}"], cwd=SOURCE, check=True)
    subprocess.run(["cmake", "--build", BUILD / "tests", "--target", "xloom_tests"], check=True)


def run_limited(command, seconds, **environment):
    """Whether it passed, failed or did not end; and how long it took."""
    begin = time.monotonic()
    environment = os.environ | {"ASAN_OPTIONS": f"hard_rss_limit_mb={MEMORY_MB}:symbolize=0"} | environment
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, start_new_session=True)
    try:
        outcome = Outcome.PASSED if process.wait(seconds) == 0 else Outcome.FAILED
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        outcome = Outcome.ENDLESS
    return outcome, time.monotonic() - begin


@dataclasses.dataclass(frozen=True)
class Case:
    """A test case: the n-th of a file of tests/."""
    file: str
    n: int

    def __str__(self):
        return f"{self.file} {self.n}"

    def command(self, program):
        return [program, f"--source-file=*tests/{self.file}.test.cpp", f"--first={self.n}", f"--last={self.n}", "--abort-after=1"]


class Tests:
    """The test cases, what each reaches, and how long it takes."""

    def __init__(self, mutants, jobs):
        listed = subprocess.run(["ctest", "--test-dir", BUILD / "tests", "--show-only=json-v1"], stdout=subprocess.PIPE, check=True).stdout
        files = [test["name"] for test in json.loads(listed)["tests"] if test.get("command", [""])[0] == str(PROGRAM)]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            self.cases = [Case(file, n + 1) for file, count in zip(files, pool.map(count_cases, files)) for n in range(count)]
            reached, self.seconds = self.read_reached() or self.find_reached(pool)
        self.reaching = collections.defaultdict(list)  # cases by change
        self.reached = collections.defaultdict(collections.Counter)  # changes by header and test file
        header_of = {mutant.id: mutant.file for mutant in mutants}
        for case, ids in reached.items():
            for id in ids:
                self.reaching[id].append(case)
                self.reached[header_of[id]][case.file] += 1
        self.noticed = collections.Counter()  # changes by header and case
        self.unchanged = {}  # digests of test files' objects
        self.compiled = find_compiled(sorted({mutant.file for mutant in mutants}))

    def read_reached(self):
        """What an earlier run of the same program found."""
        found = json.loads(REACHED.read_text()) if REACHED.exists() else {}
        if found.get("program") != digest_of(PROGRAM):
            return None
        return dict(zip(self.cases, found["reached"])), dict(zip(self.cases, found["seconds"]))

    def find_reached(self, pool):
        reached, seconds = zip(*pool.map(self.reached_by, self.cases))
        REACHED.write_text(json.dumps({"program": digest_of(PROGRAM), "reached": reached, "seconds": seconds}))
        return dict(zip(self.cases, reached)), dict(zip(self.cases, seconds))

    def reached_by(self, case):
        """The changes, and the seconds that it takes."""
        with tempfile.NamedTemporaryFile(dir=BUILD, mode="r") as file:
            outcome, seconds = run_limited(case.command(PROGRAM), 600, XLOOM_REACHED=file.name)
            if outcome != Outcome.PASSED:
                raise SystemExit(f"test case {case} does not pass without a change: {outcome}")
            return [int(line) for line in file], seconds

    def run(self, program, case, mutant):
        return run_limited(case.command(program), 10 + 10 * self.seconds[case], XLOOM_MUTANT=str(mutant.id))[0]

    def look_for(self, mutant, limit):
        """The outcome within as many seconds of tests, and the test case that decided it."""
        if mutant.id not in self.compiled:
            return Outcome.NOT_COMPILED, ""
        if mutant.id not in self.reaching:
            return self.look_for_in_constants(mutant, limit)
        seconds = 0
        for case in sorted(self.reaching[mutant.id], key=lambda case: self.seconds[case] / (1 + self.noticed[mutant.file, case])):
            outcome = self.run(PROGRAM, case, mutant)
            if outcome != Outcome.PASSED:
                self.noticed[mutant.file, case] += 1
                return outcome, case
            seconds += self.seconds[case]
            if seconds > limit:
                break
        return Outcome.PASSED, ""

    def look_for_in_constants(self, mutant, limit):
        """Compiles the tests that reach most of a change's header, with the change in constant expressions."""
        result = Outcome.NOT_REACHED, ""
        seconds = 0
        with tempfile.TemporaryDirectory(dir=BUILD) as scratch:
            for file, _ in self.reached[mutant.file].most_common(4):
                built = compile_test(file, mutant.id, f"{scratch}/changed.o")
                if built.returncode != 0:
                    is_constant = re.search(r"static_assert failed (?!.*no program)|constant expression", built.stderr)
                    return Outcome.CONSTANT if is_constant else Outcome.NO_PROGRAM, file
                if file not in self.unchanged:
                    compile_test(file, 0, f"{scratch}/unchanged.o")
                    self.unchanged[file] = digest_of(f"{scratch}/unchanged.o")
                if digest_of(f"{scratch}/changed.o") == self.unchanged[file]:
                    continue
                main = BUILD / "tests" / "tests" / "CMakeFiles" / "xloom_tests.dir" / "main.cpp.o"
                subprocess.run([*compiler(), "-fuse-ld=lld", main, f"{scratch}/changed.o", "-ltbb", "-ladolc", "-o", f"{scratch}/test"], check=True)
                result = Outcome.PASSED, ""
                for case in sorted((case for case in self.cases if case.file == file), key=self.seconds.get):
                    outcome = self.run(f"{scratch}/test", case, mutant)
                    if outcome != Outcome.PASSED:
                        return outcome, case
                    seconds += self.seconds[case]
                    if seconds > limit:
                        return result
        return result


def count_cases(file):
    printed = subprocess.run([PROGRAM, f"--source-file=*tests/{file}.test.cpp", "--count"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return int(re.search(r"filters: (\d+)", printed).group(1))


def compiler():
    """The command with all options but those that name files."""
    commands = json.loads((BUILD / "tests" / "compile_commands.json").read_text())
    words = shlex.split(next(entry["command"] for entry in commands if entry["file"].endswith("/tests/main.cpp")))
    return words[:words.index("-o")]


def find_compiled(headers):
    """The changes that the preprocessor leaves in: others are of another processor's code."""
    text = "".join(f"#include <xloom/{header}.hpp>\n" for header in headers)
    printed = subprocess.run([*compiler(), "-E", "-P", "-x", "c++", "-"], input=text, stdout=subprocess.PIPE, text=True, check=True).stdout
    switches = re.findall(r"mutation::(\w+)<(\d+)>", printed)
    return {int(id) + of_one for name, id in switches for of_one in range(2 if name == "one" else 1)}


def digest_of(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def compile_test(name, id, to):
    return subprocess.run([*compiler(), f"-DXLOOM_MUTANT={id}", "-c", SOURCE / "tests" / f"{name}.test.cpp", "-o", to],
                          stderr=subprocess.PIPE, text=True, env=os.environ | {"LC_ALL": "C"})


# --- the answer ---


def read_survivors(mutants):
    """Reasons by header, line and changed line, or * for all changes of a line."""
    reasons = {}
    known = {(m.file, m.before, after) for m in mutants for after in (m.after, "*")}
    for line in SURVIVORS.read_text().splitlines():
        if line.startswith("#") or not line:
            continue
        file, before, after, reason = line.split("\t")
        if (file, before, after) not in known:
            raise SystemExit(f"{SURVIVORS.name}: there is no such change: {file}: {before}  =>  {after}")
        reasons[file, before, after] = reason
    return reasons


def has_answer(mutant, reasons):
    return not reasons.keys().isdisjoint({(mutant.file, mutant.before, mutant.after), (mutant.file, mutant.before, "*")})


def read_tried():
    """Outcome and test of what was tried, by change."""
    lines = (line.split("\t") for line in TRIED.read_text().splitlines()) if TRIED.exists() else ()
    return {mutant: (outcome, test) for mutant, outcome, test in lines}


def summary(results, reasons, is_sample):
    """Prints the figures; true if every survivor is answered, and no answer is of a change that is noticed."""
    unanswered = [mutant for mutant, outcome, _ in results if outcome in Outcome.UNNOTICED and not has_answer(mutant, reasons)]
    texts_of = lambda outcomes: {(mutant.file, mutant.before, mutant.after) for mutant, outcome, _ in results if outcome in outcomes}
    untrue = [] if is_sample else sorted(reasons.keys() & texts_of(Outcome.NOTICED) - texts_of(Outcome.UNNOTICED))
    for folder in FOLDERS:
        outcomes = [outcome for mutant, outcome, _ in results if mutant.file.startswith(folder + "/")]
        noticed = sum(outcome in Outcome.NOTICED for outcome in outcomes)
        unnoticed = sum(outcome in Outcome.UNNOTICED for outcome in outcomes)
        if noticed + unnoticed == 0:
            continue
        missed = sum(mutant.file.startswith(folder + "/") for mutant in unanswered)
        print(f"{folder}: {len(outcomes)} changes, {noticed} noticed ({noticed / (noticed + unnoticed):.1%}), {unnoticed} not "
              f"({outcomes.count(Outcome.NOT_REACHED)} of these not reached), {unnoticed - missed} of these answered "
              f"({noticed / max(noticed + missed, 1):.1%} of the others noticed), {outcomes.count(Outcome.NO_PROGRAM)} without a program, "
              f"{outcomes.count(Outcome.NOT_COMPILED)} of another processor's code")
    for mutant in unanswered:
        print(f"no answer to {mutant}")
    for file, before, after in untrue:
        print(f"answered, but noticed: {file}: {before}  =>  {after}")
    return not unanswered and not untrue


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--file", action="append")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("-j", type=int, default=os.cpu_count(), dest="jobs")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()

    files = [f"{folder}/{path.stem}" for folder in FOLDERS for path in sorted((ROOT / "include" / "xloom" / folder).glob("*.hpp"))]
    headers = {file: Header(file, (ROOT / "include" / "xloom" / f"{file}.hpp").read_text()) for file in files}
    changes = {}
    for file, header in headers.items():
        changes[file] = list(header.mutants(1 + sum(map(len, changes.values()))))
    every = [mutant for file in files for mutant, _ in changes[file]]
    mutants = every
    if options.file:
        wanted = {name.removeprefix("include/xloom/").removesuffix(".hpp") for name in options.file}
        if not wanted <= set(files):
            raise SystemExit(f"no header of these folders: {', '.join(sorted(wanted - set(files)))}")
        mutants = [mutant for mutant in every if mutant.file in wanted]
    if options.sample is not None:
        mutants = choose(mutants, options.sample, options.seed)
        print(f"mutate: --seed {options.seed} has the same sample again", file=sys.stderr)
    if options.list:
        print(*mutants, sep="\n")
        return 0

    reasons = read_survivors(every)
    write_source(headers, changes)
    build_tests()
    tests = Tests(every, options.jobs)
    known = read_tried() if options.resume else {}
    results = [(mutant, *known[str(mutant)]) for mutant in mutants if str(mutant) in known]
    with open(TRIED, "a" if options.resume else "w") as tried, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        pending = {pool.submit(tests.look_for, mutant, options.seconds / (10 if has_answer(mutant, reasons) else 1)): mutant
                   for mutant in mutants if str(mutant) not in known}
        for done in concurrent.futures.as_completed(pending):
            mutant = pending[done]
            results.append((mutant, *done.result()))
            print(mutant, *done.result(), sep="\t", file=tried, flush=True)
    return 0 if summary(results, reasons, options.sample is not None) else 1


if __name__ == "__main__":
    sys.exit(main())
