"""Reads tables as Arrow's batches. The bytes of a file decide its format, not its name."""

import glob
import importlib
import json
import os
import re

import pyarrow as pa

from seen_history.encodings import Texts
from seen_history.mapping import Damaged, Unreadable, missing
from seen_history.rows import EXACT, refuse_inexact
from seen_history.texts import Lines, Problem, Rows, of_texts

ROWS_AT_ONCE = 65_536
OLE = b"\xd0\xcf\x11\xe0"  # .xls


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


class Table:
    """`parts`: an iterator of Rows, Lines and Problems. `columns` is None if rows are events already."""

    def __init__(self, path, options, mapping, note):
        self.file = open(path, "rb")
        self.size = os.path.getsize(path)
        first = self.file.read(8)
        self.file.seek(0)
        self.is_text = False
        if first.startswith(b"PAR1"):
            self.columns, self.parts = of_parquet(self.file)
        elif first.startswith(b"ORC"):
            self.columns, self.parts = of_orc(self.file)
        elif first.startswith(b"Obj\x01"):
            self.columns, self.parts = of_avro(self.file, mapping)
        elif first.startswith(OLE) or (first.startswith(b"PK") and is_workbook(self.file)):
            self.columns, self.parts = of_workbook(self.file, options.sheet, mapping)
        else:
            texts = Texts(path, self.file, options.encoding, note)
            if is_array(path, options.encoding):
                self.columns, self.parts = None, of_array(texts)
            else:
                self.columns, self.parts = of_texts(path, texts, options, mapping)
                self.is_text = True

    def position(self):
        """How many bytes of the file are read."""
        return self.size if self.file.closed else self.file.tell()  # Arrow closes what it read


def module(name):
    """A module that only some formats need."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Unreadable(missing(error.name or name)) from error


def pointer(names):
    return "".join("/" + name.replace("~", "~0").replace("/", "~1") for name in names)


def flat(names, column, kind):
    """(name, column) of a column. The members of a struct are columns with JSON pointers."""
    if pa.types.is_struct(kind):
        members = column.flatten() if column is not None else [None] * kind.num_fields
        for i, member in enumerate(members):
            yield from flat([*names, kind.field(i).name], member, kind.field(i).type)
    else:
        yield names[0] if len(names) == 1 else pointer(names), column


def of_arrow(schema, batches):
    columns = [name for field in schema for name, _ in flat([field.name], None, field.type)]

    def parts():
        row = 1
        for whole in batches:
            for at in range(0, whole.num_rows, ROWS_AT_ONCE):
                batch = whole.slice(at, ROWS_AT_ONCE)
                arrays = [
                    each
                    for name, column in zip(schema.names, batch.columns)
                    for _, each in flat([name], column, column.type)
                ]
                yield Rows(
                    row, pa.RecordBatch.from_arrays(arrays, names=[str(i) for i in range(len(arrays))])
                )
                row += batch.num_rows

    return columns, parts()


def of_parquet(file):
    table = module("pyarrow.parquet").ParquetFile(
        file, coerce_int96_timestamp_unit="us", page_checksum_verification=True
    )
    return of_arrow(table.schema_arrow, table.iter_batches(ROWS_AT_ONCE))


def of_orc(file):
    table = module("pyarrow.orc").ORCFile(file)
    return of_arrow(table.schema, (table.read_stripe(i) for i in range(table.nstripes)))


def snappy(file):
    """A block of Avro: snappy's bytes begin with the unpacked size as a varint, and end with a CRC."""
    import io

    from fastavro._read_py import BinaryDecoder

    data = BinaryDecoder(file).read_bytes()[:-4]
    size = shift = 0
    for byte in data:
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    return io.BytesIO(pa.Codec("snappy").decompress(data, size, asbytes=True))


def zstandard(file):
    import io

    from fastavro._read_py import BinaryDecoder

    data = BinaryDecoder(file).read_bytes()
    return io.BytesIO(pa.CompressedInputStream(pa.BufferReader(data), "zstd").read())


def of_avro(file, mapping):
    fastavro = module("fastavro")

    fastavro.read.BLOCK_READERS.update(snappy=snappy, zstandard=zstandard)
    try:
        reader = fastavro.reader(file)
    except Exception as error:
        raise broken(error) from error
    schema = reader.writer_schema
    if not isinstance(schema, dict) or schema.get("type") != "record":
        raise Unreadable("Avro without columns: its schema is no record")
    names = [field["name"] for field in schema["fields"]]

    def rows():
        try:
            for row in reader:
                yield [row[name] for name in names]
        except Exception as error:
            raise broken(error) from error

    return names, records(names, rows(), mapping.columns_of_ids(names))


def broken(error):
    """fastavro's errors have many types, and none of its own."""
    if "need to install" in str(error):
        return Unreadable(f"Avro: {error}")
    return Damaged(f"cut off or broken: {type(error).__name__} {error}".strip())


def records(names, rows, ids):
    """Parts of rows that are lists of Python's values. `ids`: the columns whose cells must be exact."""
    kept, row, damage = [], 1, None
    while kept is not None:
        try:
            for each in rows:
                kept.append(each)
                if len(kept) == ROWS_AT_ONCE:
                    break
        except Damaged as error:  # the rows before it come first
            damage = error
        if kept:
            yield Rows(row, batch_of(names, kept, ids))
        row, kept = row + len(kept), [] if len(kept) == ROWS_AT_ONCE and not damage else None
    if damage:
        raise damage


