package seen

import (
	"encoding/binary"
	"math"

	"github.com/cespare/xxhash/v2"
)

const (
	magic          = "SEEN"
	headerBytesMin = 56
	headerBytesMax = 4096
	checksumAt     = 52
)

// Parse checks a snapshot, all of it, and makes it readable. Errors are a *ParseError, whose reason is ErrMalformed or
// ErrUnsupported. A refused snapshot must not be taken for an empty one: keep the one before it, or treat the user as
// unknown, and report it.
//
// The snapshot keeps `data`, which must not change afterwards, and copies nothing of it, but for the kind Fingerprints,
// which is decoded to 4 bytes an item and doesn't keep it.
func Parse(data []byte) (*Snapshot, error) {
	if len(data) < len(magic) || string(data[:len(magic)]) != magic {
		return nil, malformed("magic", "the first of %d bytes are not SEEN: this is no snapshot", len(data))
	}
	if len(data) < headerBytesMin {
		return nil, malformed("length", "cut off: %d bytes; the header alone has %d", len(data), headerBytesMin)
	}
	if version := data[4]; version != 1 {
		return nil, unsupported("version", "%d; this reader knows 1", version)
	}
	headerBytes := binary.LittleEndian.Uint32(data[8:])
	if headerBytes < headerBytesMin || headerBytes > headerBytesMax || headerBytes%8 != 0 {
		return nil, malformed("header_bytes", "%d; it is a multiple of 8 from %d to %d", headerBytes, headerBytesMin,
			headerBytesMax)
	}
	payloadBytes := binary.LittleEndian.Uint32(data[48:])
	if want := uint64(headerBytes) + uint64(payloadBytes); uint64(len(data)) != want {
		return nil, malformed("length", "%d bytes; header_bytes and payload_bytes say %d", len(data), want)
	}
	if checksum := binary.LittleEndian.Uint32(data[checksumAt:]); checksum != checksumOf(data) {
		return nil, malformed("checksum", "%#08x; that of the bytes is %#08x: they are damaged", checksum, checksumOf(data))
	}
	kind := Kind(data[5])
	if kind == 0 || int(kind) >= len(payloadReaders) {
		return nil, unsupported("format", "%d; this reader knows 1 to %d", data[5], len(payloadReaders)-1)
	}
	if data[6] != 1 {
		return nil, unsupported("hash", "%d; this reader knows 1", data[6])
	}
	if data[7] != 0 {
		return nil, unsupported("flags", "%#02x; this reader knows none", data[7])
	}
	rate := math.Float64frombits(binary.LittleEndian.Uint64(data[40:]))
	if !(rate > 0 && rate <= 0.5) {
		return nil, malformed("false_positive_rate", "%g; it is above 0 and at most 0.5", rate)
	}
	filter, err := payloadReaders[kind](data[headerBytes:])
	if err != nil {
		return nil, err
	}
	return &Snapshot{
		kind:         kind,
		filter:       filter,
		itemCount:    binary.LittleEndian.Uint32(data[12:]),
		asOfMs:       int64(binary.LittleEndian.Uint64(data[16:])),
		horizon:      Day(binary.LittleEndian.Uint32(data[24:])),
		partition:    int32(binary.LittleEndian.Uint32(data[28:])),
		inputOffset:  int64(binary.LittleEndian.Uint64(data[32:])),
		rate:         rate,
		payloadBytes: int(payloadBytes),
	}, nil
}

// checksumOf is the lower half of XXH64 over all bytes but the checksum's own four.
func checksumOf(data []byte) uint32 {
	var digest xxhash.Digest
	digest.Reset()
	_, _ = digest.Write(data[:checksumAt])
	_, _ = digest.Write(data[headerBytesMin:])
	return uint32(digest.Sum64())
}
