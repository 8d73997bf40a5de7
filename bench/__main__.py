"""`python -m bench`: each measurement in turn, as a Markdown table, one JSON file and plots."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import replace
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bench.plots import draw
from bench.record import Measurement, table

MEASUREMENTS = ("scheduler", "explore", "prove", "fuzz", "bugs", "decide", "events", "host")
PACKAGES = ("hypothesis", "z3-solver", "cvc5", "simpy", "minicheck", "crosshair-tool", "msgspec", "matplotlib")
SEED = 0
"""Of whatever is random in any measurement."""


def main() -> int:
    """Measure what is asked for; the exit code."""
    parser = argparse.ArgumentParser("python -m bench", description=__doc__)
    parser.add_argument("--only", choices=MEASUREMENTS, action="append", help="this one (may be given again)")
    parser.add_argument("--quick", action="store_true", help="the smallest size of each: to see that it runs")
    parser.add_argument("--out", type=Path, default=Path("build/bench"), metavar="DIR", help="for plots and JSON")
    parser.add_argument("--json", type=Path, metavar="FILE", help="(default: bench.json in DIR)")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    found: dict[str, Measurement] = {}
    took: dict[str, float] = {}
    for name in options.only or MEASUREMENTS:
        print(f"measuring {name}", file=sys.stderr, flush=True)
        began = time.monotonic()
        found[name] = import_module(f"bench.{name}").measure(options.quick)
        took[name] = round(time.monotonic() - began, 1)
    record = machine() | {
        "quick": options.quick,
        "seed": SEED,
        "command": ["python", "-m", "bench", *sys.argv[1:]],
        "measurements": {name: each.as_json() | {"seconds": took[name]} for name, each in found.items()},
    }
    for path in draw(found, options.out):
        print(f"plotted {path}", file=sys.stderr)
    (options.json or options.out / "bench.json").write_text(json.dumps(record, indent=1) + "\n")
    print("\n".join(line for each in found.values() for line in each.markdown()))
    short = [replace(row, what=f"{name}: {row.what}") for name in found for row in found[name].rows if row.in_short]
    print("### In short", "", *table(short), sep="\n")
    print(in_words(record, sum(took.values())))
    return 0


def machine() -> dict[str, Any]:
    """What the figures were taken on."""
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "load_before": [round(each, 2) for each in os.getloadavg()],
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": {name: found for name in PACKAGES if (found := installed(name))},
        "revision": revision(),
    }


def processor() -> str:
    """Its name, where the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def installed(package: str) -> str | None:
    """Its version."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def revision() -> str:
    """The commit, and whether the files differ from it."""
    try:
        said = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return said.stdout.strip()


def in_words(record: dict[str, Any], seconds: float) -> str:
    """The machine for people."""
    versions = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
    return (
        f"{record['processor']}, {record['cores']} cores, {record['memory_gib']} GiB; Python {record['python']}; "
        f"{versions}; load before {record['load_before'][0]}; seed {record['seed']}; {seconds:.0f} s in all."
    )


if __name__ == "__main__":
    raise SystemExit(main())
