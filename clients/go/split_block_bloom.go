package seen

import "encoding/binary"

const blockBytes = 32

var salts = [8]uint32{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31}

// splitBlockBloom is kind 1, Parquet's. Source: Parquet format, BloomFilter.md; Putze, Sanders, Singler 2007.
type splitBlockBloom []byte

func readSplitBlockBloom(payload []byte) (filter, error) {
	if len(payload) == 0 || len(payload)%blockBytes != 0 {
		return nil, malformed("payload", "%d bytes; a split-block Bloom filter has blocks of %d, at least one", len(payload),
			blockBytes)
	}
	return splitBlockBloom(payload), nil
}

func (s splitBlockBloom) contains(_ Fingerprint, h uint64, _ bounds) bool { return blocksContain(s, h) }

// blocksContain looks into one block: all eight of its words must have their bit.
func blocksContain(blocks []byte, h uint64) bool {
	at := scale(high32(h), uint32(len(blocks)/blockBytes))
	block := blocks[uint64(at)*blockBytes:][:blockBytes]
	key := low32(h)
	clear := uint32(0)
	for i := range salts {
		clear |= ^binary.LittleEndian.Uint32(block[4*i:]) >> (key * salts[i] >> 27) & 1
	}
	return clear == 0
}
