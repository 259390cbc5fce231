package seen

const (
	bloomMultiplier = 0xd1342543de82ef95
	bloomBytesMax   = 1 << 29
)

// bloom is kind 2. Source: Bloom 1970; the multiplier: Steele and Vigna 2022.
type bloom struct {
	k    uint8
	rest []byte
}

// countingBloom is kind 3: counters of four bits. Source: Fan, Cao, Almeida, Broder 2000.
type countingBloom bloom

func readBloom(payload []byte) (filter, error) {
	b, err := readAnyBloom(payload)
	if err != nil {
		return nil, err
	}
	return &b, nil
}

func readCountingBloom(payload []byte) (filter, error) {
	b, err := readAnyBloom(payload)
	if err != nil {
		return nil, err
	}
	return (*countingBloom)(&b), nil
}

func readAnyBloom(payload []byte) (bloom, error) {
	if len(payload) < 2 || len(payload) > bloomBytesMax {
		return bloom{}, malformed("payload", "%d bytes; a Bloom filter has 2 to %d", len(payload), bloomBytesMax)
	}
	return bloom{payload[0], payload[1:]}, wantRange("k", uint64(payload[0]), 1, 32)
}

func (b *bloom) contains(_ Fingerprint, h uint64, _ bounds) bool {
	bits := uint32(8 * len(b.rest))
	for i := uint8(0); i < b.k; i++ {
		bit := scale(high32(h), bits)
		if b.rest[bit/8]>>(bit%8)&1 == 0 {
			return false
		}
		h *= bloomMultiplier
	}
	return true
}

func (b *countingBloom) contains(_ Fingerprint, h uint64, _ bounds) bool {
	counters := uint32(2 * len(b.rest))
	for i := uint8(0); i < b.k; i++ {
		counter := scale(high32(h), counters)
		if b.rest[counter/2]>>(4*(counter%2))&15 == 0 {
			return false
		}
		h *= bloomMultiplier
	}
	return true
}
