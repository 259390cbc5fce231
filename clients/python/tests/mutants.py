"""Ways to break the reader, for test_mutants.py: {a text that the file has once: [what replaces it]}."""

ENVELOPE = {
    "if data[:4] != MAGIC:": ["if False:"],
    "if len(data) < FIELDS.size:": ["if len(data) < 4:"],
    "if version != VERSION:": [
        "if version > VERSION:",
        "if version not in (1, 2):",
        "if form > 11:\n        raise UnsupportedSnapshotError('snapshot: format ')\n    if version != 1:",
    ],
    "if not FIELDS.size <= header_bytes <=": ["if not 48 <= header_bytes <="],
    "HEADER_BYTES_MAX = 4096": ["HEADER_BYTES_MAX = 4104", "HEADER_BYTES_MAX = 1024"],
    " or header_bytes % 8:": [":", " or header_bytes % 4:"],
    "if len(data) != header_bytes + payload_bytes:": [
        "if len(data) < header_bytes + payload_bytes:",
        "if len(data) > header_bytes + payload_bytes:",
        "if len(data) != header_bytes + payload_bytes & MASK_32:",
        "if False:",
    ],
    "if checksum != computed:": ["if False:"],
    "state.intdigest() & MASK_32": ["state.intdigest() >> 32"],
    "xxhash.xxh64(data[:CHECKSUM_AT])": [
        "xxhash.xxh64(data[:CHECKSUM_AT + 4])",
        "xxhash.xxh64(data[:CHECKSUM_AT], seed=1)",
    ],
    "if form not in FilterKind.__members__.values():": [
        "if form > max(FilterKind):",
        "form = min(form, 11)\n    if form == 0:",
    ],
    "if hash_kind != HASH:": ["if hash_kind > HASH:", "if hash_kind < HASH:"],
    "if flags & ~(FLAG_SIMILAR | FLAG_UPDATES):": ["if False:", "if flags:"],
    "if not 0 < rate <= 0.5:": [
        "if not 0 <= rate <= 0.5:",
        "if not rate <= 0.5:",
        "if not 0 < rate < 0.5:",
        "if not 0 < rate <= 1:",
        "if not 0 < rate:",
        "if rate <= 0 or rate > 0.5:",
    ],
    "    if flags & FLAG_SIMILAR:\n": ["    if False:\n"],
    "if header.header_bytes < FIELDS.size + SIMILAR_FIELDS.size:": [
        "if False:",
        "if header.header_bytes != 72:",
    ],
    "if similar_bytes > payload_bytes:": ["if False:"],
    "if form not in SIMILAR_KINDS:": [
        "if form not in FilterKind.__members__.values():",
        "if form not in SIMILAR_KINDS | {10}:",
        "if form not in SIMILAR_KINDS | {7}:",
        "if form not in SIMILAR_KINDS - {11}:",
        "if form != header.kind:",
    ],
    'SIMILAR_FIELDS = struct.Struct("<IB3xI4x")': [
        'SIMILAR_FIELDS = struct.Struct("<IB3xi4x")',
        'SIMILAR_FIELDS = struct.Struct("<IB7xI")',
    ],
    'FIELDS = struct.Struct("<4sBBBBIIqiiqdII")': [
        'FIELDS = struct.Struct("<4sBBBBIiqiiqdII")',
        'FIELDS = struct.Struct("<4sBBBBIIQiiqdII")',
        'FIELDS = struct.Struct("<4sBBBBIIqIiqdII")',
        'FIELDS = struct.Struct(">4sBBBBIIqiiqdII")',
    ],
    "    computed = checksum_of(data)\n": [
        (
            "    if not 0 < rate <= 0.5:\n        raise MalformedSnapshotError('snapshot: false_positive_rate')\n"
            "    computed = checksum_of(data)\n"
        )
    ],
}

HASHING = {
    "return str(operator.index(item))": [
        "return f'{operator.index(item):+d}'",
        "return f'{float(operator.index(item)):.0f}'",
    ],
    "    if isinstance(item, str):\n        return item\n": [
        "    if isinstance(item, str):\n        return item.strip()\n",
        "    if isinstance(item, str):\n        return item.casefold()\n",
        (
            "    if isinstance(item, str):\n        import unicodedata\n"
            "        return unicodedata.normalize('NFC', item)\n"
        ),
        "    if isinstance(item, str):\n        return item.split('\\0')[0]\n",
    ],
    "return xxhash.xxh64_intdigest(id_text(item).encode()) >> 32": [
        "return xxhash.xxh64_intdigest(id_text(item).encode('utf-16-le')) >> 32",
        "return xxhash.xxh64_intdigest(id_text(item).encode()) & MASK_32",
        "return xxhash.xxh32_intdigest(id_text(item).encode())",
    ],
    "return (hashes >> SHIFT_32).astype(np.uint32)": ["return (hashes & LOW_32).astype(np.uint32)"],
    'return xxhash.xxh64_intdigest(print32.to_bytes(4, "little"))\n': [
        'return xxhash.xxh64_intdigest(print32.to_bytes(4, "big"))\n',
        'return xxhash.xxh64_intdigest(print32.to_bytes(8, "little"))\n',
        "return xxhash.xxh64_intdigest(str(print32).encode())\n",
    ],
    "acc = _P5_AND_LENGTH ^": ["acc = np.uint64(_P5) ^"],
    "NEAR, GROUP = 1, 2": ["NEAR, GROUP = 2, 1"],
    'print32.to_bytes(4, "little") + bytes((domain,))': [
        'bytes((domain,)) + print32.to_bytes(4, "little")',
        'print32.to_bytes(4, "little")',
    ],
    "acc = np.uint64(_P5 + 5) ^": ["acc = np.uint64(_P5 + 4) ^"],
    "return (values * np.uint64(n)) >> SHIFT_32": ["return values % np.uint64(n)"],
}

