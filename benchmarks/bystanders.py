"""What else ran on the machine during a measurement. Figures taken beside a build or a noisy neighbour mean
little."""

import os
import pathlib
import time

from contenders.process import TICKS, cpu_s

QUIET_CORES = 0.3


class Bystanders:
    """Counts from construction to `cores()`. `ours`: callables that give the CPU seconds of the measurement's
    own programs."""

    def __init__(self, *ours):
        self.ours = [lambda: cpu_s(os.getpid()), *ours]
        self.begun, self.before = time.monotonic(), self._figures()

    def _figures(self):
        words = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()
        user, nice, system, _idle, _wait, irq, soft, steal = (int(word) / TICKS for word in words[1:9])
        return user + nice + system + irq + soft - sum(cpu() for cpu in self.ours), steal

    def cores(self):
        """(cores that other programs used, cores that the hypervisor gave to other machines)."""
        took = max(1e-3, time.monotonic() - self.begun)
        return tuple((now - before) / took for now, before in zip(self._figures(), self.before))


def quiet(result):
    return result.get("others_cores", 0) + result.get("stolen_cores", 0) < QUIET_CORES
