"""The command seen-history. Between the lines, marks tell `seenctl replay -` their file and row."""

import hashlib
import json
import os
import re
import stat
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone

from seen_arguments import Arguments
from seen_history.mapping import Damaged, Mapping, Unreadable, missing

try:
    from seen_history.encodings import check_encoding
    from seen_history.rows import Renderer
    from seen_history.tables import Table, find_files
    from seen_history.texts import Lines, Problem, check_separator
except ImportError as absent:
    if not absent.name or absent.name.startswith("seen_"):
        raise
    print(f"seen-history: {missing(absent.name)}", file=sys.stderr)
    print(json.dumps({"seen-history": {"error": missing(absent.name)}}))
    sys.exit(2)

FIRST_BLOCK_BYTES = 64 * 1024
LINES_UNTIL_AN_EVENT = 1000
REDRAW_S = 0.2
BAR_CELLS = 24
REJECTED_SHARE_MAX = 0.01  # as replay's --rejects-max
MESSAGE_CHARACTERS_MAX = 500


class Unwritten(Exception):
    """Standard output takes nothing more."""


def shown(text):
    """A text of outside, such as a file's name, for a terminal or a mark."""
    text = str(text).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def say(text):
    print(f"seen-history: {shown(text)[:MESSAGE_CHARACTERS_MAX]}", file=sys.stderr)


def write_all(file, data):
    data = memoryview(data)
    while data:
        data = data[os.write(file, data) :]


class Output:
    """Standard output, without a copy. A pipe holds less than a part of a table, so a thread writes it while the
    next part is read. A terminal gets JSON in ASCII, so nothing of a row controls it."""

    def __init__(self):
        self.file = sys.stdout.fileno()
        self.is_terminal = os.isatty(self.file)
        self.is_pipe = stat.S_ISFIFO(os.fstat(self.file).st_mode)
        self.writer = ThreadPoolExecutor(1)
        self.writing = None

    def write(self, data):
        self.flush()
        if self.is_terminal:
            text = bytes(data).decode("utf-8", "replace")
            data = re.sub(
                r"[^\n -~]", lambda found: json.dumps(found[0])[1:-1].replace("\x7f", "\\u007f"), text
            )
            data = data.encode()
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


class Bar:
    """The progress on standard error, if that is a terminal. In a pipe, `seenctl replay` draws the one bar."""

    def __init__(self, total, output):
        self.total, self.before, self.rows = max(total, 1), 0, 0
        self.is_on = os.isatty(sys.stderr.fileno()) and not output.is_pipe and not output.is_terminal
        self.began = time.monotonic()
        self.next, self.is_drawn = self.began + REDRAW_S, False

    def update(self, position, rows):
        self.rows += rows
        if self.is_on and time.monotonic() >= self.next:
            self.next = time.monotonic() + REDRAW_S
            self.draw(self.before + position)

    def draw(self, position):
        self.is_drawn = True
        part = min(1.0, position / self.total)
        cells = int(part * BAR_CELLS)
        rate = self.rows / max(time.monotonic() - self.began, 1e-3)
        print(
            f"\r\x1b[Kseen-history [{'#' * cells}{'.' * (BAR_CELLS - cells)}] {100 * part:3.0f}% "
            f"{self.rows:,} rows, {rate:,.0f}/s",
            end="",
            file=sys.stderr,
            flush=True,
        )

    def end(self):
        if self.is_drawn:
            print(file=sys.stderr, flush=True)
            self.is_drawn = False


def values_at(value, steps):
    """The values that a place leads to, of all elements of its arrays."""
    if not steps:
        yield value
    elif steps[0] == "*" and isinstance(value, list):
        for each in value:
            yield from values_at(each, steps[1:])
    elif isinstance(value, dict) and steps[0] in value:
        yield from values_at(value[steps[0]], steps[1:])


def ms_of(value, unit):
    if unit == "rfc3339":
        at = datetime.fromisoformat(value.replace("Z", "+00:00"))
        return (at if at.tzinfo else at.replace(tzinfo=timezone.utc)).timestamp() * 1000
    return float(value) * {"s": 1000, "ms": 1, "us": 0.001}[unit]


