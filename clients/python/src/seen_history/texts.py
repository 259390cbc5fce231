"""CSV and TSV of any dialect. Every cell is its text. A row is a record: row 1 is the header."""

import csv
import re
import shlex

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from seen_history.mapping import Damaged, Unreadable

RECORD_BYTES_MAX = 64 * 1024  # of a record of several lines: a quote that is never closed takes no more
SEPARATORS = ",;|\t"
MARK = "\ufeff"  # some programs write the byte order mark twice, or into the quotes
ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f", "v": "\v"}  # Postgres, ClickHouse
csv.field_size_limit(1 << 30)


class Rows:
    """`batch` has the rows from number `first` on."""

    def __init__(self, first, batch):
        self.first, self.batch, self.count = first, batch, batch.num_rows


class Lines:
    """Events as they are: `data` has `count` lines, from row `first` on."""

    def __init__(self, first, data, count):
        self.first, self.data, self.count = first, data, count


class Problem:
    """A row that isn't one."""

    count = 1

    def __init__(self, first, why, text):
        self.first, self.why, self.text = first, why, text


def check_separator(separator):
    if len(separator) > 1 or not separator.isascii() or separator in '"\r\n':
        raise Unreadable(f"--separator: {separator}: expected one ASCII character, such as ;")


def cells_of(line, separator, spaced=True):
    return next(csv.reader([line], delimiter=separator, skipinitialspace=spaced), [])


def header_of(chunks, separator, mapping):
    """(separator, columns, padded columns, whether a space follows each separator, rows before the first, what follows
    in the chunk)."""
    chunk, rows_before, header = b"", 0, ""
    while not header:
        line, cut, chunk = chunk.partition(b"\n")
        if not cut:
            chunk = next(chunks, b"")
            if not chunk:
                raise Unreadable("no header: the file is empty")
            continue
        rows_before += 1
        header = line.decode("utf-8", "surrogateescape").lstrip(MARK).strip("\r ")
        if re.fullmatch(r'"?sep=."?', header.strip("\t")):  # of Excel
            separator, header = separator or header.strip('"')[4], ""
    if header[0] in "{[":
        return None, header, (), False, rows_before, chunk
    tries = {each: cells_of(header, each) for each in ([separator] if separator else SEPARATORS)}
    separator = max(tries, key=lambda each: (mapping.knows_user(tries[each]), len(tries[each])))
    columns = [cell.strip().strip(MARK) for cell in tries[separator]]
    if len(columns) < 2:
        raise Unreadable(
            "a table begins with a header of two columns or more. Its first row has no separator"
        )
    cells = cells_of(header, separator, spaced=False)
    spaced = all(cell.startswith(" ") for cell in cells[1:])
    if len(cells) == len(columns):
        padded = [i for i, cell in enumerate(cells) if cell != cell.strip(" \t")]
    else:
        padded = list(range(1, len(columns)))  # a quoted name has a separator
    return separator, columns, padded, spaced, rows_before, chunk


def of_texts(path, texts, options, mapping):
    """(columns, parts) of a table."""
    chunks = texts.lines()
    separator, columns, padded, spaced, rows_before, chunk = header_of(chunks, options.separator, mapping)
    if separator is None:
        raise Unreadable(f"JSON, not a table. Use: seenctl replay {shlex.quote(path)}")
    narrow = mapping.columns_of_fields(columns)
    parser = TextParser(separator, columns, options.quotes, narrow, padded, spaced)

    def parts():
        row, rest, at, damage = rows_before + 1, b"", chunk, None
        while at is not None:
            try:
                following = next(chunks, None)
            except Damaged as error:  # the rows before it come first
                following, damage = None, error
            if rest or at:
                for part in parser.parse(rest + at, row, following is None and damage is None):
                    yield part
                row, rest = parser.row, parser.rest
            at = following
        if damage:
            raise damage

    return columns, parts()


def is_utf8(chunk):
    try:
        chunk.decode()
    except UnicodeDecodeError:
        return False
    return True


