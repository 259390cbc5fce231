"""Reads tables as Arrow's batches. The bytes of a file decide its format, not its name."""

import codecs
import csv
import glob
import gzip
import os
import re

import pyarrow as pa
import pyarrow.csv

from seen_history.mapping import Unreadable

CHUNK_BYTES = 4 * 1024 * 1024
ROWS_AT_ONCE = 65_536
SEPARATORS = ",;|\t"
ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}


class Damaged(Exception):
    """A file that is cut off or broken after what was read."""


class Rows:
    """`batch` has the rows from number `first` on."""

    def __init__(self, first, batch):
        self.first, self.batch = first, batch


class Problem:
    """A row that isn't one."""

    def __init__(self, row, why, text):
        self.row, self.why, self.text = row, why, text


def find_files(arguments):
    """All files of names, folders and globs, by name. Leaves out names in folders that begin with . or _."""
    files = set()
    for argument in arguments:
        named = [argument] if os.path.exists(argument) else glob.glob(argument)
        if not named:
            raise Unreadable(f"{argument}: no such file, and no file matches it")
        for name in named:
            found = list(files_in(name)) if os.path.isdir(name) else [os.path.realpath(name)]
            if not found:
                raise Unreadable(
                    f"{name}: this folder has no file; names that begin with . or _ are left out"
                )
            files.update(found)
    return sorted(files)


def files_in(folder):
    seen = set()
    for where, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(where)
        folders[:] = [name for name in folders if name[0] not in "._"] if real not in seen else []
        if real not in seen:
            yield from (os.path.join(real, name) for name in names if name[0] not in "._")
        seen.add(real)


def check_texts(encoding, separator):
    """Raises Unreadable if no table of texts can have them."""
    try:
        if encoding:
            "".encode(encoding)  # refuses codecs that aren't of texts, such as hex
            codecs.getincrementaldecoder(encoding)("replace").decode(b"a,b\n")
    except (LookupError, UnicodeError) as error:
        raise Unreadable(
            f"--encoding: {encoding}: no encoding of texts. Give a name that Python knows, such as gbk or latin-1"
        ) from error
    if separator and (len(separator) > 1 or not separator.isascii() or separator in '"\r\n'):
        raise Unreadable(f"--separator: {separator}: expected one ASCII character, such as ;")


def table_of(path, encoding=None, separator=None):
    """(columns, whether all cells are texts, an iterator of Rows and Problems)."""
    with open(path, "rb") as file:
        first = file.read(8)
    if first.startswith(b"PAR1"):
        import pyarrow.parquet as parquet

        return of_arrow(parquet.ParquetFile(path, coerce_int96_timestamp_unit="us"))
    if first.startswith(b"ORC"):
        import pyarrow.orc as orc

        return of_orc(orc.ORCFile(path))
    if first.startswith(b"Obj\x01"):
        return of_avro(path)
    return of_texts(path, first, encoding, separator)


def numbered(batches):
    row = 1
    for batch in batches:
        yield Rows(row, batch)
        row += batch.num_rows


def of_arrow(file):
    return file.schema_arrow.names, False, numbered(file.iter_batches(ROWS_AT_ONCE))


def of_orc(file):
    batches = (file.read_stripe(i) for i in range(file.nstripes))
    return file.schema.names, False, numbered(batches)


def of_avro(path):
    import fastavro

    def batches():
        rows = []
        with open(path, "rb") as file:
            for row in fastavro.reader(file):
                rows.append(row)
                if len(rows) == ROWS_AT_ONCE:
                    yield pa.RecordBatch.from_pylist(rows)
                    rows = []
        if rows:
            yield pa.RecordBatch.from_pylist(rows, schema=None)

    with open(path, "rb") as file:
        names = [field["name"] for field in fastavro.reader(file).writer_schema["fields"]]
    return names, False, numbered(batches())


def unpacked(path, first):
    if first.startswith(b"\x1f\x8b"):
        return gzip.open(path)
    if first.startswith(b"\x28\xb5\x2f\xfd"):
        return pa.CompressedInputStream(pa.OSFile(path), "zstd")
    return open(path, "rb")


def chunks_of(stream, encoding):
    """Chunks of whole lines in UTF-8, which end in \\n."""
    rest, decoder, is_first, newline = b"", None, True, b"\n"
    try:
        while True:
            chunk = stream.read(CHUNK_BYTES)
            if is_first:
                if encoding is None and chunk[:2] in (b"\xff\xfe", b"\xfe\xff"):
                    encoding = "utf-16"
                decoder = codecs.getincrementaldecoder(encoding)("replace") if encoding else None
            ends = not chunk
            if decoder:
                chunk = decoder.decode(chunk, final=ends).encode()
            if is_first and chunk:
                chunk, is_first = chunk[3:] if chunk.startswith(codecs.BOM_UTF8) else chunk, False
                newline = b"\r" if b"\r" in chunk and b"\n" not in chunk else b"\n"
            if newline == b"\r":
                chunk = chunk.replace(b"\r", b"\n")
            whole, cut, after = (rest + chunk).rpartition(b"\n")
            if cut:
                yield whole + cut
            rest = after
            if ends:
                break
    except (EOFError, OSError, gzip.BadGzipFile, pa.ArrowException) as error:
        raise Damaged(f"cut off or broken: {error}") from error
    if rest:
        yield rest + b"\n"


