package seen

import "encoding/binary"

const dLeftTables = 4

var dLeftMultipliers = [dLeftTables]uint32{0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f}

// dLeft is kind 4. Source: Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese 2006, section 3.
type dLeft struct {
	remainderBits uint
	cells         uint32 // in a bucket
	buckets       uint32 // in each table
	rest          []byte
}

func readDLeft(payload []byte) (filter, error) {
	if err := wantAtLeast(payload, 6); err != nil {
		return nil, err
	}
	r, cells, buckets := payload[0], payload[1], binary.LittleEndian.Uint32(payload[2:])
	err := firstError(wantRange("r", uint64(r), 1, 32), wantRange("cells", uint64(cells), 1, 16),
		wantRange("buckets", uint64(buckets), 1, 1<<32-1))
	if err != nil {
		return nil, err
	}
	bits := dLeftTables * uint64(buckets) * uint64(cells) * uint64(r+2)
	return &dLeft{uint(r), uint32(cells), buckets, payload[6:]}, wantLength(payload, 6+bytesFor(bits))
}

func (d *dLeft) contains(_ Fingerprint, h uint64, _ bounds) bool {
	remainder := uint64(low32(h)) & (1<<d.remainderBits - 1)
	first := uint64(scale(high32(h), d.buckets))
	cellBits := d.remainderBits + 2
	for table, multiplier := range dLeftMultipliers {
		shift := uint64(scale((uint32(remainder)+1)*multiplier, d.buckets))
		bucket := uint64(table)*uint64(d.buckets) + (first+shift)%uint64(d.buckets)
		at := bucket * uint64(d.cells) * uint64(cellBits)
		for end := at + uint64(d.cells)*uint64(cellBits); at < end; at += uint64(cellBits) {
			cell := bitsAt(d.rest, at, cellBits) // the count below the remainder
			if cell&3 != 0 && cell>>2 == remainder {
				return true
			}
		}
	}
	return false
}