class TextParser:
    """Arrow reads whole chunks. Chunks with blank lines, cells of several lines or odd quotes are read by record."""

    def __init__(self, separator, columns, quotes, narrow, padded, spaced):
        """`narrow`: the columns whose cells have no line breaks. `padded`: those with spaces around. `spaced`: a quote
        may follow the space behind a separator."""
        self.separator, self.columns, self.quotes = separator, columns, quotes
        self.narrow, self.padded, self.spaced = narrow, padded, spaced
        self.escapes = separator == "\t"
        self.schema = pa.schema([(str(i), pa.binary()) for i in range(len(columns))])
        near = separator.encode()
        skeleton = bytearray(b"x" * 256)
        for each in near + b'"\n':
            skeleton[each] = each
        self.skeleton = bytes(skeleton)
        near = re.escape(near)
        self.opens = re.compile(b'(?:^|[%s\\n])%s"' % (near, b" *" if spaced else b""))
        self.doubled = re.compile(b'[^%s\\n\\\\"]""|""[^%s\\n"]' % (near, near))
        self.escaped = re.compile(b'[^\\\\](?:\\\\\\\\)*\\\\"(?:[^%s\\n"]|"[%s\\n])' % (near, near))
        self.null = re.compile(b'(?<=[%s\\n])"?\\\\N"?(?=[%s\\n])' % (near, near))
        self.row, self.rest = 1, b""

    def find_quotes(self, chunk):
        """How this chunk quotes, or None if it doesn't show it."""
        if b'"' not in chunk:
            return "none" if self.separator == "\t" and b"\\" in chunk else None
        has_pairs = self.opens.search(chunk) and re.search(
            b'"(?:%s|\\n)' % re.escape(self.separator.encode()), chunk
        )
        if not has_pairs:
            return "none" if self.separator == "\t" else None
        if b'""' in chunk and self.doubled.search(chunk):
            return "doubled"
        if b'\\"' in chunk and self.escaped.search(chunk):
            return "backslash"
        return "doubled" if self.separator == "\t" else None

    def parse(self, chunk, row, is_last):
        """Sets `row`, the next one, and `rest`: the bytes of a record that the next chunk ends."""
        self.row, self.rest = row, b""
        if self.quotes is None and (b'"' in chunk or b"\\" in chunk):
            self.quotes = self.find_quotes(chunk)
        self.escapes = self.separator == "\t" and self.quotes in (None, "none")
        quotes = self.quotes or "doubled"
        if quotes == "none" or b'"' not in chunk:
            is_odd, quote, has_doubled = quotes == "backslash" and b"\\" in chunk, False, True
        else:
            bare = chunk
            if quotes == "backslash":
                chunk = self.null.sub(b"", b"\n" + chunk)[1:]
                bare = chunk.replace(b"\\\\", b"xx").replace(b'\\"', b"xx")
            has_doubled = b'""' in bare
            bare = bare.translate(self.skeleton).replace(b'""', b"")
            is_odd, quote = b'x"x' in bare or bare.startswith(b'x"'), '"'
        is_odd = is_odd or (self.spaced and quote and b' "' in chunk)
        if is_odd or b"\r" in chunk or b"\n\n" in chunk or chunk.startswith(b"\n"):
            yield from self.by_record(chunk, quotes, is_last)
            return
        invalid = []

        def note(bad):
            invalid.append((bad.number, self.count_of(bad.actual_columns), bad.text))
            return "skip"

        try:
            table = pa.csv.read_csv(
                pa.BufferReader(chunk),
                pa.csv.ReadOptions(
                    use_threads=False, column_names=self.schema.names, block_size=len(chunk) + 1
                ),
                pa.csv.ParseOptions(
                    delimiter=self.separator,
                    quote_char=quote,
                    escape_char="\\" if quote and quotes == "backslash" else False,
                    ignore_empty_lines=False,
                    invalid_row_handler=note if is_utf8(chunk) else None,  # Arrow decodes the row for it
                ),
                pa.csv.ConvertOptions(column_types=self.schema, strings_can_be_null=False),
            )
        except pa.ArrowInvalid:
            yield from self.by_record(chunk, quotes, is_last)
            return
        wrong = not has_doubled and quotes == "doubled" and has_quote(table)  # a quote began within a cell
        if wrong or table.num_rows + len(invalid) != chunk.count(b"\n"):
            yield from self.by_record(chunk, quotes, is_last)
            return
        batch = table.combine_chunks().to_batches()[0] if table.num_rows else None
        yield from self.in_order(batch, invalid, table.num_rows + len(invalid))

    def count_of(self, cells):
        return f"{cells} cells, and the header has {len(self.columns)}"

    def in_order(self, batch, invalid, count):
        """`invalid`: (number, why, text), the first number is 1. A text None is a blank line."""
        if batch is not None and self.escapes:
            batch = unescaped(batch)
        if batch is not None and self.padded:
            batch = trimmed(batch, self.padded)
        taken, first, row = 0, self.row, self.row
        for number, why, text in sorted(invalid):
            at = first + number - 1
            if at > row:
                yield Rows(row, batch.slice(taken, at - row))
                taken += at - row
            if text is not None:
                yield Problem(at, why, text)
            row = at + 1
        if batch is not None and taken < batch.num_rows:
            yield Rows(row, batch.slice(taken))
        self.row = first + count

    def by_record(self, chunk, quotes, is_last):
        lines = chunk.decode("utf-8", "surrogateescape").split("\n")
        lines.pop()
        rules = {"quoting": csv.QUOTE_NONE} if quotes == "none" else {"strict": True}
        if quotes == "backslash":
            rules.update(escapechar="\\", doublequote=False)
        rules["skipinitialspace"] = self.spaced
        cells, invalid, count, at = [], [], 0, 0
        while at < len(lines):
            feed = Feed(lines, at)
            reader = csv.reader(feed, delimiter=self.separator, **rules)
            begun = at
            try:
                for parts in reader:
                    begins, at = at, begun + reader.line_num
                    if at - begins > 1 and any("\n" in parts[i] for i in self.narrow if i < len(parts)):
                        at = begins
                        raise csv.Error("a quote isn't closed in its line")
                    count += 1
                    feed.bytes = 0
                    if len(parts) == len(self.columns):
                        cells.append(parts)
                    elif not any(part.strip() for part in parts) and at - begins == 1 and len(parts) < 2:
                        invalid.append((count, "", None))
                    else:
                        invalid.append((count, self.count_of(len(parts)), "\n".join(lines[begins:at])))
            except csv.Error as error:
                if feed.is_at_end and not is_last:
                    self.rest = "\n".join([*lines[at:], ""]).encode("utf-8", "surrogateescape")
                    break
                why = "a quote is never closed" if feed.is_cut else f"a quote is wrong: {error}"
                count += 1
                invalid.append((count, why, lines[at]))
                at += 1
        batch = None
        if cells:
            columns = [
                pa.array([cell.encode("utf-8", "surrogateescape") for cell in column], pa.binary())
                for column in zip(*cells)
            ]
            batch = pa.RecordBatch.from_arrays(columns, schema=self.schema)
        yield from self.in_order(batch, invalid, count)


