package seen

// HasSimilar says whether the snapshot knows what is like the items that were seen (seend's `filters[].similar`). Where
// it doesn't, as an Empty one, nothing is near and no group is held.
func (s *Snapshot) HasSimilar() bool { return s.similar != nil }

// SimilarKind is the kind of the filter of what is similar; 0, "empty", where there is none.
func (s *Snapshot) SimilarKind() Kind { return s.similarKind }

// SimilarCount is how many different fingerprints of near items and of groups are in it.
func (s *Snapshot) SimilarCount() int64 { return int64(s.similarCount) }

// MightBeNear says whether an item like this one may have been seen. An item that was seen itself need not be near
// another: ask MightContain for that.
func (s *Snapshot) MightBeNear(id string) bool { return s.MightBeNearFingerprint(FingerprintOf(id)) }

// MightBeNearInt is MightBeNear for an integer id.
func (s *Snapshot) MightBeNearInt(id int64) bool {
	return s.MightBeNearFingerprint(FingerprintOfInt(id))
}

// MightBeNearFingerprint is MightBeNear for the item's own fingerprint, as in MightContainFingerprint.
func (s *Snapshot) MightBeNearFingerprint(f Fingerprint) bool {
	return s.holdsSimilar(f.in(nearDomain))
}

// MightBeNearEach is MightBeNear of each.
func (s *Snapshot) MightBeNearEach(ids []string) []bool {
	answers := make([]bool, len(ids))
	for i, id := range ids {
		answers[i] = s.MightBeNear(id)
	}
	return answers
}

// MightHoldGroup says whether an item of this group may have been seen, by the group's id in the topic of groups.
func (s *Snapshot) MightHoldGroup(id string) bool {
	return s.MightHoldGroupFingerprint(FingerprintOf(id))
}

// MightHoldGroupInt is MightHoldGroup for an integer id.
func (s *Snapshot) MightHoldGroupInt(id int64) bool {
	return s.MightHoldGroupFingerprint(FingerprintOfInt(id))
}

// MightHoldGroupFingerprint is MightHoldGroup for the fingerprint of the group's id.
func (s *Snapshot) MightHoldGroupFingerprint(f Fingerprint) bool {
	return s.holdsSimilar(f.in(groupDomain))
}

// MightHoldGroupEach is MightHoldGroup of each.
func (s *Snapshot) MightHoldGroupEach(ids []string) []bool {
	answers := make([]bool, len(ids))
	for i, id := range ids {
		answers[i] = s.MightHoldGroup(id)
	}
	return answers
}

func (s *Snapshot) holdsSimilar(f Fingerprint) bool {
	return s.similar != nil && s.similar.contains(f, f.hash(), bounds{})
}
