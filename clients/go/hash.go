package seen

import (
	"math/bits"
	"strconv"

	"github.com/cespare/xxhash/v2"
)

// Fingerprint stands for an item id in every filter: the upper 32 bits of the id's XXH64.
type Fingerprint uint32

// FingerprintOf is the fingerprint of a string id: its UTF-8 bytes as they are, neither normalised nor folded.
func FingerprintOf(id string) Fingerprint { return Fingerprint(xxhash.Sum64String(id) >> 32) }

// FingerprintOfInt is the fingerprint of an integer id, which is that of its decimal string: 42 and "42" are one id.
func FingerprintOfInt(id int64) Fingerprint {
	var digits [20]byte
	return Fingerprint(xxhash.Sum64(strconv.AppendInt(digits[:0], id, 10)) >> 32)
}

// FingerprintOfUint is FingerprintOfInt for the upper half of 64 bits as well.
func FingerprintOfUint(id uint64) Fingerprint {
	var digits [20]byte
	return Fingerprint(xxhash.Sum64(strconv.AppendUint(digits[:0], id, 10)) >> 32)
}

const (
	nearDomain  = 1
	groupDomain = 2
)

// in is the fingerprint under which the filter of what is similar knows an item (nearDomain) or a group (groupDomain):
// the upper half of XXH64, seed 0, of the fingerprint's four bytes and then the domain's one.
func (f Fingerprint) in(domain byte) Fingerprint {
	v := uint32(f)
	bytes := [5]byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24), domain}
	return Fingerprint(xxhash.Sum64(bytes[:]) >> 32)
}

// hash is XXH64, seed 0, of the fingerprint's four bytes, little-endian. Every kind but Fingerprints goes by it.
func (f Fingerprint) hash() uint64 {
	const (
		prime1 = 0x9E3779B185EBCA87
		prime2 = 0xC2B2AE3D27D4EB4F
		prime3 = 0x165667B19E3779F9
		prime5 = 0x27D4EB2F165667C5
	)
	acc := bits.RotateLeft64((prime5+4)^uint64(f)*prime1, 23)*prime2 + prime3
	acc = (acc ^ acc>>33) * prime2
	acc = (acc ^ acc>>29) * prime3
	return acc ^ acc>>32
}