def has_quote(table):
    return any(pc.any(pc.match_substring(column, b'"')).as_py() for column in table.columns)


class Feed:
    """Lines for a reader, up to the most that a record may have. `bytes` counts those of the record."""

    def __init__(self, lines, at):
        self.lines, self.at, self.bytes = lines, at, 0
        self.is_at_end = self.is_cut = False

    def __iter__(self):
        return self

    def __next__(self):
        if self.at == len(self.lines) or self.bytes > RECORD_BYTES_MAX:
            self.is_at_end = self.bytes <= RECORD_BYTES_MAX
            self.is_cut = True
            raise StopIteration
        line = self.lines[self.at]
        self.at += 1
        self.bytes += len(line) + 1
        return line + "\n"


def unescaped(batch):
    """TSV without quotes knows escapes such as \\t. \\N is null."""
    columns = []
    for column in batch.columns:
        has = pc.and_(pc.match_substring(column, b"\\"), pc.not_equal(column, pa.scalar(b"\\N")))
        if pc.any(has).as_py():
            cells = [re.sub(rb"\\([tnrbfv\\'])", unescape, cell) for cell in column.filter(has).to_pylist()]
            column = pc.replace_with_mask(column, has, pa.array(cells, pa.binary()))
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def trimmed(batch, padded):
    """As their names in the header, the cells of these columns have spaces around them."""
    columns = batch.columns
    for i in padded:
        columns[i] = pc.replace_substring_regex(columns[i], r"^[ \t]+|[ \t]+$", "")
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def unescape(found):
    letter = found[1].decode()
    return ESCAPED.get(letter, letter).encode()