SNAPSHOT = {
    "FILTERS[header.kind](items, header.header_bytes)": [
        "FILTERS[header.kind](items, 72 if header.similar_kind else 56)"
    ],
    "items = data[: len(data) - header.similar_bytes]": ["items = data"],
    "FILTERS[header.similar_kind](\n": ["FILTERS[header.kind](\n"],
    "created = None if created_at_ms is None else created_at_ms // 1000": [
        "created = None",
        "created = created_at_ms",
    ],
    "contains_since(hash_of(print32), created, _day(window_start))": [
        "contains_since(hash_of(print32), created, None)"
    ],
    "contains_many_since(hashes, created_seconds, _day(window_start))": [
        "contains_many_since(hashes, None, _day(window_start))",
        "contains_many_since(hashes, created_seconds, None)",
        "contains_many_since(hashes, created_seconds, max(self._header.horizon_day, _day(window_start) or -9))",
    ],
    "return self._holds_similar(fingerprint(item), NEAR)": [
        "return self._holds_similar(fingerprint(item), GROUP)",
        "return self._contains(fingerprint(item)) or self._holds_similar(fingerprint(item), NEAR)",
    ],
    "return self._holds_similar(fingerprint(group), GROUP)": [
        "return self._holds_similar(fingerprint(group), NEAR)"
    ],
    "mapped = in_domain(print32, domain)": ["mapped = print32"],
    "self.holds_each(in_domain_each(prints, domain), is_similar=True)": [
        "self.holds_each(prints, is_similar=True)"
    ],
    "return self._similar.contains(mapped, hash_of(mapped))": [
        "return self._filter.contains(mapped, hash_of(mapped))"
    ],
    "if len(set(texts)) != len(texts):": ["if False:"],
    "if not is_seen and text not in self._also_seen\n": [
        "if not is_seen\n",
        "if not is_seen and fingerprint(text) not in set(map(fingerprint, self._also_seen))\n",
        "if not is_seen and text.casefold() not in set(map(str.casefold, self._also_seen))\n",
    ],
    "if self._also_seen and id_text(item) in self._also_seen:": ["if False:"],
    "if want <= 0:": ["if want < 0:", "if want == 0:"],
    "seen = self.item_count\n": ["seen = 0\n"],
    "seen += len(held) - int(np.count_nonzero(held))": ["seen += len(held)", "pass"],
    "fingerprints(sorted(self._also_seen))": ["np.unique(fingerprints(sorted(self._also_seen)))"],
    "return seen + math.ceil(": ["return seen + math.floor(", "return seen + round("],
    "(want + 3 * math.sqrt(want * rate)) / (1 - rate)": [
        "(want + 2 * math.sqrt(want * rate)) / (1 - rate)",
        "want + 3 * math.sqrt(want * rate)",
        "want / (1 - rate)",
        "(want + 3 * math.sqrt(want * rate)) * (1 / (1 - rate))",
        "(want + 3 * math.sqrt(seen * rate)) / (1 - rate)",
    ],
}

SPLIT_BLOCK_BLOOM = {
    "if payload_bytes == 0 or payload_bytes % BLOCK_BYTES:": [
        "if payload_bytes % BLOCK_BYTES:",
        "if payload_bytes == 0:",
    ],
    "SALT = (0x47B6137B, 0x44974D91,": ["SALT = (0x44974D91, 0x47B6137B,"],
    "(low * salt & MASK_32) >> 27": ["(low * salt & MASK_32) & 31"],
    "((hashed >> 32) * self._blocks >> 32)": [
        "((hashed & MASK_32) * self._blocks >> 32)",
        "((hashed >> 32) % self._blocks)",
    ],
    '"little") & mask == mask': ['"big") & mask == mask'],
    "& mask == mask": ["& mask != 0"],
}

BLOOM = {
    "check_length(self.name, payload_bytes, 2)": ["check_length(self.name, payload_bytes, 1)", "pass"],
    'check_field(self.name, "k", self._k, 1, 32)': [
        'check_field(self.name, "k", self._k, 0, 32)',
        'check_field(self.name, "k", self._k, 1, 255)',
    ],
    "8 // self.width * (payload_bytes - 1)": ["8 // self.width * payload_bytes"],
    "MULTIPLIER = 0xD1342543DE82EF95": ["MULTIPLIER = 0xD1342543DE82EF97"],
    "hashed = hashed * MULTIPLIER & 0xFFFFFFFFFFFFFFFF": [
        "hashed = hashed + MULTIPLIER & 0xFFFFFFFFFFFFFFFF"
    ],
    "for _ in range(self._k):\n            if": ["for _ in range(self._k - 1):\n            if"],
    "width: ClassVar[int] = 4": ["width: ClassVar[int] = 3"],
    "self._bits.take(at, self.width) != 0": ["self._bits.take(at, self.width) & np.uint64(7) != 0"],
}