class Run:
    def __init__(self, options, output):
        self.options, self.output = options, output
        self.mapping = Mapping.read(options.config) if options.config else Mapping()
        self.rows = self.rejected = 0
        self.bar = None
        self.is_damaged = self.has_noted_list = False

    def open(self, path, note=lambda encoding: None):
        """(table, renderer). A renderer None: the rows are events already."""
        table = Table(path, self.options, self.mapping, note)
        if not table.columns:
            return table, None

        def note_list(column, example):
            if not self.has_noted_list:
                self.has_noted_list = True
                self.say(
                    f"{path}: column {column}: a cell such as '{example}' is one id. If it is a list, give "
                    "--list-separator"
                )

        separator = self.options.list_separator
        return table, Renderer(table.columns, self.mapping, table.is_text, separator, note_list)

    def say(self, text):
        if self.bar:
            self.bar.end()
        say(text)

    def print_file(self, path):
        with open(path, "rb") as file:
            first_block = file.read(FIRST_BLOCK_BYTES)
        self.output.mark(
            file=shown(path),
            size=os.path.getsize(path),
            first_block=hashlib.blake2b(first_block, digest_size=8).hexdigest(),
        )

        def note(encoding):
            self.say(f"{path}: isn't UTF-8, so it is read as {encoding}. If that is wrong, give --encoding")

        table, renderer = self.open(path, note)
        row = None
        for part in table.parts:
            if part.first != row:
                self.output.mark(row=part.first)
            if isinstance(part, Problem):
                self.rejected += 1
                if self.rejected == 1 and not self.output.is_pipe:
                    self.say(f"{path}: row {part.first}: {part.why}")  # never its text
                text = part.text[:4096].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
                self.output.mark(problem=part.why, text=text)
            elif isinstance(part, Lines):
                self.output.write(part.data)
            else:
                data, bounds = renderer.lines(part.batch)
                self.output.write(data[bounds[0] : bounds[-1]])
            row = part.first + part.count
            self.rows += part.count
            self.bar.update(table.position(), part.count)
        if row is None:
            self.say(f"{path}: has no row")
        self.output.mark(end=True)

    def first_time(self, path):
        """The time of the first event in ms. Files without an event come last."""
        table, renderer = self.open(path)
        for part in table.parts:
            if isinstance(part, Problem):
                continue
            if isinstance(part, Lines):
                lines = part.data.splitlines()[:LINES_UNTIL_AN_EVENT]
            else:
                data, bounds = renderer.lines(part.batch.slice(0, LINES_UNTIL_AN_EVENT))
                lines = bytes(data[bounds[0] : bounds[-1]]).splitlines()
            for line in lines:
                at = self.time_of(line)
                if at is not None:
                    return at
            break
        return float("inf")

    def time_of(self, line):
        try:
            event = json.loads(line)
        except ValueError:
            return None
        places = self.mapping.places
        for field in filter(places.get, ("exposed_at", "items_exposed_at")):
            for value in values_at(event, places[field]):
                try:
                    return ms_of(value, self.mapping.unit(field))
                except (ValueError, TypeError, AttributeError):
                    pass
        return None

    def in_order(self, files):
        if self.options.order == "name":
            return files
        times = {}
        for path in files:
            try:
                times[path] = self.first_time(path)
            except Damaged:
                times[path] = float("inf")
            except (Unreadable, ValueError) as error:
                raise Unreadable(f"{path}: {error}") from error
        return sorted(files, key=lambda path: (times[path], path))

    def print_all(self):
        """The exit status, as that of replay."""
        files = self.in_order(find_files(self.options.files))
        self.bar = Bar(sum(map(os.path.getsize, files)), self.output)
        for path in files:
            try:
                self.print_file(path)
            except BrokenPipeError:
                raise
            except Unreadable as error:
                raise Unreadable(f"{path}: {error}") from error
            except (Damaged, ValueError, OSError, EOFError, NotImplementedError) as error:
                # Arrow's errors are ValueErrors and OSErrors. Their texts may show cells: only the first line is told.
                self.is_damaged = True
                why = str(error).splitlines()[0] if str(error) else "cut off"
                self.say(f"{path}: {why}")
                self.output.mark(damage=shown(f"{path}: {why}"))
            self.bar.before += os.path.getsize(path)
        self.bar.end()
        if self.rejected and not self.output.is_pipe:
            say(f"{self.rejected:,} of {self.rows:,} rows can't be events")
        if self.is_damaged:
            return 1
        if not self.rows:
            raise Unreadable(f"{files[-1]}: no row, nor in any other file of this run")
        return 3 if self.rejected > REJECTED_SHARE_MAX * self.rows and not self.output.is_pipe else 0


def main():
    parser = Arguments(
        prog="seen-history", description=__doc__, epilog="Use: seen-history FILES | seenctl replay -"
    )
    parser.add_argument(
        "files",
        nargs="+",
        help="CSV, TSV, Parquet, ORC, Avro, Excel, JSON arrays: files, folders, globs",
    )
    parser.add_argument("--config", help="seend's configuration: its input.fields")
    parser.add_argument(
        "--order", choices=("name", "time"), default="name", help="by name, or by the first event"
    )
    parser.add_argument("--encoding", help="of CSV and TSV, if it isn't UTF-8: gbk, latin-1, big5, ...")
    parser.add_argument("--separator", help="of CSV, if the header doesn't show it")
    parser.add_argument("--list-separator", help="of ids in a cell of items, if it isn't the comma: | or ' '")
    parser.add_argument(
        "--quotes", choices=("doubled", "backslash", "none"), help="how CSV has a quote in a cell"
    )
    parser.add_argument("--sheet", help="of a workbook with several sheets")
    options, output = parser.parse_args(), Output()
    run = None
    try:
        try:
            if options.encoding:
                check_encoding(options.encoding)
            if options.separator:
                check_separator(options.separator)
            run = Run(options, output)
            status = run.print_all()
        except Unreadable as error:
            (run.say if run else say)(error)
            output.mark(error=shown(error))
            status = 2
        output.flush()
    except BrokenPipeError:
        status = 1
    except Unwritten as error:
        say(error)
        status = 1
    sys.exit(status)
