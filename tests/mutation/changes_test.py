"""Checks that each switch of changes.py computes what its change of the text does: compiles a header of every kind of change once with all
switches, and once for each change, with the compiler whose command is in the arguments, and compares what the programs print."""

import os
import pathlib
import subprocess
import sys
import tempfile

from changes import Header

SAMPLE = """#pragma once
template <class T>
    requires(sizeof(T) > 1)
constexpr T clamped(T x, bool is_low = false)
{
    constexpr T least = 1, most = 40;
    if (is_low && x < least)
        return least;
    return x > most || x == 7 && !is_low ? most : -x;
}

template <class T>
inline T folded(T const* x, T count)
{
    T sum = 0;
    for (T i = 0; i < count; i += 2)
        sum += x[i] * 3 - x[i + 1] % 5 / 2;
    T mask = sum != 12 ? 6 : 5;
    mask |= 8;
    mask &= 13;
    while (count)
        count -= 1;
    bool const is_large = sum >= 20 && count <= 30 || mask > 2;
    return is_large ? mask : sum + count;
}
"""
MAIN = """#include <cstdio>
#include "sample.hpp"
int main()
{
    int const x[] = {5, 9, 12, 4, 1, 1, 3, 8, 0, 0};
    for (int i = -3; i < 45; ++i)
        std::printf("%d %d ", clamped(i), clamped(i, i % 2 == 0));
    for (int count = 0; count < 9; count += 2)
        std::printf("%d ", folded(x, count));
}
"""


def printed(compiler, text, folder, name, id=0):
    """What the program prints with a change on, which is built if it is not there."""
    folder = folder / name
    program = folder / "program"
    if not folder.exists():
        folder.mkdir()
        (folder / "sample.hpp").write_text(text)
        (folder / "main.cpp").write_text(MAIN)
        subprocess.run([*compiler, "-std=c++20", "-w", "-Wno-narrowing", folder / "main.cpp", "-o", program], check=True)
    try:  # some changes make a loop endless, or divide by zero
        run = subprocess.run([program], stdout=subprocess.PIPE, env=os.environ | {"XLOOM_MUTANT": str(id)}, timeout=1)
    except subprocess.TimeoutExpired:
        return "does not end"
    return run.stdout if run.returncode == 0 else "fails"


def main():
    header = Header("sample", SAMPLE)
    mutants = list(header.mutants(1))
    switches = pathlib.Path(__file__).resolve().parent / "switches.hpp"
    switched = header.with_switches(mutants).replace("#pragma once", f'#pragma once\n#include "{switches}"')
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        unchanged = printed(sys.argv[1:], SAMPLE, folder, "unchanged")
        if printed(sys.argv[1:], switched, folder, "switched") != unchanged:
            print("the switches change something without being on")
            faults += 1
        for mutant, change in mutants:
            changed = SAMPLE[:change.start] + change.new + SAMPLE[change.end:]
            expected = printed(sys.argv[1:], changed, folder, str(mutant.id))
            in_constants = [*sys.argv[1:], f"-DXLOOM_MUTANT={mutant.id}"]
            if (printed(sys.argv[1:], switched, folder, "switched", mutant.id) != expected
                    and printed(in_constants, switched, folder, f"constants_{mutant.id}", mutant.id) != expected):
                print(f"not the same with a switch: {mutant}")
                faults += 1
    print(f"{faults} faults in {len(mutants)} changes")
    return faults != 0 or len(mutants) < 40


if __name__ == "__main__":
    sys.exit(main())