def of_texts(path, first, encoding, separator):
    chunks = chunks_of(unpacked(path, first), encoding)
    chunk, lines_before, header = b"", 0, ""
    while not header:
        line, cut, chunk = chunk.partition(b"\n")
        if not cut:
            chunk = next(chunks, b"")
            if not chunk:
                raise Unreadable("no header: the file is empty")
            continue
        lines_before += 1
        header = line.decode("utf-8", "surrogateescape").strip("\r ")
    if header[0] in "{[":
        raise Unreadable(f"JSON, not a table. Use: seenctl replay {path!r}")
    counts = {each: header.count(each) for each in SEPARATORS}
    separator = separator or max(counts, key=counts.get)
    if counts.get(separator, header.count(separator)) == 0:
        raise Unreadable(
            "a table begins with a header of two columns or more. Its first row has no separator"
        )
    parser = TextParser(separator, next(csv.reader([header], delimiter=separator)))

    def rows():
        row = lines_before + 1
        for each in [chunk] if chunk else []:
            yield from parser.parse(each, row)
            row += each.count(b"\n")
        for each in chunks:
            yield from parser.parse(each, row)
            row += each.count(b"\n")

    return parser.columns, True, rows()


class TextParser:
    """Every cell is its text. A row is a line: row 1 is the header."""

    def __init__(self, separator, columns):
        self.separator, self.columns = separator, columns
        self.has_quotes = separator != "\t"
        names = [str(i) for i in range(len(columns))]
        self.schema = pa.schema([(name, pa.binary()) for name in names])
        near = re.escape(separator.encode())
        self.odd_quote = re.compile(b'[^%s\\n]"[^%s\\r\\n]' % (near, near))

    def parse(self, chunk, row):
        """Arrow takes a quoted cell over several lines, and text after a quote. Such chunks are read line by line."""
        quotes = self.has_quotes and b'"' in chunk
        if quotes and self.odd_quote.search(chunk.replace(b'""', b"")):
            yield from self.by_line(chunk, row)
            return
        invalid = []

        def note(bad):
            invalid.append((bad.number, self.count_of(bad.actual_columns), bad.text))
            return "skip"

        table = pa.csv.read_csv(
            pa.BufferReader(chunk),
            pa.csv.ReadOptions(use_threads=False, column_names=self.schema.names, block_size=len(chunk) + 1),
            pa.csv.ParseOptions(
                delimiter=self.separator,
                quote_char='"' if quotes else False,
                ignore_empty_lines=False,
                invalid_row_handler=note,
            ),
            pa.csv.ConvertOptions(column_types=self.schema, strings_can_be_null=False),
        )
        if table.num_rows + len(invalid) != chunk.count(b"\n"):
            yield from self.by_line(chunk, row)
            return
        batch = table.combine_chunks().to_batches()[0] if table.num_rows else None
        yield from self.in_order(batch, row, invalid)

    def count_of(self, cells):
        return f"{cells} cells, and the header has {len(self.columns)}"

    def in_order(self, batch, row, invalid):
        if batch is not None and not self.has_quotes:
            batch = unescaped(batch)
        taken, first = 0, row
        for number, why, text in sorted(invalid):
            at = first + number - 1
            if at > row:
                yield Rows(row, batch.slice(taken, at - row))
                taken += at - row
            if text.strip():
                yield Problem(at, why, text)
            row = at + 1
        if batch is not None and taken < batch.num_rows:
            yield Rows(row, batch.slice(taken))

    def by_line(self, chunk, row):
        cells, invalid = [], []
        for number, line in enumerate(chunk.splitlines(), 1):
            text = line.decode("utf-8", "surrogateescape")
            try:
                parts = next(csv.reader([text], delimiter=self.separator, strict=True), [])
                if len(parts) == len(self.columns):
                    cells.append([part.encode("utf-8", "surrogateescape") for part in parts])
                else:
                    invalid.append((number, self.count_of(len(parts)), text))
            except csv.Error as error:
                invalid.append((number, f"a quote is wrong: {error}", text))
        batch = (
            pa.RecordBatch.from_arrays(
                [pa.array(column, pa.binary()) for column in zip(*cells)], schema=self.schema
            )
            if cells
            else None
        )
        yield from self.in_order(batch, row, invalid)


def unescaped(batch):
    """TSV knows the escapes \\t, \\n, \\r and \\\\. \\N is null."""
    columns = []
    for column in batch.columns:
        if pa.compute.any(pa.compute.match_substring(column, b"\\")).as_py():
            column = pa.array(
                [
                    cell
                    if cell == b"\\N"
                    else re.sub(rb"\\([tnr\\])", lambda found: ESCAPED[found[1].decode()].encode(), cell)
                    for cell in column.to_pylist()
                ],
                pa.binary(),
            )
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)
