"""Renders Arrow's columns as JSON lines. Whole columns are rendered at once; only odd cells go one by one."""

import json
import re

import pyarrow as pa
import pyarrow.compute as pc

from seen_history.mapping import NUMBERS, TIMES, Unreadable, pieces_of

TO_ESCAPE = bytes([*range(32), ord('"'), ord("\\")])
NUMBER = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$"  # source: RFC 8259, section 6
# In a column that is no field, only what every reader of JSON takes is a number.
LITERAL = r"^(-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,17})?([eE][+-]?[0-9]{1,2})?|true|false)$"
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3}  # in ns
NULL_MARKS = pa.array([b"", b"\\N", b"NULL"])
NULL = pa.scalar(b"null")
# Of a float, each whole number below it is exact. A larger one may have been another number.
EXACT = {16: 2**11, 32: 2**24, 64: 2**53}
LIST_SIGNS = " |;\t\u3001\uff0c\uff1b"  # the last three: Chinese commas and semicolon
ONE_ID = f"[^,'\"{LIST_SIGNS}]+"
LIKE_LISTS = re.compile(
    "|".join(
        f"{ONE_ID}(?:{' +' if sign == ' ' else f' *{re.escape(sign)} *'}{ONE_ID})+" for sign in LIST_SIGNS
    )
)
LIST_CELLS_LOOKED_AT = 1000
LIST_SHARE_MIN = 0.2
EXAMPLE_CHARACTERS_MAX = 40
ID = r"""[^\x00-\x20,'"\\\[\]{}()]+"""
USUAL_LISTS = (  # form, what becomes what in it, and what stands around it
    (f"^{ID}(,{ID})*$", b",", b'","', (b'["', b'"]')),
    (rf"^\['{ID}'(, ?'{ID}')*\]$", b"'", b'"', (b"", b"")),
    (rf'^\["{ID}"(, ?"{ID}")*\]$', b'"', b'"', (b"", b"")),
)
LISTED = re.compile(
    r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s,'"\[\]{}()][^,'"\[\]{}()\n]*?))\s*(?:,|$|(?<=['"\s])(?=['"]))"""
)


def one_by_one(column, render):
    return pa.array([None if cell is None else render(cell) for cell in column.to_pylist()], pa.binary())


def without(column, mask):
    """Nulls where the mask holds. Arrow 19's if_else loses bytes of a slice."""
    return (
        pc.replace_with_mask(column, mask, pa.scalar(None, column.type)) if pc.any(mask).as_py() else column
    )


def contents(column):
    """The bytes of all cells."""
    _, offsets, data = column.buffers()
    if data is None or len(column) == 0:
        return b""
    bounds = memoryview(offsets).cast("i")
    return memoryview(data)[bounds[column.offset] : bounds[column.offset + len(column)]].tobytes()


def dumped(value):
    if isinstance(value, bytes):
        return as_json(value.decode("utf-8", "surrogateescape"))
    return as_json(value)


def as_json(value):
    return json.dumps(value, default=plain, ensure_ascii=False, allow_nan=False).encode(
        "utf-8", "surrogateescape"
    )


def plain(value):
    """What JSON has no type for."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def quoted(column):
    data = contents(column)
    joined = pc.binary_join_element_wise(b'"', column, b'"', b"")
    if len(data.translate(None, TO_ESCAPE)) != len(data):
        odd = pc.fill_null(pc.match_substring_regex(column, pattern=r'[\x00-\x1f"\\]'), False)
        joined = pc.replace_with_mask(joined, odd, one_by_one(column.filter(odd), dumped))
    return joined


def repaired(column):
    """Bytes that aren't UTF-8 become U+FFFD. An id keeps them: then the decoder rejects the event."""
    data = contents(column)
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError:
            return one_by_one(column, lambda cell: cell.decode("utf-8", "replace").encode())
    return column


def list_cell(cell, separator=None):
    """A list of ids: JSON, ['a', 'b'], {a,b} or a,b. Every id is its text. A separator takes the comma's place, except
    in JSON and between quotes."""
    text = cell.decode("utf-8", "surrogateescape").strip()
    inside = text[1:-1] if text[:1] + text[-1:] in ("[]", "{}", "()") else None
    if inside is None and text[:1] in ("[", "{"):
        return dumped(text)  # the decoder rejects it, with the reason
    if inside is None and not separator:
        return dumped([part.strip() for part in text.split(",")])
    if text[:1] == "[":
        try:
            ids = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
            if not all(each is None or isinstance(each, str) for each in ids):
                return cell.replace(b"\n", b" ").replace(b"\r", b" ")
            return dumped(ids)
        except ValueError:
            pass
    if separator and (inside is None or not re.search("[,'\"]", inside)):
        parts = [part.strip() for part in (text if inside is None else inside).split(separator)]
        return dumped([part for part in parts if part])
    ids, at = [], 0
    while at < len(inside):
        found = LISTED.match(inside, at)
        if not found:
            return dumped(text)
        text_of_id = found[3] if found[3] is not None else re.sub(r"\\(.)", r"\1", found[1] or found[2] or "")
        ids.append(None if found[3] in ("None", "NULL", "null") else text_of_id)
        at = found.end()
    return dumped(ids)


def looks_like_lists(column):
    """An example, if many of the first cells seem to have several ids without a comma."""
    cells = column.slice(0, LIST_CELLS_LOOKED_AT).drop_null().cast(pa.binary()).to_pylist()
    texts = [cell.decode("utf-8", "replace").strip() for cell in cells]
    alike = [text for text in texts if LIKE_LISTS.fullmatch(text.strip("[](){} "))]
    return alike[0][:EXAMPLE_CHARACTERS_MAX] if alike and len(alike) >= LIST_SHARE_MIN * len(cells) else None


def of_list_cells(column, separator):
    """As `list_cell`. The usual forms are rendered at once."""
    if separator:
        return one_by_one(column, lambda cell: list_cell(cell, separator))
    rendered, done = column, pc.is_null(column)
    for form, old, new, around in USUAL_LISTS:
        fits = pc.fill_null(pc.match_substring_regex(column, form), False)
        if pc.any(fits).as_py():
            texts = pc.replace_substring(column.filter(fits), old, new)
            texts = pc.binary_join_element_wise(around[0], texts, around[1], b"")
            rendered, done = pc.replace_with_mask(rendered, fits, texts), pc.or_(done, fits)
    rest = pc.invert(done)
    return pc.replace_with_mask(rendered, rest, one_by_one(column.filter(rest), list_cell))


def of_text(column, form, is_table_of_texts, list_separator=None):
    column = column.cast(pa.binary())
    if is_table_of_texts:
        column = without(column, pc.is_in(column, NULL_MARKS))
    if form == "list":
        return of_list_cells(column, list_separator)
    if form != "text":
        column = repaired(column)
    if form == "text" or (form == "other" and not is_table_of_texts):
        return quoted(column)
    is_literal = pc.match_substring_regex(column, NUMBER if form == "number" else LITERAL)
    if pc.all(is_literal).as_py() is not False:
        return column
    others = pc.invert(pc.fill_null(is_literal, True))
    return pc.replace_with_mask(column, others, quoted(column.filter(others)))


def of_time(column, field, unit):
    """A timestamp in the configured unit; without a field, as text."""
    if pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("ms"))
    if field not in TIMES or unit == "rfc3339":
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False).cast(pa.int64())
        column = column.cast(pa.timestamp("us"))  # in UTC
        return pc.binary_join_element_wise('"', pc.strftime(column, "%Y-%m-%dT%H:%M:%S"), 'Z"', "").cast(
            pa.binary()
        )
    ticks = column.cast(pa.int64())
    ratio = UNITS[unit] // {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[column.type.unit]
    if ratio > 1:
        ticks = pc.divide(ticks, ratio)
    elif ratio == 0:
        ticks = pc.multiply_checked(ticks, {"s": 10**9, "ms": 10**6}[column.type.unit] // UNITS[unit])
    return ticks.cast(pa.string()).cast(pa.binary())


def of_number(column, form, place):
    exact = EXACT[column.type.bit_width] if pa.types.is_floating(column.type) else None
    if pa.types.is_float16(column.type):
        column = column.cast(pa.float32())
    if pa.types.is_floating(column.type):
        column = without(column, pc.fill_null(pc.invert(pc.is_finite(column)), False))
        if form in ("text", "list") and pc.any(pc.greater_equal(pc.abs(column), exact)).as_py():
            refuse_inexact(name_of(place), exact)
        whole = pc.and_(pc.equal(pc.trunc(column), column), pc.less(pc.abs(column), 2.0**63))
        if pc.all(whole).as_py() is not False:  # pandas writes numbers beside nulls as doubles
            column = column.cast(pa.int64())
    if pa.types.is_floating(column.type):
        texts = one_by_one(
            column, lambda cell: (str(int(cell)) if cell.is_integer() else repr(cell)).encode()
        )
    else:
        texts = column.cast(pa.string()).cast(pa.binary())
        if form != "other" and pa.types.is_decimal(column.type):
            texts = pc.replace_substring_regex(texts, r"\.0+$", b"")
    return pc.binary_join_element_wise(b'"', texts, b'"', b"") if form == "text" else texts


def name_of(place):
    return "/".join(step for step in place if step != "*")


def refuse_inexact(column, exact):
    raise Unreadable(
        f"column {column}: ids are floating-point numbers of {exact:,} or more, which aren't exact. Remedy: write this "
        "column as text or as whole numbers (int64)"
    )


TEXTS = [getattr(pa.types, f"is_{kind}") for kind in ("string", "binary", "large_string", "large_binary")]


class Renderer:
    """The lines of one table."""

    def __init__(self, columns, mapping, is_table_of_texts=False, list_separator=None, note_list=None):
        """`note_list` is called with a column and an example, if its cells look like lists that aren't split."""
        self.places = [mapping.place_of(column, columns) for column in columns]
        mapping.check(columns, self.places)
        self.mapping, self.is_table_of_texts = mapping, is_table_of_texts
        self.list_separator, self.note_list = list_separator, note_list
        self.pieces, self.order = pieces_of(self.places)
        self.pieces[-1] += b"\n"

    def cells(self, column, place):
        field = self.mapping.field_at(place)
        form = "other" if field is None else "list" if field == "items" else "text"
        if field in NUMBERS:
            form = "number"
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        kind = column.type
        if pa.types.is_null(kind):
            return column.cast(pa.binary())
        if pa.types.is_fixed_size_binary(kind):
            return of_text(column.cast(pa.binary()), form, False)
        if isinstance(kind, pa.BaseExtensionType):
            return one_by_one(column, lambda cell: dumped(str(cell)))
        if any(each(kind) for each in TEXTS):
            if form == "list" and self.note_list and not self.list_separator:
                example = looks_like_lists(column)
                if example:
                    self.note_list(name_of(place), example)
                if column.null_count < len(column):
                    self.note_list = None
            return of_text(column, form, self.is_table_of_texts, self.list_separator)
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            return of_time(column, field, self.mapping.unit(field))
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            return of_number(column, form, place)
        if pa.types.is_boolean(kind):
            texts = column.cast(pa.string()).cast(pa.binary())
            return quoted(texts) if form == "text" else texts
        if pa.types.is_fixed_size_list(kind):
            column, kind = column.cast(pa.list_(kind.value_type)), pa.list_(kind.value_type)
        if pa.types.is_list(kind) or pa.types.is_large_list(kind):
            return self.of_list(column, place)
        if pa.types.is_struct(kind):
            return self.of_struct(column, place)
        return one_by_one(column, dumped)

    def of_list(self, column, place):
        first, last = column.offsets[0].as_py(), column.offsets[-1].as_py()
        elements = self.cells(column.values.slice(first, last - first), (*place, "*"))
        offsets = pc.subtract(column.offsets, first).cast(pa.int32())
        lists = pa.ListArray.from_arrays(offsets, pc.fill_null(elements, NULL))
        joined = pc.binary_join_element_wise(b"[", pc.binary_join(lists, b","), b"]", b"")
        return without(joined, pc.is_null(column))

    def of_struct(self, column, place):
        parts = []
        for name, member in zip((each.name for each in column.type), column.flatten()):
            parts += [(b"," if parts else b"{") + as_json(name) + b":"]
            parts += [pc.fill_null(self.cells(member, (*place, name)), NULL)]
        if not parts:
            return one_by_one(column, dumped)
        return without(pc.binary_join_element_wise(*parts, b"}", b""), pc.is_null(column))

    def lines(self, batch):
        """The lines of a batch, and where each begins: their bytes, and one offset more than lines."""
        parts = []
        for piece, i in zip(self.pieces, self.order):
            cells = self.cells(batch.column(i), self.places[i])
            parts += [piece, pc.fill_null(cells, NULL) if cells.null_count else cells]
        joined = pc.binary_join_element_wise(*parts, self.pieces[-1], b"")
        _, offsets, data = joined.buffers()
        bounds = memoryview(offsets).cast("i")[joined.offset : joined.offset + len(joined) + 1]
        return memoryview(data) if data else memoryview(b""), bounds
