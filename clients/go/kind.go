package seen

import "fmt"

// Kind is which kind of filter a snapshot holds. It says nothing a look-up needs; it is for metrics and people.
type Kind uint8

// The kinds, by their `format` in the envelope. 0 is no kind: what Empty has.
const (
	SplitBlockBloom Kind = 1 + iota
	Bloom
	CountingBloom
	DLeft
	Quotient
	Cuckoo
	IndexedCuckoo
	BinaryFuse8
	BinaryFuse16
	DayChain
	Fingerprints
)

var kindNames = [...]string{"empty", "split_block_bloom", "bloom", "counting_bloom", "d_left", "quotient", "cuckoo",
	"indexed_cuckoo", "binary_fuse_8", "binary_fuse_16", "day_chain", "fingerprints"}

// String is the name in seend's configuration (`filters[].snapshot.format`).
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// A filter is a checked payload. Implementations keep the caller's bytes and never change.
type filter interface {
	// contains: may the item have been seen? `h` is f.hash(), `when` what days may be left out.
	contains(f Fingerprint, h uint64, when bounds) bool
}

// bounds is what days of a day chain a look-up may leave out. The zero value leaves out nothing.
type bounds struct {
	since   Day   // days before it
	bounded bool  // whether `since` counts
	created int64 // days whose last second lies before this one, since 1970; 0 or less: none
}

var payloadReaders = [...]func(payload []byte) (filter, error){
	SplitBlockBloom: readSplitBlockBloom,
	Bloom:           readBloom,
	CountingBloom:   readCountingBloom,
	DLeft:           readDLeft,
	Quotient:        readQuotient,
	Cuckoo:          readCuckoo,
	IndexedCuckoo:   readIndexedCuckoo,
	BinaryFuse8:     readBinaryFuse8,
	BinaryFuse16:    readBinaryFuse16,
	DayChain:        readDayChain,
	Fingerprints:    readFingerprints,
}