D_LEFT = {
    'check_field(NAME, "r", remainder_bits, 1, 32)': [
        'check_field(NAME, "r", remainder_bits, 0, 32)',
        'check_field(NAME, "r", remainder_bits, 1, 64)',
        'check_field(NAME, "r", remainder_bits, 1, 31)',
    ],
    'check_field(NAME, "cells", self._cells, 1, 16)': [
        'check_field(NAME, "cells", self._cells, 0, 16)',
        'check_field(NAME, "cells", self._cells, 1, 255)',
        'check_field(NAME, "cells", self._cells, 1, 8)',
    ],
    'check_field(NAME, "buckets", self._buckets, 1, MASK_32)': ["pass"],
    "check_exact_length(NAME, payload_bytes, FIELDS.size + (cell_bits + 7 >> 3))": ["pass"],
    "cell_bits = 4 * self._buckets * self._cells * self._width": [
        "cell_bits = 4 * self._buckets * self._cells * self._width & MASK_32"
    ],
    "shift = ((remainder + 1) * multiplier & MASK_32)": ["shift = (remainder * multiplier & MASK_32)"],
    "MULTIPLIERS = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F)": [
        "MULTIPLIERS = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)"
    ],
    "if value & 3 and value >> COUNT_BITS == remainder:": [
        "if value >> COUNT_BITS == remainder:",
        "if value & 3 == 1 and value >> COUNT_BITS == remainder:",
        "if value & 1 and value >> COUNT_BITS == remainder:",
        "if value & 3 != 3 and value & 3 and value >> COUNT_BITS == remainder:",
    ],
    "bucket = (first + shift) % buckets + np.uint64(table) * buckets": ["bucket = (first + shift) % buckets"],
}

QUOTIENT = {
    'check_field(NAME, "r", self._r, 1, 32)': [
        'check_field(NAME, "r", self._r, 0, 32)',
        'check_field(NAME, "r", self._r, 1, 33)',
    ],
    'check_field(NAME, "quotients", self._quotients, 1, MASK_32)': ["pass"],
    'check_field(NAME, "slots", self._slots, self._quotients, SLOTS_MAX)': [
        "pass",
        'check_field(NAME, "slots", self._slots, 1, SLOTS_MAX)',
    ],
    "check_exact_length(NAME, payload_bytes, FIELDS.size + (blocks - 1) * self._stride + last_bytes)": [
        "check_length(NAME, payload_bytes, FIELDS.size + (blocks - 1) * self._stride + last_bytes)"
    ],
    "if len(occupied) and occupied[-1] >= self._quotients:": ["if False:"],
    "if len(ends) and ends[-1] >= self._slots:": ["if False:"],
    "if len(occupied) != len(ends):": ["if len(occupied) > len(ends):", "if len(occupied) < len(ends):"],
    "if (ends < occupied).any():": ["if False:", "if len(ends) and ends[0] < occupied[0]:"],
    "if (offsets != np.maximum(behind - begins, 0)).any():": [
        "if False:",
        "if (offsets[1:] != np.maximum(behind - begins, 0)[1:]).any():",
        "if (offsets > np.maximum(behind - begins, 0)).any():",
        "if (offsets < np.maximum(behind - begins, 0)).any():",
        "remainders = self._decode()\n        if (np.diff(remainders.astype(np.int64)) == 0).any():",
    ],
    "quotient, remainder = y >> 32, (y & MASK_32) >> (32 - self._r)": [
        "quotient, remainder = y >> 32, y & (1 << self._r) - 1"
    ],
    "if not occupied >> (quotient & 63) & 1:": ["if False:"],
    "rank = bin(occupied & ((2 << (quotient & 63)) - 1))": [
        "rank = bin(occupied & ((1 << (quotient & 63)) - 1))"
    ],
    "end = self._select((quotient & ~63) + offset, rank)": ["end = self._select(quotient & ~63, rank)"],
    "if slot < end and self._is_run_end(slot):": ["if False:"],
    "range(end, max(quotient, end - RUN_SCANNED_MAX) - 1, -1)": [
        "range(end, max(0, end - RUN_SCANNED_MAX) - 1, -1)"
    ],
    "                == remainder\n            ):\n                return True\n": [
        (
            "                <= remainder\n            ):\n                return (\n"
            "                    self._bits.get(\n                        8 * self._stride * (slot >> 6)"
            " + 8 * BLOCK.size + self._r * (slot & 63), self._r\n                    )\n"
            "                    == remainder\n                )\n"
        )
    ],
    "return bool(self._contains_keys(np.array([quotient << 32 | remainder], np.uint64))[0])": [
        "return False"
    ],
    "        keys.sort()\n": [""],
}

CUCKOO = {
    'check_field(NAME, "f", self._width, 2, 32)': [
        'check_field(NAME, "f", self._width, 1, 32)',
        'check_field(NAME, "f", self._width, 2, 40)',
        'check_field(NAME, "f", self._width, 4, 32)',
    ],
    'check_field(NAME, "buckets", buckets, 1, MASK_32)': ["pass"],
    "check_exact_length(NAME, payload_bytes, FIELDS.size + (PLACES * buckets * self._width + 7 >> 3))": [
        "pass"
    ],
    "(PLACES * buckets * self._width + 7 >> 3)": ["((PLACES * buckets * self._width & MASK_32) + 7 >> 3)"],
    "self._entries >> 32) + 1\n        first = (hashed": ["self._entries >> 32)\n        first = (hashed"],
    "self._entries = (1 << entry_bits) - 1": ["self._entries = 1 << entry_bits"],
    "MULTIPLIER = 0x9E3779B1": ["MULTIPLIER = 0x85EBCA77"],
    "* self._buckets >> 32) + self._buckets - first\n": ["* self._buckets >> 32) + first\n"],
    "buckets = (first,) if first == second else (first, second)": [
        "buckets = (first,)",
        "buckets = (first, second)",
    ],
    "for bucket in buckets for place in range(PLACES)]": [
        "for bucket in buckets for place in range(PLACES - 1)]"
    ],
}

