package seen

import "encoding/binary"

const (
	indexedFieldsBytes = 16
	dayRowBytes        = 8
)

// indexedCuckoo is kind 7: a cuckoo filter whose entries carry a number, by which the oldest are out.
type indexedCuckoo struct {
	entryBits, numberBits uint
	buckets               uint32
	next, capacity        uint32
	days                  []byte // rows of day and first number, ascending
	rest                  []byte
}

// Entry is what an entry of an IndexedCuckoo says of its item.
type Entry struct {
	Number uint32 // items are numbered as they are inserted, modulo 2^32
	Dated  bool   // whether Day and Rank are known
	Day    Day    // when it was seen
	Rank   uint32 // how many of the day come before it, by ascending fingerprint
}

// Entries are the entries that answer to the id; one of them at most is right, the others are of other items. They are
// told by kind IndexedCuckoo alone: of other kinds, and of an id that was not seen, there are none.
func (s *Snapshot) Entries(id string) []Entry {
	c, ok := s.filter.(*indexedCuckoo)
	if !ok {
		return nil
	}
	var entries []Entry
	c.visit(FingerprintOf(id).hash(), func(age uint32) bool {
		entries = append(entries, c.entry(age))
		return true
	})
	return entries
}

func readIndexedCuckoo(payload []byte) (filter, error) {
	if err := wantAtLeast(payload, indexedFieldsBytes); err != nil {
		return nil, err
	}
	c := &indexedCuckoo{
		entryBits:  uint(payload[0]),
		numberBits: uint(payload[1]),
		buckets:    binary.LittleEndian.Uint32(payload[2:]),
		next:       binary.LittleEndian.Uint32(payload[6:]),
		capacity:   binary.LittleEndian.Uint32(payload[10:]),
	}
	err := firstError(wantRange("f", uint64(c.entryBits), 2, 32), wantRange("n", uint64(c.numberBits), 1, 32),
		wantRange("buckets", uint64(c.buckets), 1, 1<<32-1),
		wantRange("capacity", uint64(c.capacity), 0, 1<<c.numberBits))
	if err != nil {
		return nil, err
	}
	restAt := indexedFieldsBytes + dayRowBytes*uint64(binary.LittleEndian.Uint16(payload[14:]))
	bits := bucketPlaces * uint64(c.buckets) * uint64(c.entryBits+c.numberBits)
	if err := wantLength(payload, restAt+bytesFor(bits)); err != nil {
		return nil, err
	}
	c.days, c.rest = payload[indexedFieldsBytes:restAt], payload[restAt:]
	return c, nil
}

func (c *indexedCuckoo) contains(_ Fingerprint, h uint64, _ bounds) bool {
	found := false
	c.visit(h, func(uint32) bool {
		found = true
		return false
	})
	return found
}

// visit calls `see` with the age of each entry that answers to h and isn't too old, until it returns false.
func (c *indexedCuckoo) visit(h uint64, see func(age uint32) bool) {
	entry, first, second := cuckooPlaces(h, c.entryBits, c.buckets)
	if !c.visitBucket(first, entry, see) || first == second {
		return
	}
	c.visitBucket(second, entry, see)
}

func (c *indexedCuckoo) visitBucket(bucket, entry uint32, see func(age uint32) bool) bool {
	placeBits := uint64(c.entryBits + c.numberBits)
	at := uint64(bucket) * bucketPlaces * placeBits
	for place := 0; place < bucketPlaces; place++ {
		if uint32(bitsAt(c.rest, at, c.entryBits)) == entry {
			number := uint32(bitsAt(c.rest, at+uint64(c.entryBits), c.numberBits))
			age := (c.next - 1 - number) & uint32(1<<c.numberBits-1)
			if age < c.capacity && !see(age) {
				return false
			}
		}
		at += placeBits
	}
	return true
}

// entry is the details of the item of this age: its day is the last that began no later than it was inserted.
func (c *indexedCuckoo) entry(age uint32) Entry {
	newest := c.next - 1
	e := Entry{Number: newest - age}
	for row := len(c.days) - dayRowBytes; row >= 0; row -= dayRowBytes {
		firstNumber := binary.LittleEndian.Uint32(c.days[row+4:])
		if newest-firstNumber >= age {
			e.Dated, e.Day = true, Day(binary.LittleEndian.Uint32(c.days[row:]))
			e.Rank = e.Number - firstNumber
			break
		}
	}
	return e
}
