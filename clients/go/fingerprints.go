package seen

import (
	"encoding/binary"
	"math/bits"
	"sort"
)

const fingerprintsFieldsBytes = 5

// fingerprints is kind 11, decoded: sorted and unique. Source: Rice and Plaunt 1971.
type fingerprints []Fingerprint

func readFingerprints(payload []byte) (filter, error) {
	if err := wantAtLeast(payload, fingerprintsFieldsBytes); err != nil {
		return nil, err
	}
	k, count := uint(payload[0]), uint64(binary.LittleEndian.Uint32(payload[1:]))
	rest := payload[fingerprintsFieldsBytes:]
	if err := wantRange("k", uint64(k), 0, 31); err != nil {
		return nil, err
	}
	if most := 8 * uint64(len(rest)) / uint64(k+1); count > most {
		return nil, malformed("payload.count", "%d; %d bytes hold at most %d", count, len(rest), most)
	}
	prints, smallest, at := make(fingerprints, 0, count), uint64(0), uint64(0)
	end := 8 * uint64(len(rest))
	for uint64(len(prints)) < count {
		zeros := zerosFrom(rest, at)
		at += zeros + 1
		if zeros >= 1<<32 {
			return nil, malformed("payload", "fingerprint %d of %d has more than 32 bits", len(prints), count)
		}
		if at+uint64(k) > end {
			return nil, malformed("payload", "the code of fingerprint %d of %d ends early", len(prints), count)
		}
		value := smallest + zeros<<k + bitsAt(rest, at, k)
		if value >= 1<<32 {
			return nil, malformed("payload", "fingerprint %d of %d has more than 32 bits", len(prints), count)
		}
		prints, smallest, at = append(prints, Fingerprint(value)), value+1, at+uint64(k)
	}
	if bytesFor(at) != uint64(len(rest)) {
		return nil, malformed("payload", "%d bytes after the fields; the codes of %d fingerprints take %d", len(rest), count,
			bytesFor(at))
	}
	if at%8 != 0 && rest[at/8]>>(at%8) != 0 {
		return nil, malformed("payload", "the padding of its last byte isn't 0")
	}
	return prints, nil
}

// zerosFrom is how many zeros stand from bit `at` on, before a one or the end.
func zerosFrom(p []byte, at uint64) uint64 {
	start := at
	for end := 8 * uint64(len(p)); at < end; {
		const width = 56
		if word := bitsAt(p, at, width); word != 0 {
			return at + uint64(bits.TrailingZeros64(word)) - start
		}
		at += width
	}
	return 8*uint64(len(p)) - start
}

func (p fingerprints) contains(f Fingerprint, _ uint64, _ bounds) bool {
	at := sort.Search(len(p), func(i int) bool { return p[i] >= f })
	return at < len(p) && p[at] == f
}