INDEXED_CUCKOO = {
    'check_field(NAME, "f", self._entry_bits, 2, 32)': [
        'check_field(NAME, "f", self._entry_bits, 1, 32)',
        'check_field(NAME, "f", self._entry_bits, 2, 33)',
    ],
    'check_field(NAME, "n", self._number_bits, 1, 32)': [
        'check_field(NAME, "n", self._number_bits, 0, 32)',
        'check_field(NAME, "n", self._number_bits, 1, 33)',
    ],
    'check_field(NAME, "buckets", buckets, 1, MASK_32)': ["pass"],
    'check_field(NAME, "capacity", self._capacity, 0, 1 << self._number_bits)': [
        "pass",
        'check_field(NAME, "capacity", self._capacity, 0, (1 << self._number_bits) - 1)',
        'check_field(NAME, "capacity", self._capacity, 1, 1 << self._number_bits)',
    ],
    "fields_bytes = FIELDS.size + DAY.size * days": ["fields_bytes = FIELDS.size"],
    "check_exact_length(NAME, payload_bytes, fields_bytes": [
        "check_length(NAME, payload_bytes, fields_bytes"
    ],
    "                if age < self._capacity:\n": [
        "                if True:\n",
        "                if age <= self._capacity:\n",
        "                if number >= self._next - self._capacity:\n",
    ],
    "age = (self._next - 1 - number) % (1 << self._number_bits)": [
        "age = self._next - 1 - number",
        "age = abs(self._next - 1 - number)",
        "age = (self._next - number) % (1 << self._number_bits)",
        "age = (self._next - 1 - number) & MASK_32",
    ],
    "seen: Bools = (found & (age < np.uint64(self._capacity))).any(axis=1)": [
        "seen: Bools = found.any(axis=1)"
    ],
    "number = (self._next - 1 - age) & MASK_32": [
        "number = self._next - 1 - age",
        "number = (self._next - 1 - age) % (1 << self._number_bits)",
    ],
    "if (self._next - 1 - first_number) & MASK_32 >= age:": [
        "if (self._next - 1 - first_number) & MASK_32 > age:",
        "if first_number <= number:",
        "if self._next - 1 - first_number >= age:",
    ],
    "found = day, (number - first_number) & MASK_32": [
        "found = day, (number - first_number) & MASK_32\n                break",
        "found = day, number - first_number",
    ],
    "found: tuple[int | None, int | None] = (None, None)": [
        "found = next(((day, 0) for day, _ in DAY.iter_unpack(self._rows)), (None, None))"
    ],
    'DAY = struct.Struct("<iI")': ['DAY = struct.Struct("<II")'],
}

BINARY_FUSE = {
    "check_length(self.name, payload_bytes, FIELDS.size)": ["pass"],
    'check_field(self.name, "length_log2", length_log2, 0, 18)': ["pass"],
    "entries = (segments + 2) * self._length if segments else 0": [
        "entries = (segments + 2) * self._length",
        "entries = (segments + 1) * self._length if segments else 0",
    ],
    "check_exact_length(self.name, payload_bytes,": ["check_length(self.name, payload_bytes,"],
    "self._seed = seed_number * STEP & MASK_64": ["self._seed = 0", "self._seed = seed_number"],
    "second = (first + self._length) ^ (x >> 18 & self._length - 1)": [
        "second = (first + self._length) + (x >> 18 & self._length - 1)",
        "second = (first + self._length) ^ (x >> 16 & self._length - 1)",
    ],
    "entry: int = (x ^ x >> 32)": ["entry: int = x"],
    'f"<u{self.entry_bytes}"': ['f">u{self.entry_bytes}"'],
    "        if not self._reach:\n            return False\n": [""],
}

DAY_CHAIN = {
    "check_length(NAME, payload_bytes, fields_bytes)": ["pass"],
    "fields_bytes = 4 + ROW.itemsize * days\n": ["fields_bytes = 4 + ROW.itemsize * days & 0xFFFFFFFF\n"],
    "if not self._blocks.all():": ["if False:"],
    "if (self._day[1:] > self._day[:-1]).any():": [
        "if False:",
        "if (self._day[1:] >= self._day[:-1]).any():",
        "if (self._day[1:] < self._day[:-1]).any():",
    ],
    "check_exact_length(NAME, payload_bytes, fields_bytes": [
        "check_length(NAME, payload_bytes, fields_bytes"
    ],
    "BLOCK_BYTES * int(blocks.sum())": ["(BLOCK_BYTES * int(blocks.sum()) & 0xFFFFFFFF)"],
    '        ("day", "<i4"),\n': ['        ("day", "<u4"),\n'],
    '("last_second", "<u4")': ['("last_second", "<i4")'],
    'rows["last_second"]': ['rows["first_second"]'],
    "if first_day is not None and day < first_day:": [
        "if first_day is not None and day <= first_day:",
        "if first_day is not None and day + 1 < first_day:",
    ],
    "if created_second is not None and last_second < created_second:": [
        "if created_second is not None and last_second <= created_second:",
        "if created_second is not None and last_second + 1 < created_second:",
    ],
    "if created_second is not None and last_second < created_second:\n                continue": [
        "if created_second is not None and last_second < created_second:\n                break"
    ],
    "self._first_block = np.cumsum(blocks) - blocks": [
        "self._first_block = np.cumsum(blocks)",
        "self._first_block = np.arange(days, dtype=np.uint64)",
    ],
    "np.count_nonzero(self._day >= first_day)": ["np.count_nonzero(self._day > first_day)"],
    ".astype(np.int64) >= created_seconds[items]": [".astype(np.int64) > created_seconds[items]"],
}

