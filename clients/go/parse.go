package seen

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/cespare/xxhash/v2"
)

const (
	magic          = "SEEN"
	headerBytesMin = 56
	headerBytesMax = 4096
	checksumAt     = 52

	flagSimilar               = 1
	flagUpdates               = 2
	headerBytesMinWithSimilar = 72
)

// Parse checks a snapshot, all of it, and makes it readable. Errors are a *ParseError, whose reason is ErrMalformed or
// ErrUnsupported. A refused snapshot must not be taken for an empty one: keep the one before it, or treat the user as
// unknown, and report it.
//
// The snapshot keeps `data`, which must not change afterwards, and copies nothing of it, but for the kind Fingerprints,
// which is decoded to 4 bytes an item and doesn't keep it.
//
// A filter with updates publishes its snapshots late, so Parse refuses them: see FilterReader.
func Parse(data []byte) (*Snapshot, error) { return parse(data, false) }

// parse is Parse; `updates`: for a reader that reads updates as well.
func parse(data []byte, updates bool) (*Snapshot, error) {
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
	if data[7]&^(flagSimilar|flagUpdates) != 0 {
		return nil, unsupported("flags", "%#02x; this reader knows the bits 0 and 1", data[7])
	}
	if data[7]&flagUpdates != 0 && !updates {
		return nil, &ParseError{"flags", "bit 1 is set: this filter publishes updates; read them as well (FilterReader, " +
			"schemas/update.md)", ErrUnsupported}
	}
	rate := math.Float64frombits(binary.LittleEndian.Uint64(data[40:]))
	if !(rate > 0 && rate <= 0.5) {
		return nil, malformed("false_positive_rate", "%g; it is above 0 and at most 0.5", rate)
	}
	payload, similar, err := splitPayload(data, headerBytes)
	if err != nil {
		return nil, err
	}
	generation, err := generationOf(data, headerBytes)
	if err != nil {
		return nil, err
	}
	filter, err := payloadReaders[kind](payload)
	if err != nil {
		return nil, err
	}
	snapshot := &Snapshot{
		kind:         kind,
		filter:       filter,
		itemCount:    binary.LittleEndian.Uint32(data[12:]),
		asOfMs:       int64(binary.LittleEndian.Uint64(data[16:])),
		horizon:      Day(binary.LittleEndian.Uint32(data[24:])),
		partition:    int32(binary.LittleEndian.Uint32(data[28:])),
		inputOffset:  int64(binary.LittleEndian.Uint64(data[32:])),
		generation:   generation,
		rate:         rate,
		payloadBytes: int(payloadBytes),
	}
	if data[7]&flagSimilar == 0 {
		return snapshot, nil
	}
	snapshot.similarKind = Kind(data[60])
	snapshot.similarCount = binary.LittleEndian.Uint32(data[64:])
	if snapshot.similar, err = payloadReaders[snapshot.similarKind](similar); err != nil {
		var parse *ParseError
		if errors.As(err, &parse) {
			parse.Field = "similar " + parse.Field
		}
		return nil, err
	}
	return snapshot, nil
}

// splitPayload is the payload of the items, and behind it that of what is similar, whose fields it checks.
func splitPayload(data []byte, headerBytes uint32) (items, similar []byte, err error) {
	payload := data[headerBytes:]
	if data[7]&flagSimilar == 0 {
		return payload, nil, nil
	}
	if headerBytes < headerBytesMinWithSimilar {
		return nil, nil, malformed("header_bytes", "%d; with bit 0 of flags it is %d or more", headerBytes,
			headerBytesMinWithSimilar)
	}
	similarBytes := binary.LittleEndian.Uint32(data[56:])
	if uint64(similarBytes) > uint64(len(payload)) {
		return nil, nil, malformed("similar_bytes", "%d; the payload has %d", similarBytes, len(payload))
	}
	kind := Kind(data[60])
	if kind == 0 || int(kind) >= len(payloadReaders) || kind == IndexedCuckoo || kind == DayChain {
		return nil, nil, unsupported("similar_format", "%d; this reader knows 1 to 6, 8, 9 and 11", data[60])
	}
	end := len(payload) - int(similarBytes)
	return payload[:end:end], payload[end:], nil
}

// generationOf is the generation of the snapshot's offset, behind the fields of what is similar. 0: it has none.
func generationOf(data []byte, headerBytes uint32) (int64, error) {
	if data[7]&flagUpdates == 0 {
		return 0, nil
	}
	at := uint32(headerBytesMin)
	if data[7]&flagSimilar != 0 {
		at = headerBytesMinWithSimilar
	}
	if headerBytes < at+8 {
		return 0, malformed("header_bytes", "%d; with bit 1 of flags it is %d or more", headerBytes, at+8)
	}
	generation := int64(binary.LittleEndian.Uint64(data[at:]))
	if generation < 1 {
		return 0, malformed("generation", "%d; it is 1 or more", generation)
	}
	return generation, nil
}

// checksumOf is the lower half of XXH64 over all bytes but the checksum's own four.
func checksumOf(data []byte) uint32 {
	var digest xxhash.Digest
	digest.Reset()
	_, _ = digest.Write(data[:checksumAt])
	_, _ = digest.Write(data[headerBytesMin:])
	return uint32(digest.Sum64())
}
