package seen

import "encoding/binary"

const (
	fuseFieldsBytes   = 6
	fuseLengthLog2Max = 18
)

// binaryFuse is kinds 8 and 9. Source: Graf and Lemire 2022, section 3 and algorithm 1.
type binaryFuse struct {
	length   uint32 // of a segment, a power of two
	segments uint32 // 0: nothing is in
	seed     uint64
	rest     []byte
}

type binaryFuse8 binaryFuse
type binaryFuse16 binaryFuse

func readBinaryFuse8(payload []byte) (filter, error) {
	b, err := readBinaryFuse(payload, 1)
	return (*binaryFuse8)(b), err
}

func readBinaryFuse16(payload []byte) (filter, error) {
	b, err := readBinaryFuse(payload, 2)
	return (*binaryFuse16)(b), err
}

func readBinaryFuse(payload []byte, entryBytes uint64) (*binaryFuse, error) {
	if err := wantAtLeast(payload, fuseFieldsBytes); err != nil {
		return nil, err
	}
	if err := wantRange("length_log2", uint64(payload[0]), 0, fuseLengthLog2Max); err != nil {
		return nil, err
	}
	length, segments := uint64(1)<<payload[0], uint64(binary.LittleEndian.Uint32(payload[2:]))
	if segments*length >= 1<<32 {
		return nil, malformed("payload.segments", "%d of %d entries; all have fewer than 2^32", segments, length)
	}
	entries := uint64(0)
	if segments > 0 {
		entries = (segments + 2) * length
	}
	b := &binaryFuse{uint32(length), uint32(segments), uint64(payload[1]) * 0x9e3779b97f4a7c15, payload[fuseFieldsBytes:]}
	return b, wantLength(payload, fuseFieldsBytes+entries*entryBytes)
}

func (b *binaryFuse8) contains(_ Fingerprint, h uint64, _ bounds) bool {
	if b.segments == 0 {
		return false
	}
	entry, first, second, third := (*binaryFuse)(b).places(h)
	return uint8(entry) == b.rest[first]^b.rest[second]^b.rest[third]
}

func (b *binaryFuse16) contains(_ Fingerprint, h uint64, _ bounds) bool {
	if b.segments == 0 {
		return false
	}
	entry, first, second, third := (*binaryFuse)(b).places(h)
	at := func(place uint64) uint16 { return binary.LittleEndian.Uint16(b.rest[2*place:]) }
	return uint16(entry) == at(first)^at(second)^at(third)
}

// places is an item's entry, untrimmed, and the three places whose xor it must be, in three neighbouring segments.
func (b *binaryFuse) places(h uint64) (entry, first, second, third uint64) {
	x := h + b.seed
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	x ^= x >> 33
	length := uint64(b.length)
	first = uint64(scale(high32(x), b.segments*b.length))
	second = (first + length) ^ (x >> 18 & (length - 1))
	third = (first + 2*length) ^ (x & (length - 1))
	return x ^ x>>32, first, second, third
}