FINGERPRINT_SET = {
    'check_field(NAME, "k", k, 0, 31)': [
        'check_field(NAME, "k", k, 0, 32)',
        'check_field(NAME, "k", k, 1, 31)',
        'check_field(NAME, "k", k, 0, 30)',
    ],
    "if int(wide[-1]) >> 32:": ["if False:"],
    "lowest = int(wide[-1]) + 1": ["lowest = int(wide[-1])"],
    "np.arange(lowest, lowest + len(step), dtype=np.uint64)": ["lowest"],
    "if len(code) != at + 7 >> 3 or bits.find(1, at) >= 0:": [
        "if bits.find(1, at) >= 0:",
        "if len(code) != at + 7 >> 3:",
    ],
    "return at < len(self._sorted) and self._sorted[at] == print32": [
        "return at < len(self._sorted) and at > 0 and self._sorted[at] == print32"
    ],
    "at = bisect.bisect_left(self._sorted, print32)": ["at = bisect.bisect_left(self._sorted, hashed >> 32)"],
}

AS_OF = (
    "return self.heartbeat_ms if self.lag_messages == 0 else min(self.partition_time_ms, self.heartbeat_ms)"
)
WATERMARKS = {
    AS_OF: [
        "return self.heartbeat_ms",
        "return min(self.partition_time_ms, self.heartbeat_ms)",
        "return self.heartbeat_ms if self.lag_messages == 0 else self.partition_time_ms",
        AS_OF.replace("== 0", "<= 1"),
        AS_OF.replace("return self.heartbeat_ms", "return int(float(self.heartbeat_ms))"),
    ],
    "return max(0, now_ms - self.as_of_ms)": ["return now_ms - self.as_of_ms"],
    "return max(0, (time.time_ns()": ["return ((time.time_ns()"],
    "max(snapshot.as_of_ms, watermark.as_of_ms)": ["watermark.as_of_ms", "snapshot.as_of_ms"],
    "watermark = self._last.get(snapshot.partition)": ["watermark = next(iter(self._last.values()), None)"],
    "if not isinstance(version, int) or isinstance(version, bool) or version != VERSION:": [
        "if version != VERSION:",
        "if False:",
        "if not isinstance(version, int) or isinstance(version, bool) or version < VERSION:",
    ],
    "            self._last.pop(partition, None)\n": [
        "",
        "            self._last.clear()\n",
        "            del self._last[partition]\n",
    ],
    "        if value is None:\n": ["        if not value:\n"],
    "        if value is None:\n            self._last.pop(partition, None)\n            return\n": [""],
    "if watermark.partition != partition:": ["if False:"],
    "        self._last[partition] = watermark\n": [
        "        self._last.setdefault(partition, watermark)\n",
        (
            "        before = self._last.get(partition)\n"
            "        if before is None or watermark.heartbeat_ms > before.heartbeat_ms:\n"
            "            self._last[partition] = watermark\n"
        ),
    ],
    "if len(value) > RECORD_BYTES_MAX:": ["if False:", "if len(value) >= RECORD_BYTES_MAX:"],
    '        or key != b"%d" % int(key)\n': [""],
    " or int(key) > PARTITION_MAX": [""],
    "if not isinstance(value, int) or isinstance(value, bool):": ["if not isinstance(value, int):"],
    "if not isinstance(value, int) or isinstance(value, bool):\n": [
        (
            "value = int(value) if isinstance(value, (str, float)) else value\n"
            "    if not isinstance(value, int) or isinstance(value, bool):\n"
        )
    ],
    "value = members.get(name)\n": ["value = members.get(name, 0)\n"],
    "< 1 << 63:": ["< 1 << 64:"],
    'members = json.loads(str(bytes(value), "utf-8"), parse_constant=_refuse_constant)': [
        "members = json.loads(bytes(value))"
    ],
    "        members = json.loads(": [
        (
            "        members, _ = json.JSONDecoder().raw_decode(str(bytes(value), 'utf-8').lstrip())\n"
            "        members = members or json.loads("
        )
    ],
}

KINDS = {
    "FilterKind.BLOOM: Bloom,": ["FilterKind.BLOOM: CountingBloom,"],
    "FilterKind.COUNTING_BLOOM: CountingBloom,": ["FilterKind.COUNTING_BLOOM: Bloom,"],
    "FilterKind.CUCKOO: Cuckoo,": ["FilterKind.CUCKOO: DLeft,"],
    "FilterKind.BINARY_FUSE_8: BinaryFuse8,": ["FilterKind.BINARY_FUSE_8: BinaryFuse16,"],
    "    FilterKind.FINGERPRINTS: FingerprintSet,\n": [""],
}

