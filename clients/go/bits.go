package seen

import "encoding/binary"

// scale maps x evenly to 0 .. n-1; `range` of the specification.
func scale(x, n uint32) uint32 { return uint32(uint64(x) * uint64(n) >> 32) }

// bitsAt is the integer of `width` bits, at most 56, from bit `at` of p on. Bits are filled from each byte's least
// significant one. Beyond the end of p they are 0.
func bitsAt(p []byte, at uint64, width uint) uint64 {
	p = p[at/8:]
	var word uint64
	if len(p) >= 8 {
		word = binary.LittleEndian.Uint64(p)
	} else {
		for i, b := range p {
			word |= uint64(b) << (8 * i)
		}
	}
	return word >> (at % 8) & (1<<width - 1)
}

// bytesFor is how many bytes so many bits take.
func bytesFor(bits uint64) uint64 { return (bits + 7) / 8 }

func low32(h uint64) uint32  { return uint32(h) }
func high32(h uint64) uint32 { return uint32(h >> 32) }

// wantLength refuses a payload that isn't exactly as long as its fields say.
func wantLength(payload []byte, want uint64) error {
	if uint64(len(payload)) != want {
		return malformed("payload", "%d bytes; its fields say %d", len(payload), want)
	}
	return nil
}

// wantAtLeast refuses a payload too short for its fields.
func wantAtLeast(payload []byte, least int) error {
	if len(payload) < least {
		return malformed("payload", "%d bytes; its fields alone take %d", len(payload), least)
	}
	return nil
}

// wantRange refuses a field out of its range.
func wantRange(field string, value, least, most uint64) error {
	if value < least || value > most {
		return malformed("payload."+field, "%d; it is from %d to %d", value, least, most)
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
