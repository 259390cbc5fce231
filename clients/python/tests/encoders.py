"""Small writers of all kinds, from schemas/snapshot.md alone: no code of the reader, and bytes spent
freely."""

import random
import struct

import xxhash

M32, M64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
SALT = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31)
DAY = 20_400
DAYS = 30  # over which kinds 7 and 10 spread their items


def print_of(item):
    return xxhash.xxh64_intdigest(str(item).encode()) >> 32


def hash_of(print32):
    return xxhash.xxh64_intdigest(struct.pack("<I", print32))


def reach(value, n):
    return value * n >> 32


def put_bits(bits, at, width, value):
    for j in range(width):
        if value >> j & 1:
            bits[at + j >> 3] |= 1 << (at + j & 7)


def packed(values, width):
    bits = bytearray((len(values) * width + 7) // 8)
    for i, value in enumerate(values):
        put_bits(bits, i * width, width, value)
    return bytes(bits)


def seal(
    payload,
    form,
    item_count=0,
    rate=0.01,
    header_bytes=56,
    version=1,
    hash_kind=1,
    flags=0,
    as_of_ms=0,
    horizon_day=DAY,
    partition=3,
    payload_bytes=None,
):
    """The envelope, with a right checksum whatever is in it."""
    head = struct.pack(
        "<4sBBBBIIqiiqdI",
        b"SEEN",
        version,
        form,
        hash_kind,
        flags,
        header_bytes,
        item_count,
        as_of_ms,
        horizon_day,
        partition,
        0,
        rate,
        len(payload) if payload_bytes is None else payload_bytes,
    )
    tail = bytes(max(0, header_bytes - 56) if header_bytes <= 4096 else 0) + payload
    return head + struct.pack("<I", xxhash.xxh64_intdigest(head + tail) & M32) + tail


def with_similar(snapshot, payload, form, similar_bytes=None, count=3):
    """The snapshot with the payload of what is similar at its end."""
    fields = struct.pack("<IB3xI4x", len(payload) if similar_bytes is None else similar_bytes, form, count)
    head = bytearray(snapshot[:52])
    head[7] = 1
    struct.pack_into("<I", head, 8, 72)
    struct.pack_into("<I", head, 48, len(snapshot) - 56 + len(payload))
    rest = fields + snapshot[56:] + payload
    return bytes(head) + struct.pack("<I", xxhash.xxh64_intdigest(bytes(head) + rest) & M32) + rest


def split_block(prints, blocks):
    words = [0] * (8 * blocks)
    for h in map(hash_of, prints):
        for i, salt in enumerate(SALT):
            words[8 * reach(h >> 32, blocks) + i] |= 1 << (((h & M32) * salt & M32) >> 27)
    return struct.pack(f"<{len(words)}I", *words)


def split_block_bloom(prints):
    return split_block(prints, len(prints) // 20 + 1)


def _bloom(prints, cells, k):
    counts = [0] * cells
    for h in map(hash_of, prints):
        for _ in range(k):
            counts[reach(h >> 32, cells)] += 1
            h = h * 0xD1342543DE82EF95 & M64
    return counts


def bloom(prints):
    counts = _bloom(prints, 8 * (len(prints) * 10 // 8 + 1), 7)
    return b"\x07" + packed([min(c, 1) for c in counts], 1)


def counting_bloom(prints):
    counts = _bloom(prints, 2 * (len(prints) * 5 + 1), 6)
    return b"\x06" + packed([min(c, 15) for c in counts], 4)


def d_left(prints, r=11, cells=6):
    buckets = len(prints) // (4 * cells) * 4 // 3 + 2
    table = [[[] for _ in range(buckets)] for _ in range(4)]
    for h in map(hash_of, prints):
        remainder, first = h & M32 & (1 << r) - 1, reach(h >> 32, buckets)
        rows = [
            table[i][(first + reach((remainder + 1) * m & M32, buckets)) % buckets]
            for i, m in enumerate((0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F))
        ]
        held = [cell for row in rows for cell in row if cell[0] == remainder]
        if held:
            held[0][1] = min(held[0][1] + 1, 3)
        else:
            min(rows, key=len).append([remainder, 1])
    assert all(len(row) <= cells for rows in table for row in rows)
    values = [
        row[j][1] | row[j][0] << 2 if j < len(row) else 0
        for rows in table
        for row in rows
        for j in range(cells)
    ]
    return struct.pack("<BBI", r, cells, buckets) + packed(values, r + 2)


def quotient(prints, r=8, load=0.9):
    quotients = int(len(prints) / load) + 1
    keys = []
    for h in map(hash_of, prints):
        y = (h >> 32) * quotients
        keys.append((y >> 32, (y & M32) >> (32 - r)))
    return quotient_of(sorted(set(keys)), r, quotients)


def quotient_of(keys, r, quotients):
    """`keys`: (quotient, remainder), sorted."""
    runs, slot = {}, 0
    remainders = {}
    for q, remainder in keys:
        slot = max(slot, q)
        remainders[slot] = remainder
        runs[q] = slot
        slot += 1
    slots = max(quotients, slot)
    body = b""
    for begin in range(0, slots, 64):
        before = max([end for q, end in runs.items() if q < begin], default=-1)
        occupied = sum(1 << (q - begin) for q in runs if begin <= q < begin + 64)
        ends = sum(1 << (end - begin) for end in runs.values() if begin <= end < begin + 64)
        body += struct.pack("<HQQ", max(0, before + 1 - begin), occupied, ends)
        body += packed([remainders.get(s, 0) for s in range(begin, min(begin + 64, slots))], r)
    return struct.pack("<BII", r, quotients, slots) + body


def _cuckoo(prints, f, numbers):
    buckets = len(prints) // 3 + 1
    places = [[] for _ in range(buckets)]
    chance = random.Random(1)
    for print32, number in zip(prints, numbers):
        h = hash_of(print32)
        entry, at = reach(h & M32, (1 << f) - 1) + 1, reach(h >> 32, buckets)
        item = (entry, number)
        for _ in range(2_000):
            other = (reach(item[0] * 0x9E3779B1 & M32, buckets) + buckets - at) % buckets
            free = [b for b in (at, other) if len(places[b]) < 4]
            if free:
                places[free[0]].append(item)
                break
            at = other
            victim = chance.randrange(4)
            item, places[at][victim] = places[at][victim], item
        else:
            raise AssertionError("full")
    return buckets, [(row[j] if j < len(row) else (0, 0)) for row in places for j in range(4)]


def cuckoo(prints, f=10):
    buckets, entries = _cuckoo(prints, f, [0] * len(prints))
    return struct.pack("<BI", f, buckets) + packed([entry for entry, _ in entries], f)


def by_day(prints):
    """Items spread over the days: [(day, ascending fingerprints)], days ascending; those without items left
    out."""
    days = {}
    for i, print32 in enumerate(prints):
        days.setdefault(DAY + i % DAYS, []).append(print32)
    return [(day, sorted(items)) for day, items in sorted(days.items())]


def indexed_cuckoo(prints, f=11, n=12, first=0, capacity=None):
    ordered = [p for _, items in by_day(prints) for p in items]
    buckets, entries = _cuckoo(ordered, f, [first + i & (1 << n) - 1 for i in range(len(ordered))])
    rows, number = b"", first
    days = by_day(prints)
    for day, items in days:
        rows += struct.pack("<iI", day, number & M32)
        number += len(items)
    newest = min(M32, 1 << n) if capacity is None else capacity
    head = struct.pack("<BBIIIH", f, n, buckets, number & M32, newest, len(days))
    return head + rows + packed([entry | number << f for entry, number in entries], f + n)


def _fuse(prints, width):
    if not prints:
        return struct.pack("<BBI", 0, 0, 0)
    length_log2 = 0 if len(prints) < 4 else min(9, len(prints).bit_length() // 2 + 1)
    length = 1 << length_log2
    segments = len(prints) * 3 // 2 // length + 8
    for seed in range(256):
        where, keys = {}, []
        for h in map(hash_of, prints):
            x = h + seed * 0x9E3779B97F4A7C15 & M64
            x = (x ^ x >> 33) * 0xFF51AFD7ED558CCD & M64
            x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53 & M64
            x ^= x >> 33
            first = reach(x >> 32, segments * length)
            keys.append(
                (
                    ((x ^ x >> 32) & (1 << width) - 1),
                    (first, first + length ^ (x >> 18 & length - 1), first + 2 * length ^ (x & length - 1)),
                )
            )
            for place in keys[-1][1]:
                where.setdefault(place, set()).add(len(keys) - 1)
        order, alone = [], [p for p, held in where.items() if len(held) == 1]
        while alone:
            place = alone.pop()
            if len(where[place]) != 1:
                continue
            (key,) = where[place]
            order.append((key, place))
            for p in keys[key][1]:
                where[p].discard(key)
                if len(where[p]) == 1:
                    alone.append(p)
        if len(order) == len(keys):
            break
    else:
        raise AssertionError("no seed serves")
    entries = [0] * ((segments + 2) * length)
    for key, place in reversed(order):
        entry, places = keys[key]
        for p in places:
            entry ^= entries[p] if p != place else 0
        entries[place] = entry
    return struct.pack("<BBI", length_log2, seed, segments) + packed(entries, width)


def binary_fuse_8(prints):
    return _fuse(prints, 8)


def binary_fuse_16(prints):
    return _fuse(prints, 16)


def day_chain(prints):
    """The last second of a day's items is 1,000 before its end."""
    rows, blocks = b"", b""
    for day, items in reversed(by_day(prints)):
        count = len(items) // 15 + 1
        rows += struct.pack("<iIIII", day, len(items), day * 86_400, (day + 1) * 86_400 - 1_000, count)
        blocks += split_block(items, count)
    return struct.pack("<I", len(by_day(prints))) + rows + blocks


def fingerprints(prints, k=None):
    values = sorted(prints)
    if k is None:
        k = max(0, min(31, (2**32 // max(1, len(values))).bit_length() - 2))
    return golomb_rice(values, k)


def golomb_rice(values, k):
    bits, lowest = [], 0
    for value in values:
        gap, lowest = value - lowest, value + 1
        bits += [0] * (gap >> k) + [1] + [gap >> j & 1 for j in range(k)]
    return struct.pack("<BI", k, len(values)) + packed(bits, 1)


KINDS = [
    split_block_bloom,
    bloom,
    counting_bloom,
    d_left,
    quotient,
    cuckoo,
    indexed_cuckoo,
    binary_fuse_8,
    binary_fuse_16,
    day_chain,
    fingerprints,
]
NUMBER = {encoder.__name__: number for number, encoder in enumerate(KINDS, 1)}


def snapshot_of(kind, items, **envelope):
    """The bytes of a snapshot of these ids by the name of a kind."""
    prints = list(dict.fromkeys(map(print_of, items)))
    payload = globals()[kind](prints)
    return seal(payload, NUMBER[kind], item_count=len(prints), **envelope)


# --- updates, from schemas/update.md alone


def with_updates(snapshot, generation=1, input_offset=0, partition=0):
    """The snapshot as a filter with updates publishes it."""
    head = bytearray(snapshot[:52])
    at = 72 if head[7] & 1 else 56
    head[7] |= 2
    struct.pack_into("<I", head, 8, struct.unpack_from("<I", head, 8)[0] + 8)
    struct.pack_into("<iq", head, 28, partition, input_offset)
    rest = snapshot[56:at] + struct.pack("<q", generation) + snapshot[at:]
    return bytes(head) + struct.pack("<I", xxhash.xxh64_intdigest(bytes(head) + rest) & M32) + rest


def user_hash(user):
    return xxhash.xxh64_intdigest(str(user).encode())


def section(entries, mask=1, kind=0, until_s=0, users=None, items=None, reserved=0):
    """`entries`: [(the hash of a user, fingerprints)]."""
    prints = [print32 for _, some in entries for print32 in some]
    fields = struct.pack(
        "<HBBIII",
        mask,
        kind,
        reserved,
        until_s,
        len(entries) if users is None else users,
        len(prints) if items is None else items,
    )
    return fields + b"".join(
        (
            struct.pack(f"<{len(entries)}Q", *(user for user, _ in entries)),
            struct.pack(f"<{len(entries)}H", *(len(some) for _, some in entries)),
            struct.pack(f"<{len(prints)}I", *prints),
        )
    )


def update(
    *sections,
    partition=0,
    generation=1,
    begin=0,
    end=10,
    as_of_ms=1_000,
    filters=("default",),
    names=None,
    filter_count=None,
    header_bytes=None,
    version=1,
    part=0,
    magic=b"SEEU",
):
    """A record with a right checksum, whatever is in it."""
    if names is None:
        names = b"".join(bytes((len(name.encode()),)) + name.encode() for name in filters)
    size = max(56, 49 + len(names)) if header_bytes is None else header_bytes
    head = struct.pack("<4sBBH", magic, version, part, size)
    count = len(filters) if filter_count is None else filter_count
    rest = struct.pack("<iqqqqB", partition, generation, begin, end, as_of_ms, count) + names
    rest += bytes(max(0, size - 12 - len(rest))) + b"".join(sections)
    return head + struct.pack("<I", xxhash.xxh64_intdigest(head + rest) & M32) + rest