BITS = {
    "self._data[first : first + ((at & 7) + width + 7 >> 3)]": ["self._data[first:first + 4]"],
    'int.from_bytes(window, "little") >> (at & 7)': ['int.from_bytes(window, "big") >> (at & 7)'],
    "first = np.minimum(bit >> np.uint64(3), np.uint64(last))": ["first = bit >> np.uint64(3)"],
    "shift = bit - (first << np.uint64(3))": ["shift = bit & np.uint64(7)"],
}

UPDATE = {
    'MAGIC = b"SEEU"': ['MAGIC = b"SEEN"'],
    "if data[:4] != MAGIC:": ["if False:"],
    "if len(data) < HEADER_BYTES_MIN:": ["if len(data) < 4:"],
    "if version != VERSION:": ["if version > VERSION:", "if version < VERSION:", "if False:"],
    "<= header_bytes <= min(HEADER_BYTES_MAX, len(data)):": [
        "<= header_bytes <= HEADER_BYTES_MAX:",
        "<= header_bytes <= len(data):",
        "<= header_bytes < min(HEADER_BYTES_MAX, len(data)):",
    ],
    "HEADER_BYTES_MIN, HEADER_BYTES_MAX = 56, 8192": [
        "HEADER_BYTES_MIN, HEADER_BYTES_MAX = 49, 8192",
        "HEADER_BYTES_MIN, HEADER_BYTES_MAX = 56, 8191",
        "HEADER_BYTES_MIN, HEADER_BYTES_MAX = 56, 4096",
    ],
    "if checksum != computed:": ["if False:"],
    "CHECKSUM_AT, CHECKED_FROM = 8, 12": [
        "CHECKSUM_AT, CHECKED_FROM = 8, 16",
        "CHECKSUM_AT, CHECKED_FROM = 5, 12",
    ],
    '("partition", self.partition, 0)': [
        '("partition", self.partition, -1)',
        '("partition", self.partition, 1)',
    ],
    '("generation", self.generation, 1)': ['("generation", self.generation, 0)'],
    '("from", self.from_offset, 0)': ['("from", self.from_offset, -1)'],
    '("to", self.to_offset, self.from_offset)': [
        '("to", self.to_offset, 0)',
        '("to", self.to_offset, self.from_offset + 1)',
    ],
    '("as_of_ms", self.as_of_ms, NOT_KNOWN)': [
        '("as_of_ms", self.as_of_ms, -9)',
        '("as_of_ms", self.as_of_ms, 0)',
    ],
    "if not 1 <= names <= FILTERS_MAX:": ["if names < 1:", "if names > FILTERS_MAX:"],
    "FILTERS_MAX = 16": ["FILTERS_MAX = 15", "FILTERS_MAX = 17"],
    "if length == 0 or at + 1 + length > end:": [
        "if at + 1 + length > end:",
        "if length == 0 or at + length > end:",
        "if length == 0 or at + 1 + length > len(data):",
        "if length == 0 or at + 1 + length >= end:",
    ],
    "if name in names:": ["if False:", "if name in names[-1:]:"],
    "_sections(data, header_bytes, names)\n\n": ["_sections(data, max(56, header_bytes - 1), names)\n\n"],
    "if len(data) - at < SECTION_FIELDS.size:": [
        "if len(data) - at < SECTION_FIELDS.size:\n            break\n        if False:"
    ],
    "if not 0 < mask < 1 << names:": [
        "if not 0 <= mask < 1 << names:",
        "if not 0 < mask:",
        "if not 0 < mask <= names:",
    ],
    "if kind not in (KIND_SEEN, KIND_SIMILAR):": ["if kind > 2:", "if kind not in (0, 1, 255):", "if kind:"],
    "if not users or not items:": ["if False:"],
    'SECTION_FIELDS = struct.Struct("<HBxIII")': [
        'SECTION_FIELDS = struct.Struct("<HBxiII")',
        'SECTION_FIELDS = struct.Struct("<BHxIII")',
    ],
    "if end > len(data):": ["end = end & 0xFFFFFFFF\n        if end > len(data):"],
    "if total != items:": ["if total < items:", "if total > items:", "if total & 0xFFFF != items & 0xFFFF:"],
    "if np.count_nonzero(section.counts) != users:": ["if False:", "if section.counts[0] == 0:"],
    "USER_BYTES, COUNT_BYTES, PRINT_BYTES = 8, 2, 4": ["USER_BYTES, COUNT_BYTES, PRINT_BYTES = 8, 4, 4"],
}

