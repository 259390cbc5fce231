"""Runs tasks beside each other: each after those that it needs, and no more at once than there are
processors."""

import concurrent.futures
import dataclasses
import time
import traceback
from collections.abc import Callable

from running.counts import Counts
from running.process import JOBS, cpu_seconds_spent, say, stop


@dataclasses.dataclass(eq=False)
class Task:
    """`action` returns its Counts, or the tasks that continue it. `processors`: 1 for a test binary, JOBS for
    what runs that many processes by itself, 0 for what waits most of the time."""

    part: str
    name: str
    action: Callable
    after: tuple = ()
    processors: int = 1


@dataclasses.dataclass
class PartTime:
    begun: float
    ended: float = 0.0
    cpu: float = 0.0


class Schedule:
    """The order of `tasks` is their priority. A task whose predecessor failed is left out."""

    def __init__(self, tasks):
        self.waiting = list(tasks)
        self.running = {}  # future -> task
        self.succeeded, self.failed = set(), set()
        self.total, self.parts = Counts(), {}

    def run(self):
        with concurrent.futures.ThreadPoolExecutor(64) as pool:
            try:
                while self.waiting or self.running:
                    self.start(pool)
                    done, _ = concurrent.futures.wait(
                        self.running, return_when=concurrent.futures.FIRST_COMPLETED
                    )
                    for future in done:
                        self.finish(self.running.pop(future), *future.result())
            except BaseException:
                stop.set()  # the pool waits for its threads, and they for their commands
                raise
        return self.total

    def start(self, pool):
        for task in list(self.waiting):
            if self.failed & set(task.after):
                self.waiting.remove(task)
                self.failed.add(task)
                say(f"left out: {task.name}, because something that it needs failed")
            elif self.succeeded.issuperset(task.after) and (
                task.processors == 0 or self.processors_free() > 0
            ):
                # A task of many processes may begin beside the last of single ones: better one too many than
                # one idle.
                self.waiting.remove(task)
                self.parts.setdefault(task.part, PartTime(time.monotonic()))
                self.running[pool.submit(perform, task)] = task
        assert self.running or not self.waiting, f"waits in a circle: {[task.name for task in self.waiting]}"

    def processors_free(self):
        return JOBS - sum(task.processors for task in self.running.values())

    def finish(self, task, outcome, cpu_s):
        part = self.parts[task.part]
        part.ended, part.cpu = time.monotonic(), part.cpu + cpu_s
        counts = outcome if isinstance(outcome, Counts) else Counts()
        self.total.add(counts)
        if counts.failed and task.part.startswith("build"):
            self.failed.add(task)
            return
        self.succeeded.add(task)
        if not isinstance(outcome, Counts):
            self.waiting[:0] = outcome

    def times(self):
        """A table. Parts run beside each other, so their times add up to more than the whole."""
        width = max(map(len, self.parts), default=0)
        yield f"{'part':<{width}}  {'seconds':>8}  {'CPU seconds':>11}"
        for name, part in self.parts.items():
            yield f"{name:<{width}}  {part.ended - part.begun:>8.0f}  {part.cpu:>11.0f}"


def perform(task):
    try:
        outcome = task.action()
    except Exception:  # pylint: disable=broad-except  # a task that breaks is one that failed
        say(f"FAILED {task.name}\n{traceback.format_exc()}")
        outcome = Counts(failed=1)
    return outcome, cpu_seconds_spent()
