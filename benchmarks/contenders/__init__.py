"""All contenders, in the order of the table. A module that is missing or doesn't load becomes a row with the
reason."""

import importlib

import paths  # noqa: F401
from contenders.process import Contender, Missing

MODULES = ["limit", "seend", "flink", "kafka_streams", "redis"]


class Absent(Contender):
    def __init__(self, name, reason):
        self.name = self.title = name
        self.reason = reason

    def prepare(self):
        raise Missing(self.reason)


def all_contenders():
    found = []
    for name in MODULES:
        try:
            found += importlib.import_module(f"contenders.{name}").CONTENDERS
        except (ImportError, AttributeError) as error:
            found.append(Absent(name, f"not in this checkout ({error})"))
    return found
