package seen

import "math/bits"

// idSet tells which ids of a growing list have been named: an open-addressing table of their positions, by
// fingerprints that are at hand anyway.
type idSet struct {
	places []int32 // position in the list plus 1; 0 is free. A power of two, at least twice the ids
}

func newIDSet(idsMax int) idSet {
	return idSet{make([]int32, 1<<bits.Len(uint(2*idsMax)))}
}

// find is the position of the id in `ids`. One that isn't there yet gets the next: the caller appends it.
func (s idSet) find(f Fingerprint, id string, ids []string) (int, bool) {
	mask := uint32(len(s.places) - 1)
	for at := uint32(f) & mask; ; at = (at + 1) & mask {
		switch place := s.places[at]; {
		case place == 0:
			s.places[at] = int32(len(ids) + 1)
			return len(ids), false
		case ids[place-1] == id:
			return int(place - 1), true
		}
	}
}

// add is whether the id is new.
func (s idSet) add(f Fingerprint, id string, ids []string) bool {
	_, found := s.find(f, id, ids)
	return !found
}
