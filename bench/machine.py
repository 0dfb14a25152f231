"""Describes the machine, and measures how much of it other work took during the runs."""

import os
import platform
import resource
import time
from pathlib import Path


def describe() -> str:
    """The processor, its cores and the system."""
    return f"{processor()}, {os.cpu_count()} cores, {memory()}, {platform.system()}"


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor() or 'unknown processor'} ({platform.machine()})"


def memory() -> str:
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB of memory"


class Watch:
    """Counts, while entered, the cores busy with other work. ``others`` is None where there is no /proc/stat."""

    def __enter__(self):
        self.others = None
        self._began = time.perf_counter(), busy_seconds(), own_seconds()
        return self

    def __exit__(self, *_):
        began, busy, own = self._began
        now = busy_seconds()
        if busy is not None and now is not None:
            self.others = max(0.0, (now - busy) - (own_seconds() - own)) / (time.perf_counter() - began)


def busy_seconds() -> float | None:
    """Seconds that the cores of this machine were not idle. Time stolen by a hypervisor counts as busy."""
    try:
        _, *ticks = Path("/proc/stat").read_text().splitlines()[0].split()
    except OSError:
        return None
    user, nice, system, _idle, _waiting, *interrupts = map(int, ticks[:8])
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")


def own_seconds() -> float:
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
