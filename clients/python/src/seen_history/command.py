"""The command seen-history. Between the lines, marks tell `seenctl replay -` their file and row."""

import hashlib
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone

from seen_arguments import Arguments
from seen_history.mapping import Mapping, Unreadable
from seen_history.rows import Renderer
from seen_history.tables import Damaged, Rows, check_texts, find_files, table_of

FIRST_BLOCK_BYTES = 64 * 1024
LINES_UNTIL_AN_EVENT = 1000


class Unwritten(Exception):
    """Standard output takes nothing more."""


def write_all(file, data):
    data = memoryview(data)
    while data:
        data = data[os.write(file, data) :]


class Output:
    """Standard output, without a copy. A pipe holds less than a part of a table, so a thread writes it while the
    next part is read."""

    def __init__(self):
        self.file = sys.stdout.fileno()
        self.writer = ThreadPoolExecutor(1)
        self.writing = None

    def write(self, data):
        self.flush()
        self.writing = self.writer.submit(write_all, self.file, data)

    def flush(self):
        """Waits for the last write. Raises what that write raised."""
        writing, self.writing = self.writing, None
        try:
            if writing:
                writing.result()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise Unwritten(f"standard output: {error.strerror}") from error

    def mark(self, **about):
        self.write(json.dumps({"seen-history": about}, separators=(",", ":")).encode() + b"\n")


def print_file(path, options, mapping, output):
    with open(path, "rb") as file:
        first_block = file.read(FIRST_BLOCK_BYTES)
    output.mark(
        file=path,
        size=os.path.getsize(path),
        first_block=hashlib.blake2b(first_block, digest_size=8).hexdigest(),
    )
    columns, is_text, parts = table_of(path, options.encoding, options.separator)
    renderer = Renderer(columns, mapping, is_text)
    row = None
    for part in parts:
        first = part.first if isinstance(part, Rows) else part.row
        if first != row:
            output.mark(row=first)
        if isinstance(part, Rows):
            data, bounds = renderer.lines(part.batch)
            output.write(data[bounds[0] : bounds[-1]])
            row = first + part.batch.num_rows
        else:
            output.mark(problem=part.why, text=part.text[:4096])
            row = first + 1
    output.mark(end=True)


def first_time(path, options, mapping):
    """The time of the first event in ms. Files without an event come last."""
    columns, is_text, parts = table_of(path, options.encoding, options.separator)
    renderer = Renderer(columns, mapping, is_text)
    for part in parts:
        if not isinstance(part, Rows):
            continue
        data, bounds = renderer.lines(part.batch.slice(0, LINES_UNTIL_AN_EVENT))
        for line in bytes(data[bounds[0] : bounds[-1]]).splitlines():
            try:
                value = json.loads(line)
                for step in mapping.places["exposed_at"]:
                    value = value[step]
                unit = mapping.unit("exposed_at")
                if unit == "rfc3339":
                    at = datetime.fromisoformat(value.replace("Z", "+00:00"))
                    return (at if at.tzinfo else at.replace(tzinfo=timezone.utc)).timestamp() * 1000
                return float(value) * {"s": 1000, "ms": 1, "us": 0.001}[unit]
            except (ValueError, KeyError, TypeError, AttributeError):
                continue
        break
    return float("inf")


def in_order(files, options, mapping):
    if options.order == "name":
        return files
    times = {}
    for path in files:
        try:
            times[path] = first_time(path, options, mapping)
        except Damaged:
            times[path] = float("inf")
        except (Unreadable, ValueError) as error:
            raise Unreadable(f"{path}: {error}") from error
    return sorted(files, key=lambda path: (times[path], path))


def run(options, output):
    check_texts(options.encoding, options.separator)
    mapping = Mapping.read(options.config) if options.config else Mapping()
    status = 0
    for path in in_order(find_files(options.files), options, mapping):
        try:
            print_file(path, options, mapping, output)
        except BrokenPipeError:
            raise
        except Unreadable as error:
            raise Unreadable(f"{path}: {error}") from error
        except (
            Damaged,
            ValueError,
            OSError,
            EOFError,
        ) as error:  # Arrow's errors are ValueErrors and OSErrors
            status = 1
            print(f"seen-history: {path}: {error}", file=sys.stderr)
            output.mark(damage=f"{path}: {error}")
    return status


def main():
    parser = Arguments(
        prog="seen-history", description=__doc__, epilog="Use: seen-history FILES | seenctl replay -"
    )
    parser.add_argument("files", nargs="+", help="CSV, TSV, Parquet, ORC or Avro: files, folders, globs")
    parser.add_argument("--config", help="seend's configuration: its input.fields")
    parser.add_argument(
        "--order", choices=("name", "time"), default="name", help="by name, or by the first event"
    )
    parser.add_argument("--encoding", help="of CSV and TSV, if it isn't UTF-8: gbk, latin-1, ...")
    parser.add_argument("--separator", help="of CSV, if the header doesn't show it")
    options, output = parser.parse_args(), Output()
    try:
        try:
            status = run(options, output)
        except Unreadable as error:
            print(f"seen-history: {error}", file=sys.stderr)
            output.mark(error=str(error))
            status = 2
        output.flush()
    except BrokenPipeError:
        status = 1
    except Unwritten as error:
        print(f"seen-history: {error}", file=sys.stderr)
        status = 1
    sys.exit(status)