IS_READ = "is_read = NOT_KNOWN < beat.snapshots_to <= self.stands_at"
FILTER_READER = {
    "            return NO_BEAT  # of": ["            raise WatermarkError  # of"],
    "            partition.past.add(partition.beat.generation)\n": [""],
    "            partition.past.discard(beat.generation)\n": [""],
    "        partition.beat = beat\n": [
        "        partition.beat = max(beat, partition.beat)\n",
        "        partition.beat = beat if beat.published_to >= 0 else beat._replace(published_to="
        "partition.beat.published_to, snapshots_to=partition.beat.snapshots_to)\n",
    ],
    "        if beat.generation != NOT_KNOWN:\n": ["        if True:\n"],
    "            partition.beat_log = beat.snapshots_log\n": ["            pass\n"],
    "beat.snapshots_log if partition.log == NOT_KNOWN else partition.log": [
        "beat.snapshots_log",
        "0",
        "beat.snapshots_log if partition.log <= 0 else partition.log",
    ],
    "        self._forget_unnamed(partition, number)\n        self._settle(partition, number)\n": [
        "        self._forget_unnamed(partition, number)\n"
    ],
    "or self._filter_name not in update.filters:": ["or self._filter_name != update.filters[0]:"],
    "end = max(update.to_offset, min(update.from_offset + 1, OFFSET_MAX))": [
        "end = update.to_offset",
        "end = update.to_offset + 1",
    ],
    "        life.take(update)\n        self._settle(": [
        "        life.take(update)\n        (lambda *_: 0)("
    ],
    "if part and self.parts != (begin, part):": [
        "if False:",
        "if part:",
        "if part and self.parts[0] != begin:",
        "if part and self.parts[1] != part:",
        "if part and (self.parts[0] != begin or part > self.parts[1]):",
        "if part and (self.parts[0] != begin or part < self.parts[1]):",
    ],
    "            if begin < end:\n                self._cover(begin + 1, end, update.as_of_ms)\n": [
        "",
        "            self._cover(begin + 1, end, update.as_of_ms)\n",
        "            self._cover(begin + 1, max(begin + 1, end), update.as_of_ms)\n",
        "            if begin < end:\n                self._cover(begin, end, update.as_of_ms)\n",
    ],
    "        if begin == end and update.sections:\n": ["        if begin == end:\n", "        if False:\n"],
    "self.parts = (begin, part + 1)": [
        "self.parts = (begin, part + 2)",
        "self.parts = (begin, max(part + 1, self.parts[1]))",
    ],
    "if self._log.held > self._additions_max:": ["if False:"],
    "                of.refused.add(text)\n": [""],
    "        of.refused.discard(text)\n": [""],
    "            del of.snapshots[text]\n": [
        "            pass\n",
        "            del of.snapshots[text]\n            self._log = AdditionLog()\n",
    ],
    "            of.snapshots[text] = data  # at once": [
        "            of.snapshots.setdefault(text, data)  # at once"
    ],
    "(partition).stands_at = position\n": [
        "(partition).stands_at = position + 1\n",
        "(partition).stands_at = max(position, self._followed(partition).stands_at)\n",
    ],
    "        self._settle(self._partitions[partition], partition)\n": [""],
    "of.log, of.stands_at = of.beat_log, NOT_KNOWN\n": [
        "of.log = of.beat_log\n",
        "of.stands_at = NOT_KNOWN\n",
    ],
    "            life.start_over()\n": [
        "            pass\n",
        "            if life is of.current():\n                life.start_over()\n",
    ],
    "max(one.beat.complete_since_ms for": ["min(one.beat.complete_since_ms for"],
    '_integers(members, "snapshots_log").get(filter_name, 0)': [
        '_integers(members, "snapshots_log").get(filter_name, NOT_KNOWN)',
        'next(iter(_integers(members, "snapshots_log").values()), 0)',
    ],
    '_integers(members, "complete_since_ms").get(filter_name, NOT_KNOWN)': [
        "NOT_KNOWN",
        'max(_integers(members, "complete_since_ms").values(), default=NOT_KNOWN)',
    ],
    "None if topic is None or named == topic else named": [
        "None",
        "None if named == topic else named",
        "None if topic is None else named",
    ],
    "return self.log != self.beat_log": [
        "return self.log < self.beat_log",
        "return self.log > self.beat_log",
    ],
    "if self.must_restart() or beat.moved_to is not None:": [
        "if beat.moved_to is not None:",
        "if self.must_restart():",
    ],
    "        life.settled = max(life.settled, published_to)\n": [
        "",
        "        life.settled = published_to\n",
        "        life.settled = life.complete\n",
    ],
    "if self.complete != NOT_KNOWN and self.run is None:": [
        "if self.complete != NOT_KNOWN:",
        "if False:",
    ],
    "self.run = (self.settled, self.complete, self.as_of_ms)": [
        "self.run = (0, self.complete, self.as_of_ms)"
    ],
    "        self.complete = self.as_of_ms = self.settled = NOT_KNOWN\n": [
        "        self.complete = self.as_of_ms = NOT_KNOWN\n",
        "        self.complete = self.settled = NOT_KNOWN\n",
    ],
    "        self.parts = (NOT_KNOWN, 0)\n\n\nclass": ["\n\nclass"],
    "bit = 1 << update.filters.index(self._filter_name)": ["bit = 1"],
    "if section.mask & bit:": ["if True:"],
    "life.complete = max(life.complete, published_to)": ["life.complete = published_to", "pass"],
    "            self._log.drop(number, partition.beat.generation, published_to)\n": [
        "",
        "            self._log.drop(number, partition.beat.generation, published_to - 1)\n",
        "            self._log.drop(number, partition.beat.generation)\n",
    ],
    "if life.lost_to <= published_to:": ["if life.lost_to < published_to:", "if True:", "if False:"],
    "for generation in [g for g in partition.lives if g in partition.past]:": [
        "for generation in []:",
        "for generation in [g for g in partition.lives if g != partition.beat.generation]:",
    ],
    "        life.join()\n": [""],
    "if generation == partition.beat.generation or generation in partition.past:": [
        "if generation == partition.beat.generation:",
        "if generation in partition.past:",
    ],
    "    if members.get(name) is None:": ["    if name not in members:"],
    "    if given is None:\n": ["    if False:\n"],
    "    if not isinstance(given, dict):\n": ["    if False:\n"],
    " for one, value in given.items() if value is not None}": [" for one, value in given.items()}"],
    "{one: _member(given, one) for one in given}": ["given"],
    "        if not isinstance(value, str):\n": ["        if False:\n"],
    "        life.beats_without = 0\n": [""],
    ">= BEATS_UNTIL_FORGOTTEN": ["> BEATS_UNTIL_FORGOTTEN", ">= 59"],
    "        self._log.drop(number, generation)\n": [""],
    "before if life.lost_to == NOT_KNOWN else min(life.lost_as_of_ms, before)": [
        "before",
        "before if life.lost_to == NOT_KNOWN else life.lost_as_of_ms",
    ],
    "life.lost_to = max(life.lost_to, source.to)": [
        "life.lost_to = source.to if life.lost_to < 0 else life.lost_to"
    ],
    '(sources["kind"] == kind)': ["True"],
    "(until_s > now_s)": ["(until_s >= now_s)", "(until_s + 1 > now_s)"],
    "(until_s == 0) |": [""],
    '(sources["generation"] == snapshot.generation)': ["True"],
    '(sources["partition"] == snapshot.partition)': ["True"],
    '(sources["to"] <= snapshot.input_offset)': [
        '(sources["to"] < snapshot.input_offset)',
        '(sources["to"] <= snapshot.input_offset + 1)',
    ],
    "if begin <= self.complete:": ["if begin < self.complete:", "if True:"],
    "            self._reach(end, as_of_ms)\n        elif": [
        "            self._reach(end, as_of_ms) if end > self.complete else None\n        elif",
        "            self.complete = min(end, self.complete)\n            self._reach(end, as_of_ms)\n        elif",
        "            self._reach(end, max(as_of_ms, self.as_of_ms))\n        elif",
    ],
    "self.as_of_ms if as_of_ms == NOT_KNOWN else as_of_ms": [
        "as_of_ms",
        "max(self.as_of_ms, as_of_ms)",
        "self.as_of_ms if as_of_ms <= 0 else as_of_ms",
    ],
    "elif self.run is None or begin > self.run[1]:": [
        "elif self.run is None:",
        "elif True:",
        "elif self.run is None or begin >= self.run[1]:",
    ],
    "elif end >= self.run[0]:": ["elif end > self.run[0]:", "else:"],
    "(min(begin, run_begin), max(end, run_end), as_of_ms if is_newest else run_as_of_ms)": [
        "(run_begin, max(end, run_end), as_of_ms if is_newest else run_as_of_ms)",
        "(min(begin, run_begin), end, as_of_ms if is_newest else run_as_of_ms)",
        "(min(begin, run_begin), max(end, run_end), as_of_ms)",
        "(min(begin, run_begin), max(end, run_end), run_as_of_ms)",
        "(min(begin, run_begin), max(end, run_end), max(as_of_ms, run_as_of_ms))",
    ],
    "is_newest = end >= run_end and as_of_ms != NOT_KNOWN": [
        "is_newest = end > run_end and as_of_ms != NOT_KNOWN",
        "is_newest = as_of_ms != NOT_KNOWN",
        "is_newest = end >= run_end",
    ],
    "if self.run is not None and self.run[0] <= self.complete:": [
        "if self.run is not None and self.run[0] < self.complete:"
    ],
    "            self._reach(end, as_of_ms)\n            self.run": [
        "            self._reach(end, as_of_ms) if end > self.complete else None\n            self.run",
        "            self.complete = min(end, self.complete)\n            self._reach(end, as_of_ms)\n            self.run",
        "            self._reach(end, max(as_of_ms, self.as_of_ms))\n            self.run",
    ],
    IS_READ: [
        "is_read = NOT_KNOWN < beat.snapshots_to",
        "is_read = NOT_KNOWN < beat.snapshots_to < self.stands_at",
        "is_read = beat.snapshots_to <= self.stands_at",
    ],
    "life.as_of_ms if life.lost_to == NOT_KNOWN else": ["life.as_of_ms if True else"],
}

FILES = {
    "envelope.py": ENVELOPE,
    "hashing.py": HASHING,
    "snapshot.py": SNAPSHOT,
    "watermarks.py": WATERMARKS,
    "bits.py": BITS,
    "kinds/__init__.py": KINDS,
    "kinds/split_block_bloom.py": SPLIT_BLOCK_BLOOM,
    "kinds/bloom.py": BLOOM,
    "kinds/d_left.py": D_LEFT,
    "kinds/quotient.py": QUOTIENT,
    "kinds/cuckoo.py": CUCKOO,
    "kinds/indexed_cuckoo.py": INDEXED_CUCKOO,
    "kinds/binary_fuse.py": BINARY_FUSE,
    "kinds/day_chain.py": DAY_CHAIN,
    "kinds/fingerprint_set.py": FINGERPRINT_SET,
    "update.py": UPDATE,
    "filter_reader.py": FILTER_READER,
}
MUTANTS = [(file, old, new) for file, edits in FILES.items() for old, news in edits.items() for new in news]
