package seen

import "encoding/binary"

const (
	bucketPlaces     = 4
	cuckooMultiplier = 0x9e3779b1
)

// cuckoo is kind 6. Source: Fan, Andersen, Kaminsky, Mitzenmacher 2014, algorithms 1 to 3.
type cuckoo struct {
	entryBits uint
	buckets   uint32
	rest      []byte
}

func readCuckoo(payload []byte) (filter, error) {
	if err := wantAtLeast(payload, 5); err != nil {
		return nil, err
	}
	f, buckets := payload[0], binary.LittleEndian.Uint32(payload[1:])
	err := firstError(wantRange("f", uint64(f), 2, 32), wantRange("buckets", uint64(buckets), 1, 1<<32-1))
	if err != nil {
		return nil, err
	}
	return &cuckoo{uint(f), buckets, payload[5:]}, wantLength(payload, 5+bytesFor(bucketPlaces*uint64(buckets)*uint64(f)))
}

func (c *cuckoo) contains(_ Fingerprint, h uint64, _ bounds) bool {
	entry, first, second := cuckooPlaces(h, c.entryBits, c.buckets)
	return c.holds(first, entry) || c.holds(second, entry)
}

func (c *cuckoo) holds(bucket, entry uint32) bool {
	at := uint64(bucket) * bucketPlaces * uint64(c.entryBits)
	for place := 0; place < bucketPlaces; place++ {
		if uint32(bitsAt(c.rest, at, c.entryBits)) == entry {
			return true
		}
		at += uint64(c.entryBits)
	}
	return false
}

// cuckooPlaces is an item's entry, which is never 0, and the two buckets it may stand in.
func cuckooPlaces(h uint64, entryBits uint, buckets uint32) (entry, first, second uint32) {
	entry = scale(low32(h), uint32(1<<entryBits-1)) + 1
	first = scale(high32(h), buckets)
	other := uint64(scale(entry*cuckooMultiplier, buckets)) + uint64(buckets) - uint64(first)
	return entry, first, uint32(other % uint64(buckets))
}