def batch_of(names, rows, ids):
    columns = []
    for i, values in enumerate(zip(*rows)):
        try:
            columns.append(pa.array(values))
        except (pa.ArrowException, TypeError, OverflowError):  # several types, or one that Arrow doesn't know
            if i in ids and any(isinstance(value, float) and abs(value) >= EXACT[64] for value in values):
                refuse_inexact(names[i], EXACT[64])
            columns.append(pa.array([text_of(value) for value in values], pa.binary()))
    return pa.RecordBatch.from_arrays(columns, names=[str(i) for i in range(len(names))])


def text_of(value):
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        value = int(value)
    if isinstance(value, (list, dict, bool)):
        value = json.dumps(value, default=str)
    return str(value).encode()


def is_workbook(file):
    import zipfile

    try:
        names = set(zipfile.ZipFile(file).namelist())
    except (zipfile.BadZipFile, OSError, ValueError):
        return False
    finally:
        file.seek(0)
    return bool(names & {"xl/workbook.xml", "xl/workbook.bin", "content.xml"})


def of_workbook(file, sheet, mapping):
    python_calamine = module("python_calamine")
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(file)
        names = book.sheet_names if sheet is None else [sheet]
        if sheet is not None and sheet not in book.sheet_names:
            raise Unreadable(f"--sheet: {sheet}: the workbook has no such sheet")
        sheets = {name: book.get_sheet_by_name(name).to_python(skip_empty_area=False) for name in names}
    except python_calamine.CalamineError as error:
        raise Unreadable(f"a workbook that can't be read: {error}") from error
    filled = {name: rows for name, rows in sheets.items() if any(filled_cells(row) for row in rows)}
    if len(filled) != 1:
        raise Unreadable(
            "a workbook with several sheets. Name one with --sheet" if filled else "the workbook has no cell"
        )
    (rows,) = filled.values()
    head = next(i for i, row in enumerate(rows) if filled_cells(row))
    columns = [str(cell).strip() for cell in rows[head]]
    while columns and not columns[-1]:
        columns.pop()

    def parts():
        for at in range(head + 1, len(rows)):
            kept = [None if cell == "" else cell for cell in rows[at][: len(columns)]]
            yield kept if any(cell is not None for cell in kept) else None

    return columns, filled_records(columns, parts(), head + 2, mapping.columns_of_ids(columns))


def filled_cells(row):
    return [cell for cell in row if cell != ""]


def filled_records(names, rows, row, ids):
    """As `records`, without the rows that are None."""
    kept, first = [], row
    for each in rows:
        if each is None or len(kept) == ROWS_AT_ONCE:
            if kept:
                yield Rows(first, batch_of(names, kept, ids))
            kept, first = [], row + (each is None)
        if each is not None:
            kept.append(each)
        row += 1
    if kept:
        yield Rows(first, batch_of(names, kept, ids))


def is_array(path, encoding):
    """Whether the text begins with a JSON array."""
    with open(path, "rb") as file:
        for chunk in Texts(path, file, encoding, print).raw():
            return chunk.lstrip()[:1] == b"["
    return False


def of_array(texts):
    """The elements of a JSON array, each a line as it is. A batch is what one chunk ends."""
    decode = json.JSONDecoder().raw_decode
    between = re.compile(r"[\s,]*")
    text, at, row, is_open = "", None, 1, True
    chunks = texts.raw()
    pending = b""
    while is_open:
        chunk = next(chunks, None)
        pending += chunk or b""
        cut = len(pending)
        if chunk is not None:
            while cut and pending[cut - 1] & 0xC0 == 0x80:  # not within a character
                cut -= 1
            cut = max(cut - 1, 0)
        text += pending[:cut].decode("utf-8", "surrogateescape")
        pending = pending[cut:]
        if at is None:
            at = text.index("[") + 1
        lines, first = [], row
        while True:
            at = between.match(text, at).end()
            if text.startswith("]", at):
                is_open = False
                break
            try:
                value, end = decode(text, at)
                if end == len(text) and chunk is not None:
                    break  # a number may go on
            except (ValueError, RecursionError) as error:
                if chunk is not None:
                    break
                if lines:
                    yield lines_of(first, lines)
                raise Damaged(f"cut off or broken after element {row - 1} of the array") from error
            if not isinstance(value, dict):
                if lines:
                    yield lines_of(first, lines)
                lines, first = [], row + 1
                yield Problem(row, "an element of the array that is no object", text[at:end])
            else:
                lines.append(text[at:end])
            row, at = row + 1, end
        if lines:
            yield lines_of(first, lines)
        text, at = text[at:], 0
    if text.strip() != "]" or any(chunk.strip() for chunk in chunks) or pending.strip(b" \t\r\n]"):
        raise Damaged("something follows the array")


def lines_of(first, lines):
    joined = "\n".join(line.replace("\n", " ").replace("\r", " ") for line in lines) + "\n"
    return Lines(first, joined.encode("utf-8", "surrogateescape"), len(lines))
