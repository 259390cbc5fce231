"""Texts of any encoding as chunks of UTF-8. Bytes that are no character stay as they are: a reader finds them."""

import bz2
import codecs
import gzip
import lzma
import re
import shlex
import zlib

import pyarrow as pa

from seen_history.mapping import Damaged, Unreadable

CHUNK_BYTES = 4 * 1024 * 1024
ARROW_BYTES = 64 * 1024
LONG_MARKS = ((codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"))
MARKS = (*LONG_MARKS, (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
ZSTD = b"\x28\xb5\x2f\xfd"
PACKED = {
    b"\x1f\x8b": gzip.open,
    b"BZh": lambda file: Streams(file, bz2.BZ2Decompressor, 0),
    b"\xfd7zXZ\x00": lambda file: Streams(file, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ), 4),
    ZSTD: lambda file: pa.CompressedInputStream(pa.PythonFile(file), "zstd"),
    b"\x04\x22\x4d\x18": lambda file: pa.CompressedInputStream(pa.PythonFile(file), "lz4"),
}
ARCHIVES = {
    b"PK\x03\x04": "zip. Unpack it first: unzip {}",
    b"PK\x05\x06": "an empty zip",
    b"7z\xbc\xaf": "7z. Unpack it first: 7z x {}",
    b"\x1f\x9d": "compress (.Z). Unpack it first: zcat {}",
    b"\xff\x06\x00\x00sNaPpY": "snappy. Unpack it first",
    b"Rar!": "rar. Unpack it first: unrar x {}",
}
# Of Windows-1252: quotes, dashes, signs of money and measures.
WESTERN_SIGNS = rb"[\x80\x82\x84\x85\x8b\x91-\x97\x99\x9b\xa0\xa1\xa3\xa9\xab\xae\xb0\xb4\xb7\xbb\xbf]"
FAILURES = (EOFError, OSError, gzip.BadGzipFile, lzma.LZMAError, zlib.error, pa.ArrowException)


def unpacked(file):
    """The stream of a file's bytes, unpacked by what they begin with."""
    first = file.read(8)
    file.seek(0)
    if first[1:4] == b"\x2a\x4d\x18" and first[0] & 0xF0 == 0x50:
        first = ZSTD  # pzstd's begin with a frame to skip. Source: RFC 8878, section 3.1.2
    opened = next((opens for magic, opens in PACKED.items() if first.startswith(magic)), None)
    return opened(file) if opened else file


def refuse_archive(path, chunk):
    """Raises Unreadable if the unpacked bytes are an archive or packed again."""
    found = next((what for magic, what in ARCHIVES.items() if chunk.startswith(magic)), None)
    if chunk[257:262] == b"ustar":
        found = "tar. Unpack it first: tar xf {}"
    elif any(chunk.startswith(magic) for magic in PACKED):
        found = "packed twice. Unpack it once first"
    if found:
        raise Unreadable(f"the file is {found.format(shlex.quote(path))}")


def found_encoding(data):
    """The encoding of bytes that aren't UTF-8. Raises Unreadable unless it is surely one of these."""
    others = re.findall(rb"[\x80-\xff]+", data)
    count = sum(map(len, others))
    good = len(data.decode("utf-8", "ignore").encode()) - (len(data) - count)
    if good > 0.9 * count:
        return "utf-8"  # with some broken rows
    pairs = re.findall(rb"[\x81-\xfe][\x40-\x7e\x80-\xfe]", data)
    signs = [pair for pair in pairs if not 0xA1 <= pair[0] <= 0xA3]
    usual = [pair for pair in signs if 0xB0 <= pair[0] <= 0xD7 and pair[1] >= 0xA1]
    # Korean in EUC-KR has first bytes up to C8, and so have half of the Chinese characters in GBK.
    chinese = [pair for pair in usual if pair[0] >= 0xC9]
    if len(usual) >= 0.8 * len(signs) > 0 and len(chinese) >= 0.1 * len(signs):
        try:
            data.decode("gb18030")
            return "gbk"
        except UnicodeDecodeError:
            pass
    letters = count - len(re.findall(WESTERN_SIGNS, data))
    western = re.findall(rb"[\xc0-\xd6\xd8-\xf6\xf8-\xff]", data)
    if sum(len(run) == 1 for run in others) >= 0.8 * len(others) and len(western) >= 0.8 * letters:
        return "cp1252" if re.search(rb"[\x80-\x9f]", data) else "latin-1"
    raise Unreadable("the text isn't UTF-8. Name its encoding, such as --encoding gb18030, big5 or euc-kr")


class Streams:
    """Reads all streams of a file, up to its end. Python's own readers ignore what follows the first stream if that is
    padding or broken. Zero bytes in multiples of `padding` may follow a stream; 0: none may."""

    def __init__(self, file, decompressor, padding):
        self.file, self.decompressor, self.padding = file, decompressor, padding
        self.stream, self.whole, self.data = decompressor(), 0, b""

    def read1(self, size):
        while self.stream:
            if self.stream.eof:
                self.begin_next()
                continue
            data = b""
            if self.stream.needs_input:
                data, self.data = self.data or self.file.read(ARROW_BYTES), b""
                if not data:
                    raise EOFError(f"the file ends within stream {self.whole + 1}")
            try:
                unpacked = self.stream.decompress(data, size)
            except (OSError, lzma.LZMAError) as error:
                raise OSError(f"stream {self.whole + 1}: {error}") from error
            if unpacked:
                return unpacked
        return b""

    def begin_next(self):
        """`stream` becomes None at the end of the file."""
        self.whole += 1
        data, zeros = self.stream.unused_data or self.file.read(ARROW_BYTES), 0
        while self.padding and data.startswith(b"\0"):
            size = len(data)
            data = data.lstrip(b"\0")
            zeros += size - len(data)
            data = data or self.file.read(ARROW_BYTES)
        self.stream, self.data = self.decompressor() if data else None, data
        if zeros and zeros % self.padding:
            raise OSError(f"{zeros} zero bytes follow stream {self.whole}: no multiple of {self.padding}")


class Whole:
    """Reads a packed stream. What was unpacked before a defect comes first."""

    def __init__(self, stream):
        # At a defect, Arrow's streams lose what one call has unpacked.
        self.read_some = getattr(stream, "read1", lambda size: stream.read(min(size, ARROW_BYTES)))
        self.failure = None

    def read(self, size):
        parts, left = [], size
        while left > 0 and not self.failure:
            try:
                part = self.read_some(left)
            except FAILURES as error:
                self.failure = error
                break
            if not part:
                break
            parts.append(part)
            left -= len(part)
        if self.failure and not parts:
            raise Damaged(f"cut off or broken: {self.failure}") from self.failure
        return b"".join(parts)


class Texts:
    """The texts of a file as chunks in UTF-8. `note` is called with the encoding that was found."""

    def __init__(self, path, file, encoding, note):
        self.path, self.stream, self.encoding, self.note = path, Whole(unpacked(file)), encoding, note
        self.is_sure = encoding is not None
        self.found = "utf-8"  # of a text without a name or a byte order mark

    def raw(self):
        """Chunks in UTF-8, without a byte order mark, cut anywhere but within a character that is decoded."""
        decoder, is_first = None, True
        while True:
            chunk = self.stream.read(CHUNK_BYTES)
            if is_first:
                refuse_archive(self.path, chunk)
                self.encoding = self.encoding or of_bytes(chunk)
                if self.encoding:
                    self.is_sure = True
                    wide = self.encoding.lower().startswith(("utf-16", "utf-32", "utf_16", "utf_32"))
                    decoder = codecs.getincrementaldecoder(wider(self.encoding))(
                        "replace" if wide else "surrogateescape"
                    )
            ends = not chunk
            if decoder:
                chunk = decoder.decode(chunk, final=ends).encode("utf-8", "surrogateescape")
            if is_first and chunk:
                is_first = False
                chunk = chunk.removeprefix(codecs.BOM_UTF8)
                if b"\0" in chunk[:4096]:
                    raise Unreadable("no table: the file has bytes that no text has")
            if chunk:
                yield bytes(chunk)
            if ends:
                return

    def lines(self):
        """Chunks of whole lines that end in \\n."""
        rest, newline = b"", None
        for chunk in self.raw():
            if newline is None:
                newline = b"\r" if b"\r" in chunk and b"\n" not in chunk else b"\n"
            if newline == b"\r":
                chunk = chunk.replace(b"\r", b"\n")
            whole, cut, after = chunk.rpartition(b"\n")
            if cut:
                yield self.known(rest + whole + cut)
                rest = after
            else:
                rest += after
        if rest:
            yield self.known(rest + b"\n")

    def known(self, chunk):
        if b"\r\n" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n")
        if not self.is_sure and not chunk.isascii():
            self.is_sure = True
            try:
                chunk.decode()
            except UnicodeDecodeError:
                self.found = found_encoding(chunk)
                if self.found != "utf-8":
                    self.note(self.found)
        if self.found != "utf-8":
            chunk = chunk.decode(wider(self.found), "surrogateescape").encode("utf-8", "surrogateescape")
        return chunk


def wider(encoding):
    """Files called GBK or Latin-1 have characters of the wider encodings too."""
    return {"gbk": "gb18030", "gb2312": "gb18030"}.get(encoding.lower(), encoding)


def of_bytes(chunk):
    """The encoding that a byte order mark or zero bytes show, or None."""
    for mark, encoding in MARKS:
        if chunk.startswith(mark):
            return encoding
    zeros = chunk[:200].count(0)
    if zeros and zeros >= 0.3 * len(chunk[:200]):
        return "utf-16-le" if chunk[1:2] == b"\0" else "utf-16-be"
    return None


def check_encoding(encoding):
    """Raises Unreadable unless Python knows this encoding of texts."""
    try:
        "".encode(encoding)  # refuses codecs that aren't of texts, such as hex
        codecs.getincrementaldecoder(encoding)("replace").decode(b"a,b\n")
    except (LookupError, UnicodeError) as error:
        raise Unreadable(
            f"--encoding: {encoding}: no encoding of texts. Give a name that Python knows, such as gbk or latin-1"
        ) from error
