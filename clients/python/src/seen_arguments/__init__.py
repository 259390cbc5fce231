"""What seen-compare and seen-history share: their command lines."""

from __future__ import annotations

import argparse
from typing import Any


class Arguments(argparse.ArgumentParser):
    """Refuses empty values. A script's unset variable must not count as an option that wasn't given."""

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        if "" in arg_strings:
            raise argparse.ArgumentError(action, "empty: give a value, or leave the argument out")
        return super()._get_values(action, arg_strings)  # type: ignore[misc]
